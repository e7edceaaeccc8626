"""The business of a module, `bakery`, whose rows are restored after each test."""

from collections.abc import Callable, Iterator

import pytest

from tests.api_server import ApiServer
from tests.partner import Business
from tests.persistence.integrity.book_faults import remembered


@pytest.fixture(scope="module")
def put_back(own_server: ApiServer, bakery: Business) -> Iterator[Callable[[], None]]:
    with remembered(own_server, bakery) as put_back:
        yield put_back


@pytest.fixture
def shop(bakery: Business, put_back: Callable[[], None]) -> Iterator[Business]:
    yield bakery
    put_back()
