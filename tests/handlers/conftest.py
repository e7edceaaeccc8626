"""One business for each module, with its books at hand; the books are proved when it is done."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.house import House
from tests.partnership import Business, Partnership


@pytest.fixture(scope="module")
def shop(acme: Partnership) -> Business:
    return acme.business()


@pytest.fixture(scope="module")
def ledger(house: House, shop: Business) -> Iterator[Ledger]:
    ledger = Ledger(house, shop)
    yield ledger
    ledger.audit()


@pytest.fixture(scope="module")
def buyer(shop: Business) -> dict[str, Any]:
    return shop.customer()


@pytest.fixture(scope="module")
def vendor(shop: Business) -> dict[str, Any]:
    return shop.vendor()
