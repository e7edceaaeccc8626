"""What the tests of tax returns share."""

import pytest

from tests.partner import Business, Partner


@pytest.fixture
def books(acme: Partner) -> Business:
    """Books of their own for each test."""
    return acme.business()
