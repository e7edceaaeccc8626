"""One business for each module, with its books at hand; the books are proved when it is done."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.trade import Trade
from tests.partner import Business, Partner


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture(scope="module")
def ledger(api_server: ApiServer, shop: Business) -> Iterator[Ledger]:
    ledger = Ledger(api_server, shop)
    yield ledger
    ledger.audit()


@pytest.fixture(scope="module")
def buyer(shop: Business) -> dict[str, Any]:
    return shop.customer()


@pytest.fixture(scope="module")
def vendor(shop: Business) -> dict[str, Any]:
    return shop.vendor()


@pytest.fixture(scope="module")
def own_shop(acme: Partner) -> Business:
    """A business of its own for a module that lists everything in it."""
    return acme.business()


@pytest.fixture
def trade(request: pytest.FixtureRequest) -> Trade:
    """The side that a class of tests is on."""
    trade: Trade = request.cls.trade
    return trade


@pytest.fixture
def party(request: pytest.FixtureRequest, trade: Trade) -> dict[str, Any]:
    """The buyer or the vendor."""
    party: dict[str, Any] = request.getfixturevalue(trade.fixture)
    return party
