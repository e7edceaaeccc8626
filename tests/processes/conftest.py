"""Data folders, fresh and lived in, and one server that several tests share."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.partner import Partner
from tests.processes.serving import Server, remove


def make_folder() -> Path:
    """A short path that every user of the machine may pass through, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="serving-"))
    folder.chmod(0o755)
    return folder


@pytest.fixture
def fresh_folder() -> Iterator[Path]:
    folder = make_folder()
    yield folder
    remove(folder)


@pytest.fixture(scope="package")
def lived_in() -> Iterator[Path]:
    """A data folder with a database in it that earlier tests have used."""
    folder = make_folder()
    yield folder
    remove(folder)


@pytest.fixture(scope="package")
def served(lived_in: Path) -> Iterator[Server]:
    with Server(lived_in) as server:
        yield server


@pytest.fixture(scope="package")
def acme(served: Server) -> Partner:
    return served.partner()
