"""A new business for each test of an opening: books can be opened only once on a day."""

from collections.abc import Iterator

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.trade import Record
from tests.partner import Business, Partner


class UnopenedBooks:
    """The base of a class whose tests each have a new business."""

    @pytest.fixture
    def shop(self, acme: Partner) -> Business:
        return acme.business()

    @pytest.fixture
    def ledger(self, api_server: ApiServer, shop: Business) -> Iterator[Ledger]:
        ledger = Ledger(api_server, shop)
        yield ledger
        ledger.audit()

    @pytest.fixture
    def buyer(self, shop: Business) -> Record:
        return shop.customer()

    @pytest.fixture
    def vendor(self, shop: Business) -> Record:
        return shop.vendor()
