"""What several modules have: a primary that a standby may follow, and months that are put back."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from embedded.postgres import EmbeddedPostgres
from tests.api_server import ApiServer, Databases
from tests.persistence.auditing import remembered
from tests.persistence.posting import JournalWriter
from tests.standby import FOLLOWED


@pytest.fixture(scope="module")
def both_homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both."""
    return tmp_path_factory.mktemp("two")


@pytest.fixture(scope="module")
def primary(both_homes: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres(both_homes / "primary", FOLLOWED) as primary:
        yield primary


@pytest.fixture(scope="module")
def url(primary: EmbeddedPostgres) -> str:
    """The address of the books there."""
    return Databases(primary).clone("books")


@pytest.fixture(scope="module")
def put_back(own_server: ApiServer, rolled: JournalWriter) -> Iterator[Callable[[], None]]:
    """Put back what `rolled`, of each module its own, has."""
    with remembered(own_server, rolled.business) as put_back:
        yield put_back


@pytest.fixture
def kept(rolled: JournalWriter, put_back: Callable[[], None]) -> Iterator[JournalWriter]:
    """Let a test change what was rolled up."""
    yield rolled
    put_back()
