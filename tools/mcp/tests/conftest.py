"""A business with a few records of each kind, and agents of it."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.bank import Bank, open_account
from tests.builders.purchases import received
from tests.builders.sales import paid, sent
from tests.partner import Business, Partner
from tools.mcp.tests.agent import Agent, with_token


@pytest.fixture(scope="module")
def shop(acme: Partner, api_server: ApiServer) -> Iterator[Business]:
    shop = acme.business(legal_name="Harbour Coffee Ltd")
    ledger = Ledger(api_server, shop)
    yield shop
    ledger.audit()


@pytest.fixture(scope="module")
def books(shop: Business) -> SimpleNamespace:
    """Create records in the shop; return them by name."""
    buyer, vendor = shop.customer(), shop.vendor()
    bank = Bank(shop, open_account(shop))
    invoice = sent(shop, buyer, 12_000, due_at="2025-03-31T12:00:00Z")
    return SimpleNamespace(
        buyer=buyer,
        vendor=vendor,
        bank=bank,
        invoice=invoice,
        bill=received(shop, vendor, 5_000),
        payment=paid(shop, buyer, 2_000),
        line=bank.line(-350, description="Account fee March"),
    )


@pytest.fixture(scope="module")
def agent(shop: Business) -> Iterator[Agent]:
    with Agent(with_token(shop)) as agent:
        yield agent


@pytest.fixture(scope="module")
def reader(shop: Business) -> Iterator[Agent]:
    with Agent(with_token(shop, "read")) as agent:
        yield agent
