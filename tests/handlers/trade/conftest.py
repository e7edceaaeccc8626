"""The side of trade that a class of tests is on."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.trade import Record, Trade
from tests.handlers.trade.side import Side
from tests.partner import Business


@pytest.fixture
def side(shop: Business, ledger: Ledger, trade: Trade, party: Record) -> Side:
    return Side(shop, ledger, trade, party)
