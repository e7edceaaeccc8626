"""Data folders, fresh and used, and a server that several tests share."""

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from libraries.embedded import reaper
from server.process.master import hold_contract
from tests.command_line import CommandLine
from tests.partner import PATIENCE_SECONDS, Partner, within
from tests.processes.server_process import Server, remove


def make_folder() -> Path:
    """Create a folder that every user may traverse, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="serving-"))
    folder.chmod(0o755)
    return folder


@pytest.fixture
def fresh_folder() -> Iterator[Path]:
    """An empty folder."""
    folder = make_folder()
    yield folder
    remove(folder)


@pytest.fixture(scope="package")
def migrated(postgres_home: Path) -> Path:
    """A data folder to copy: an empty database of the newest schema, and documentation pages.

    All workers of a run share it.
    """
    kept = postgres_home.with_name("migrated")
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            folder = make_folder()
            CommandLine(folder).did("migrate")
            hold_contract(folder / "pages")
            assert within(PATIENCE_SECONDS, lambda: reaper.is_down(folder / "postgres"))
            shutil.move(folder, kept)
    return kept


@pytest.fixture
def own_folder(fresh_folder: Path, migrated: Path) -> Path:
    """A copy of the `migrated` folder."""
    shutil.copytree(migrated, fresh_folder, dirs_exist_ok=True)
    return fresh_folder


@pytest.fixture(scope="package")
def lived_in(migrated: Path) -> Iterator[Path]:
    """A data folder with a database that earlier tests have used."""
    folder = make_folder()
    shutil.copytree(migrated, folder, dirs_exist_ok=True)
    yield folder
    remove(folder)


@pytest.fixture(scope="package")
def served(lived_in: Path) -> Iterator[Server]:
    with Server(lived_in) as server:
        yield server


@pytest.fixture(scope="package")
def acme(served: Server) -> Partner:
    return served.partner()
