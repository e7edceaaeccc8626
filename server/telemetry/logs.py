"""The log on standard error: text lines on a terminal, else one JSON object per line.

It never contains credentials or bodies. Every line logged during a request has the request's id.
"""

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import orjson
import structlog
from structlog.typing import EventDict, Processor

from server.config.environment import LogFormat, LogLevel

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that this task serves."""

# In an address, by mistake: a token, an API key, or other long text that is no UUID.
_UUID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_SECRET: Final = re.compile(
    rf"(?:eyJ|apk_)[\w.~%-]*|(?<![\w.~%-])(?!{_UUID}(?![\w.~%-]))[\w.~%-]{{32,}}"
)
HIDDEN: Final = "[hidden]"

_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


def configure(log_format: LogFormat | None = None, level: LogLevel = "info") -> None:
    """Set up the log of one process; without a format the terminal decides."""
    for_people = sys.stderr.isatty() if log_format is None else log_format == "text"
    writing = _for_people() if for_people else _for_programs()
    structlog.configure(
        processors=[
            _drop_while_quiet,
            structlog.processors.add_log_level,
            _name_request,
            _hide_secrets,
            *writing,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # A line is one write, with its end, since other workers write to the same stream.
        logger_factory=structlog.BytesLoggerFactory(sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )


def adopt() -> None:
    """Forward records of Python's `logging`, from libraries, to our log, from warnings upwards."""
    logging.basicConfig(handlers=[_StructlogHandler()], level=logging.WARNING, force=True)


@contextmanager
def quietly() -> Iterator[None]:
    """Log only warnings and errors in this block, and in the tasks that start in it."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def _for_programs() -> list[Processor]:
    return [
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(serializer=orjson.dumps, default=str),
    ]


def _for_people() -> list[Processor]:
    renderer = structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(),
        sort_keys=False,
        exception_formatter=structlog.dev.plain_traceback,
        pad_event_to=0,
    )
    return [
        structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
        _plain,
        renderer,
        lambda _logger, _method, line: str(line).encode("utf-8", "replace"),
    ]


def _plain(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Format an id as text instead of as a Python object."""
    known = (str, int, float)
    return {
        name: fact if isinstance(fact, known) or name == "exc_info" else str(fact)
        for name, fact in event.items()
    }


def _drop_while_quiet(_logger: Any, method: str, event: EventDict) -> EventDict:
    if _quiet.get() and method in ("debug", "info"):
        raise structlog.DropEvent
    return event


def _name_request(_logger: Any, _method: str, event: EventDict) -> EventDict:
    served = request_id.get()
    if served is not None:
        event.setdefault("request_id", served)
    return event


def _hide_secrets(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Hide parts of an address that look like a token or an API key."""
    if "path" in event:
        event["path"] = _SECRET.sub(HIDDEN, str(event["path"]))
    return event


class _StructlogHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger("adopted").log(
            record.levelno, record.getMessage(), logger=record.name, exc_info=record.exc_info
        )
