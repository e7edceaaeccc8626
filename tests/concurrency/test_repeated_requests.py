"""Each operation that changes receivables, requested by five clients concurrently."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import sleep
from typing import ClassVar
from uuid import uuid4

import httpx
import psycopg
import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.trade import Record
from tests.concurrency.races import Ran, race_for_one_name, statuses, together
from tests.contract.document import Operation, operations
from tests.contract.valid_requests import Story
from tests.partner import PATIENCE_SECONDS, Business, Partner, within

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
    """Send a valid request five times concurrently; check that one of them changes the books."""
    request = story.request(operation)
    if operation.name == "unarchive_customer":
        request.client.post(request.path.replace("unarchive", "archive"))
    done = set(books.ask(DONE_BY, action=operation.name))
    ran = together([partial(request.send, **options) for _ in range(CLIENTS)])
    [(by,)] = set(books.ask(DONE_BY, action=operation.name)) - done
    assert by in {each.answer.headers["x-request-id"] for each in ran if each.status < 300}
    return ran


def wait_for_a_lock(connection: psycopg.Connection) -> None:
    """Wait until a statement waits for a lock of this connection."""
    assert within(PATIENCE_SECONDS, lambda: connection.execute(WAITING).fetchone() != (0,))


class TestOneKey:
    @pytest.mark.parametrize("operation", WITH_KEY, ids=is_named)
    def test_a_key_takes_effect_once_and_all_get_the_same_bytes(
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


class TestClientThatLeaves:
    """A client that disconnects finds the answer to its request by its key."""

    BODY: ClassVar[Record] = {"company_name": "Hasty Bakery"}

    def test_a_client_that_leaves_before_its_body_is_whole_changes_nothing(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        with self.request_of(api_server, shop, "half", whole=False):
            pass
        assert shop.api.get("customers/").json()["count"] == 0
        again = self.again(shop, "half")
        assert (again.status_code, "idempotent-replayed" in again.headers) == (201, False)

    def test_a_client_that_leaves_finds_the_answer_by_its_key(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        with psycopg.connect(api_server.database_url) as connection:
            connection.execute("SELECT FROM business WHERE id = %s FOR UPDATE", (shop.id,))
            with self.request_of(api_server, shop, "whole", whole=True):
                wait_for_a_lock(connection)
            sleep(0.1)  # Leave the server time to notice.
            connection.rollback()
        within(PATIENCE_SECONDS, lambda: shop.api.get("customers/").json()["count"] > 0)
        again = self.again(shop, "whole")
        assert (again.status_code, again.headers["idempotent-replayed"]) == (201, "true")
        assert shop.api.get("customers/").json()["count"] == 1

    def again(self, shop: Business, key: str) -> httpx.Response:
        return shop.api.post("customers/", json=self.BODY, headers={"Idempotency-Key": key})

    @contextmanager
    def request_of(
        self, api_server: ApiServer, shop: Business, key: str, *, whole: bool
    ) -> Iterator[None]:
        """Send a request, or half of its body, and disconnect without waiting for the answer."""
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
    def test_a_deletion_takes_effect_once(
        self, story: Story, books: Ledger, operation: Operation
    ) -> None:
        seen = statuses(repeat(story, books, operation))
        assert seen[200] == 1
        assert set(seen) <= {200, 404, 409}

    @pytest.mark.parametrize("noun", ["customers/", "vendors/"])
    def test_a_party_with_an_external_id_is_created_once(self, shop: Business, noun: str) -> None:
        race_for_one_name(shop, noun, {"company_name": "Newcomer Ltd"})
