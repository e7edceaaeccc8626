"""A business of its own for each race; when it is over, its books are proved."""

from collections.abc import Iterator

import pytest

from tests.bookkeeping import Ledger
from tests.builders.trade import Record
from tests.house import House
from tests.partnership import Business, Partnership


@pytest.fixture
def shop(acme: Partnership) -> Business:
    return acme.business()


@pytest.fixture
def ledger(house: House, shop: Business) -> Iterator[Ledger]:
    ledger = Ledger(house, shop)
    yield ledger
    ledger.audit()


@pytest.fixture
def buyer(shop: Business) -> Record:
    return shop.customer()
