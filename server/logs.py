"""The log: one JSON object per line on standard error, never with credentials or bodies."""

import logging
import sys

import orjson
import structlog


def configure(*, quiet: bool = False) -> None:
    """Set up the log of one process; a quiet one keeps to warnings."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=orjson.dumps, default=str),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.WARNING if quiet else logging.INFO
        ),
        # A line is one write, end and all: other workers write to the same place.
        logger_factory=structlog.BytesLoggerFactory(sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )


def adopt() -> None:
    """Let what libraries log by Python's own means join our log, from warnings upwards."""
    logging.basicConfig(handlers=[_Joining()], level=logging.WARNING, force=True)


class _Joining(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger("adopted").log(
            record.levelno, record.getMessage(), logger=record.name, exc_info=record.exc_info
        )
