"""A tenant with more requests than there are connections does not delay other tenants."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import httpx
import psycopg
import pytest

from persistence.engine.topology import CLOSE_GATE
from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.sales import invoice_body
from tests.builders.trade import Record, line
from tests.partner import PATIENCE_SECONDS, Business, within

SHARE = 8  # Half of the connections of a server under test.
WRITERS = 20
AT_ONCE_SECONDS = 10.0  # Waiting requests take far longer: the gate stays closed.

Write = Callable[[], httpx.Response]


@pytest.fixture
def shop(fresh_server: ApiServer) -> Business:
    return fresh_server.partner("Acme").business()


@pytest.fixture
def other(fresh_server: ApiServer) -> Business:
    return fresh_server.partner("Rival").business()


@contextmanager
def held(api_server: ApiServer, shop: Business) -> Iterator[Callable[[], int]]:
    """Close the gate of a business, so that its writings wait; yield a count of these."""
    waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    waiting += " AND datname = current_database()"
    with psycopg.connect(api_server.database_url) as connection:
        connection.execute(CLOSE_GATE, {"business_id": shop.id})
        yield lambda: len(api_server.query(waiting))
        connection.rollback()


def writer(shop: Business, buyer: Record) -> Write:
    return partial(shop.api.post, "invoices/", json=invoice_body(buyer, line(1)))


class TestManyWriters:
    def test_many_writings_of_a_tenant_hold_half_of_the_connections(
        self, fresh_server: ApiServer, shop: Business, other: Business
    ) -> None:
        write = writer(shop, shop.customer())
        with ThreadPoolExecutor(WRITERS) as threads, held(fresh_server, shop) as waiting:
            asked = [threads.submit(write) for _ in range(WRITERS)]
            assert within(PATIENCE_SECONDS, lambda: waiting() == SHARE)
            began = time.monotonic()
            for number in range(WRITERS):
                assert other.customer(company_name=f"Buyer {number}")
                assert other.api.get("customers/").json()["count"] == number + 1
                assert waiting() == SHARE
            assert time.monotonic() - began < AT_ONCE_SECONDS
            assert not any(each.done() for each in asked)
        assert [each.result().status_code for each in asked] == [201] * WRITERS
        Ledger(fresh_server, shop).audit()


class TestFullLine:
    def test_a_request_beyond_the_queue_is_refused_immediately(
        self,
        fresh_server: ApiServer,
        shop: Business,
        other: Business,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("persistence.engine.fair_semaphore.MOST_WAITING", 6)
        write = writer(shop, shop.customer())
        with ThreadPoolExecutor(WRITERS) as threads, held(fresh_server, shop) as waiting:
            asked = []
            for count in range(1, SHARE + 1):
                asked.append(threads.submit(write))
                assert within(PATIENCE_SECONDS, lambda count=count: waiting() == count)
            asked += [threads.submit(write) for _ in range(WRITERS - SHARE)]

            def done() -> list[Future[httpx.Response]]:
                return [each for each in asked if each.done()]

            assert within(PATIENCE_SECONDS, lambda: len(done()) == WRITERS - SHARE - 3)
            for each in done():
                answer = each.result()
                assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
                assert answer.json()["error_code"] == "service_unavailable"
            assert shop.api.get("customers/").status_code == 503
            assert other.api.get("customers/").status_code == 200
        statuses = sorted(each.result().status_code for each in asked)
        assert statuses == [201] * (SHARE + 3) + [503] * (WRITERS - SHARE - 3)
        assert shop.api.get("customers/").status_code == 200
        Ledger(fresh_server, shop).audit()
