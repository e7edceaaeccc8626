"""The journal of a business, restored after each test."""

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
    """A function that restores the rows of `rolled`, which each module defines."""
    with remembered(own_server, rolled.business) as put_back:
        yield put_back


@pytest.fixture
def kept(rolled: JournalWriter, put_back: Callable[[], None]) -> Iterator[JournalWriter]:
    """The journal `rolled`, whose rows a test may change."""
    yield rolled
    put_back()
