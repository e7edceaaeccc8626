import pytest

from tests.accounting.bank.card_sales import CardSales


@pytest.fixture
def trade() -> CardSales:
    """The empty books of a seller on 20 January."""
    return CardSales("20")
