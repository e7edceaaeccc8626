"""A business for each test, and a writer that bypasses the handlers."""

import pytest

from tests.api_server import ApiServer
from tests.partner import Business, Partner
from tests.persistence.engine.test_transaction import Writer


@pytest.fixture
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture
def writer(api_server: ApiServer, shop: Business) -> Writer:
    return Writer(api_server, shop)
