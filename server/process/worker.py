"""A worker process: its application, and its ties to the master and the database."""

import gc
import signal
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog
from starlette.types import ASGIApp

from libraries.embedded import users
from server.config.settings import Settings
from server.telemetry import logs

# A posting makes 700 new objects, Python's default, several times and leaves hardly any in a
# cycle: collections that often took 5 % of the worker's time.
COLLECT_AFTER: Final = (10_000, 20, 20)

if TYPE_CHECKING:
    from server.telemetry.request_watch import Counts, Traces


def build(
    read: Callable[[], Settings],
    database_url: str,
    postgres_home: Path | None,
    waiting: Connection,
    leaving: Connection,
) -> ASGIApp:
    """Build the application of a worker that a master process has started.

    The worker reads the settings itself: no secret is sent to it, and a worker that starts later
    has the settings of that time. It ends when the master is gone. Garbage collection is off until
    the application is built, because nearly all objects made until then are permanent.
    """
    users.leave_with_parent()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # uvicorn handles it from here.
    settings = read()
    logs.configure(settings.log_format, settings.log_level)
    logs.adopt()
    gc.disable()
    # Imported here, because the master imports this module and needs no application.
    from server.app import Parent, create_app
    from server.contract.document import unpack
    from server.docs.page_file import PageFile
    from server.http.drain import DrainState
    from server.process import preloaded
    from server.process.connections import ConnectionsPerAddress
    from server.process.protocol import GuardedProtocol
    from server.telemetry.request_watch import Watch

    GuardedProtocol.addresses = ConnectionsPerAddress(
        settings.connections_per_address, settings.forwarded_allow
    )
    GuardedProtocol.draining = draining = DrainState(leaving)
    parent = Parent(
        before_opening=partial(wait_for_database, postgres_home, waiting),
        pages_written=PageFile(settings.pages_folder).read,
        contract=partial(unpack, preloaded.contract),
        stack=preloaded.stack,
        draining=draining,
    )
    GuardedProtocol.counts = counts = counts_of(settings)
    watch = Watch(counts, traces_of(settings), tells_statements=settings.log_level == "debug")
    return create_app(settings, database_url, parent=parent, watch=watch)


def traces_of(settings: Settings) -> "Traces | None":
    """Return the traces, or None where no collector is set or the library is not installed."""
    if not settings.traced:
        return None
    try:
        from server.telemetry.traces import SentTraces
    except ImportError as error:
        structlog.get_logger("accounting.server").warning(
            "traces_not_installed", reason=str(error), wanted="accounting-platform[traces]"
        )
        return None
    return SentTraces()


def counts_of(settings: Settings) -> "Counts":
    """Return the counters of a worker; their library is loaded only if metrics are served."""
    from server.telemetry.request_watch import NoCounts

    if settings.metrics_at is None:
        return NoCounts()
    from server.telemetry.metrics import PrometheusCounts

    return PrometheusCounts()


def wait_for_database(postgres_home: Path | None, waiting: Connection) -> None:
    """Return when the master has prepared the database.

    The worker then registers as a user of the embedded PostgreSQL, which is not stopped while it
    has one.
    """
    gc.collect()
    gc.freeze()  # Otherwise each full collection would visit the whole contract.
    gc.set_threshold(*COLLECT_AFTER)
    gc.enable()
    waiting.poll(None)  # The master closes its end.
    if postgres_home is not None:
        users.hold(postgres_home)
