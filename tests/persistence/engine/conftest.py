"""A business of its own for each test, and a writer that writes to it past the handlers."""

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
