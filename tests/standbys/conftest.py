"""Fixtures of several modules: a primary and the folder of its standby."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from libraries.embedded.postgres import EmbeddedPostgres
from tests.api_server import Databases
from tests.standbys.standby import FOLLOWED


@pytest.fixture(scope="module")
def both_homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the primary and the standby."""
    return tmp_path_factory.mktemp("two")


@pytest.fixture(scope="module")
def primary(both_homes: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres(both_homes / "primary", FOLLOWED) as primary:
        yield primary


@pytest.fixture(scope="module")
def url(primary: EmbeddedPostgres) -> str:
    """The address of the books on the primary."""
    return Databases(primary).clone("books")
