"""A business for each race; its books are proved at the end."""

from collections.abc import Iterator

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.bank import Bank, open_account
from tests.builders.trade import Record
from tests.partner import Business, Partner


@pytest.fixture(params=range(4))
def rounds() -> None:
    """Run a race several times, as one may end well by chance."""


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


@pytest.fixture
def vendor(shop: Business) -> Record:
    return shop.vendor()


@pytest.fixture
def bank(shop: Business) -> Bank:
    open_account(shop, display_name="Current account")
    return Bank(shop, open_account(shop))
