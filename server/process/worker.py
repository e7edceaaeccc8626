"""One worker process: its application, and its ties to its parent and to the database."""

import gc
import signal
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from starlette.types import ASGIApp

from embedded import users
from server import logs
from server.settings import Settings


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
    logs.configure(settings.log_format)
    logs.adopt()
    gc.disable()
    # The master refers to this module and needs no application.
    from server.app import Parent, create_app
    from server.connections import ConnectionsPerAddress
    from server.departure import Departure
    from server.process import preloaded
    from server.protocol import GuardedProtocol

    GuardedProtocol.addresses = ConnectionsPerAddress(
        settings.connections_per_address, settings.forwarded_allow
    )
    GuardedProtocol.departure = departure = Departure(leaving)
    parent = Parent(
        before_opening=partial(wait_for_database, postgres_home, waiting),
        pages_written=preloaded.pages.read,
        stack=preloaded.stack,
        departure=departure,
    )
    return create_app(settings, database_url, parent=parent)


def wait_for_database(postgres_home: Path | None, waiting: Connection) -> None:
    """Return when the master says that the database is there.

    The worker is then counted as a user of the PostgreSQL that came along, so that this never goes
    away under a living worker.
    """
    gc.collect()
    gc.freeze()  # A full collection would else look through the whole contract, again and again.
    gc.enable()
    waiting.poll(None)  # The master says it by closing its end.
    if postgres_home is not None:
        users.hold(postgres_home)
