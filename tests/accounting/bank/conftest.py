import pytest

from tests.accounting.bank.card_sales import CardSales


@pytest.fixture
def trade() -> CardSales:
    """Empty books of sales on 20 January."""
    return CardSales("20")
