"""Books are opened once on a day, so each test of it has a business of its own."""

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.trade import Record
from tests.partner import Business, Partner


@pytest.fixture
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture
def ledger(api_server: ApiServer, shop: Business) -> Ledger:
    return Ledger(api_server, shop)


@pytest.fixture
def buyer(shop: Business) -> Record:
    return shop.customer()


@pytest.fixture
def vendor(shop: Business) -> Record:
    return shop.vendor()
