"""A business for each module, with its ledger; its books are proved at the end."""

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
    """A separate business for a module that lists all its records."""
    return acme.business()


@pytest.fixture
def trade(request: pytest.FixtureRequest) -> Trade:
    """The side of a class of tests."""
    trade: Trade = request.cls.trade
    return trade


@pytest.fixture
def party(request: pytest.FixtureRequest, trade: Trade) -> dict[str, Any]:
    """The customer or the vendor."""
    party: dict[str, Any] = request.getfixturevalue(trade.fixture)
    return party
