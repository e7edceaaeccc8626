"""Two bank accounts of a module's business."""

import pytest

from tests.builders.bank import Bank, open_account
from tests.partner import Business


@pytest.fixture(scope="module")
def current(shop: Business) -> Bank:
    """The bank account over 1100, to which payments by transfer are posted."""
    return Bank(shop, open_account(shop, display_name="Current account"))


@pytest.fixture(scope="module")
def bank(shop: Business, current: Bank) -> Bank:
    """A savings account over another account of the chart."""
    return Bank(shop, open_account(shop))
