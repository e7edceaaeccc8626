"""The log: one JSON object per line on standard error, never with credentials or bodies."""

import logging
import sys
from typing import Any

import orjson
import structlog


def configure() -> None:
    """Set up the log of one process."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=_written),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def _written(line: Any, **_: Any) -> str:
    return orjson.dumps(line, default=str).decode()
