import pytest

from accounting.trade.sides import RECEIVABLE, Side
from tests.accounting.trade.business import Trade


@pytest.fixture
def side() -> Side:
    """Sales, unless a test is parametrized over sides."""
    return RECEIVABLE


@pytest.fixture
def trade(side: Side) -> Trade:
    """Empty books of a side on 5 January."""
    return Trade("5", side=side)
