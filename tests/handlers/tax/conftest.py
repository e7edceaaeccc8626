"""Books for the tests of tax returns."""

from collections.abc import Iterator

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.partner import Business, Partner


@pytest.fixture
def books(api_server: ApiServer, acme: Partner) -> Iterator[Business]:
    """The books of a new business for each test, audited at its end."""
    books = acme.business()
    yield books
    Ledger(api_server, books).audit()
