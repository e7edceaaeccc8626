"""What several modules have: months that are put back."""

from collections.abc import Callable, Iterator

import pytest

from tests.api_server import ApiServer
from tests.persistence.integrity.book_faults import remembered
from tests.persistence.ledger.journal_writer import JournalWriter


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
