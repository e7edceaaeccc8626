"""One worker process: its application, and its ties to its parent and to the database."""

import gc
import signal
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog
from starlette.types import ASGIApp

from embedded import users
from server import logs
from server.settings import Settings

# Python's own 700 new objects come together several times in a posting, where hardly any is left
# behind in a cycle: to look for these so often took 5 % of the worker's time.
COLLECT_AFTER: Final = (10_000, 20, 20)

if TYPE_CHECKING:
    from server.watching.requests import Counts, Traces


def build(
    read: Callable[[], Settings],
    database_url: str,
    postgres_home: Path | None,
    waiting: Connection,
    leaving: Connection,
) -> ASGIApp:
    """Build the application of a worker that a master process has started.

    It reads the settings by itself, so that no secret is sent to it and one that is started later
    has those of its time. It leaves when the master is gone, however that went. Its memory is
    collected only once it is built: until then nearly all of it is there to stay.
    """
    users.leave_with_parent()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # uvicorn heeds it by now.
    settings = read()
    logs.configure(settings.log_format, settings.log_level)
    logs.adopt()
    gc.disable()
    # The master refers to this module and needs no application.
    from server.app import Parent, create_app
    from server.connections import ConnectionsPerAddress
    from server.draining import Draining
    from server.process import preloaded
    from server.protocol import GuardedProtocol
    from server.watching.requests import Watch

    GuardedProtocol.addresses = ConnectionsPerAddress(
        settings.connections_per_address, settings.forwarded_allow
    )
    GuardedProtocol.draining = draining = Draining(leaving)
    parent = Parent(
        before_opening=partial(wait_for_database, postgres_home, waiting),
        pages_written=preloaded.pages.read,
        stack=preloaded.stack,
        draining=draining,
    )
    GuardedProtocol.counts = counts = counts_of(settings)
    watch = Watch(counts, traces_of(settings), tells_statements=settings.log_level == "debug")
    return create_app(settings, database_url, parent=parent, watch=watch)


def traces_of(settings: Settings) -> "Traces | None":
    """Return what makes traces, where somebody collects them and the library is there."""
    if not settings.traced:
        return None
    try:
        from server.watching.traces import SentTraces
    except ImportError as error:
        structlog.get_logger("accounting.server").warning(
            "traces_not_installed", reason=str(error), wanted="accounting-platform[traces]"
        )
        return None
    return SentTraces()


def counts_of(settings: Settings) -> "Counts":
    """Return the counters of a worker; their library is loaded only if metrics are served."""
    from server.watching.requests import NoCounts

    if settings.metrics_at is None:
        return NoCounts()
    from server.watching.metrics import Counted

    return Counted()


def wait_for_database(postgres_home: Path | None, waiting: Connection) -> None:
    """Return when the master says that the database is there.

    The worker is then counted as a user of the PostgreSQL that came along, so that this never goes
    away under a living worker.
    """
    gc.collect()
    gc.freeze()  # A full collection would else look through the whole contract, again and again.
    gc.set_threshold(*COLLECT_AFTER)
    gc.enable()
    waiting.poll(None)  # The master says it by closing its end.
    if postgres_home is not None:
        users.hold(postgres_home)
