"""The same request from five clients at once, at every operation that changes receivables."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from time import monotonic, sleep
from typing import ClassVar
from uuid import uuid4

import httpx
import psycopg
import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.sales import part, payment_body, sent
from tests.builders.trade import Record
from tests.concurrency.racing import Ran, statuses, together
from tests.contract.document import Operation, operations
from tests.contract.valid_requests import Story
from tests.partner import PATIENCE_SECONDS, Business, Partner

CLIENTS = 5
TAGS = ("Customers", "Invoices", "Invoice payments", "Invoice refunds", "Customer credits")
CHANGES = [each for each in operations() if each.node["tags"][0] in TAGS and each.method != "get"]
WITH_KEY = [each for each in CHANGES if each.takes("Idempotency-Key")]
WITHOUT_KEY = [each for each in CHANGES if not each.takes("Idempotency-Key")]
DONE_BY = """
SELECT DISTINCT request_id FROM audit_record
WHERE business_id = %(business)s AND action = %(action)s
"""
WAITING = "SELECT count(*) FROM pg_locks WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"


@pytest.fixture
def story(acme: Partner) -> Iterator[Story]:
    story = Story.begin(acme)
    yield story
    story.close()


@pytest.fixture
def books(api_server: ApiServer, story: Story) -> Iterator[Ledger]:
    books = Ledger(api_server, story.business)
    yield books
    books.audit()


def is_named(each: Operation) -> str:
    return each.name


def repeat(story: Story, books: Ledger, operation: Operation, **options: object) -> list[Ran]:
    """Send a valid request five times at once; one of them may change anything, and does."""
    request = story.request(operation)
    if operation.name == "unarchive_customer":
        request.client.post(request.path.replace("unarchive", "archive"))
    done = set(books.ask(DONE_BY, action=operation.name))
    ran = together([partial(request.send, **options) for _ in range(CLIENTS)])
    [(by,)] = set(books.ask(DONE_BY, action=operation.name)) - done
    assert by in {each.answer.headers["x-request-id"] for each in ran if each.status < 300}
    return ran


def wait_for_a_lock(connection: psycopg.Connection) -> None:
    """Return when some statement waits for this connection."""
    deadline = monotonic() + PATIENCE_SECONDS
    while connection.execute(WAITING).fetchone() == (0,):
        assert monotonic() < deadline
        sleep(0.01)


class TestOneKey:
    @pytest.mark.parametrize("operation", WITH_KEY, ids=is_named)
    def test_takes_effect_once_and_all_get_the_same_bytes(
        self, story: Story, books: Ledger, operation: Operation
    ) -> None:
        ran = repeat(story, books, operation, headers={"Idempotency-Key": str(uuid4())})
        told = [each for each in ran if each.code == "idempotency_in_progress"]
        answered = [each for each in ran if each not in told]
        assert all(each.status == 409 and each.answer.headers["retry-after"] for each in told)
        assert {each.status for each in answered} <= {200, 201}
        assert len({each.answer.content for each in answered}) == 1
        first = [each for each in answered if "idempotent-replayed" not in each.answer.headers]
        assert len(first) == 1

    def test_at_work_for_long_is_409_and_answered_when_it_is_done(
        self,
        api_server: ApiServer,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("persistence.engine.transaction.WAIT_FOR_KEY_SECONDS", 1.0)
        invoice, key = sent(shop, buyer, 100), {"Idempotency-Key": str(uuid4())}
        body = payment_body(buyer, 100, allocations=[part(invoice, 100)])
        pay = partial(shop.api.post, "invoices/payments/", json=body, headers=key)
        with ThreadPoolExecutor(1) as threads:
            with psycopg.connect(api_server.database_url) as connection:
                row = "SELECT FROM invoice WHERE id = %s FOR UPDATE"
                connection.execute(row, (invoice["id"],))
                running = threads.submit(pay)
                wait_for_a_lock(connection)
                told = together([pay] * 4)
                connection.rollback()
            first = running.result()
        assert statuses(told) == {409: 4}
        assert {each.code for each in told} == {"idempotency_in_progress"}
        assert {each.answer.headers["retry-after"] for each in told} == {"1"}
        again = pay()
        assert (first.status_code, again.status_code) == (201, 201)
        assert again.content == first.content
        assert shop.api.get("invoices/payments/").json()["count"] == 1


class TestClientThatLeaves:
    """Whoever hangs up in the middle finds, by its key, what has become of its request."""

    BODY: ClassVar[Record] = {"company_name": "Hasty Bakery"}

    def test_before_its_body_is_whole_has_asked_for_nothing(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        with self.asked(api_server, shop, "half", whole=False):
            pass
        assert shop.api.get("customers/").json()["count"] == 0
        again = self.again(shop, "half")
        assert (again.status_code, "idempotent-replayed" in again.headers) == (201, False)

    def test_while_it_is_at_work_gets_the_answer_when_it_comes_back(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        with psycopg.connect(api_server.database_url) as connection:
            connection.execute("SELECT FROM business WHERE id = %s FOR UPDATE", (shop.id,))
            with self.asked(api_server, shop, "whole", whole=True):
                wait_for_a_lock(connection)
            sleep(0.1)  # The server has seen it go.
            connection.rollback()
        deadline = monotonic() + PATIENCE_SECONDS
        while shop.api.get("customers/").json()["count"] == 0 and monotonic() < deadline:
            sleep(0.01)
        again = self.again(shop, "whole")
        assert (again.status_code, again.headers["idempotent-replayed"]) == (201, "true")
        assert shop.api.get("customers/").json()["count"] == 1

    def again(self, shop: Business, key: str) -> httpx.Response:
        return shop.api.post("customers/", json=self.BODY, headers={"Idempotency-Key": key})

    @contextmanager
    def asked(
        self, api_server: ApiServer, shop: Business, key: str, *, whole: bool
    ) -> Iterator[None]:
        """Send a request, or half of its body, and hang up without waiting for the answer."""
        body = json.dumps(self.BODY).encode()
        head = (
            f"POST /v1/platform/businesses/{shop.id}/customers/ HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: {shop.api.headers['Authorization']}\r\nIdempotency-Key: {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", api_server.port), 10) as line:
            line.sendall(head.encode() + (body if whole else body[:10]))
            yield


class TestNoKey:
    @pytest.mark.parametrize("operation", WITHOUT_KEY, ids=is_named)
    def test_what_is_taken_back_is_taken_back_once(
        self, story: Story, books: Ledger, operation: Operation
    ) -> None:
        seen = statuses(repeat(story, books, operation))
        assert seen[200] == 1
        assert set(seen) <= {200, 404, 409}

    @pytest.mark.parametrize("noun", ["customers/", "vendors/"])
    def test_a_party_with_one_external_id_is_one(self, shop: Business, noun: str) -> None:
        body = {"company_name": "Newcomer Ltd", "external_id": "newcomer"}
        ran = together([partial(shop.api.post, noun, json=body)] * CLIENTS)
        assert statuses(ran) == {200: CLIENTS - 1, 201: 1}
        assert len({each.answer.json()["id"] for each in ran}) == 1
