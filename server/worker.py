"""One worker process: its application, and its ties to its parent and to the database."""

from pathlib import Path

from starlette.types import ASGIApp

from embedded import users
from server.app import create_app
from server.settings import Settings


def build(settings: Settings, database_url: str, postgres_home: Path | None) -> ASGIApp:
    """Build the application of a worker that master processes spawn.

    It is counted as a user of the PostgreSQL that came along, so that this never goes away under a
    living worker, and it leaves when the master is gone, however that went.
    """
    users.leave_with_parent()
    if postgres_home is not None:
        users.hold(postgres_home)
    return create_app(settings, database_url)
