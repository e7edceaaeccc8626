"""The journal of a business, new or put back after each test."""

from collections.abc import Callable, Iterator

import pytest

from tests.api_server import ApiServer
from tests.partner import Partner
from tests.persistence.integrity.book_faults import remembered
from tests.persistence.ledger.journal_writer import JournalWriter


@pytest.fixture
def journal(own_server: ApiServer, partner: Partner) -> JournalWriter:
    return JournalWriter(own_server, partner.business())


@pytest.fixture(scope="module")
def put_back(own_server: ApiServer, rolled: JournalWriter) -> Iterator[Callable[[], None]]:
    """Remember the rows of `rolled`, which each module defines."""
    with remembered(own_server, rolled.business) as put_back:
        yield put_back


@pytest.fixture
def kept(rolled: JournalWriter, put_back: Callable[[], None]) -> Iterator[JournalWriter]:
    """Allow a test to change the rows of `rolled`."""
    yield rolled
    put_back()
