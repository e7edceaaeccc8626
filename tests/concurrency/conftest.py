"""A business of its own for each race; when it is over, its books are proved."""

from collections.abc import Iterator

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.trade import Record
from tests.partner import Business, Partner


@pytest.fixture
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture
def ledger(api_server: ApiServer, shop: Business) -> Iterator[Ledger]:
    ledger = Ledger(api_server, shop)
    yield ledger
    ledger.audit()


@pytest.fixture
def buyer(shop: Business) -> Record:
    return shop.customer()
