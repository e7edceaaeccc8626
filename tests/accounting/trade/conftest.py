import pytest

from accounting.trade.sides import RECEIVABLE, Side
from tests.accounting.trade.business import Trade


@pytest.fixture
def side() -> Side:
    """The side of a test: sales, unless it is parametrized."""
    return RECEIVABLE


@pytest.fixture
def trade(side: Side) -> Trade:
    """The empty books of a side on 5 January."""
    return Trade("5", side=side)
