"""A frozen PostgreSQL: every request is answered in time, and afterwards all works again."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from libraries.embedded.postgres import EmbeddedPostgres
from tests.builders.trade import SENT
from tests.partner import PATIENCE_SECONDS, Business, within
from tests.processes.server_process import Server, children_of

AWAY_SECONDS = 3.0
SLACK_SECONDS = 1.5  # For a busy machine.
CALLERS = 12  # More than there are connections.


@contextmanager
def frozen(postgres: int) -> Iterator[None]:
    """Stop every process of PostgreSQL with SIGSTOP during a block."""
    os.kill(postgres, signal.SIGSTOP)  # The first one, so that it starts no others.
    all_of_them = [*children_of(postgres), postgres]
    for pid in all_of_them:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in all_of_them:
            os.kill(pid, signal.SIGCONT)


@pytest.fixture
def server(own_folder: Path) -> Iterator[Server]:
    with Server(own_folder, "--development", "--workers", "2") as server:
        server.wait_for_workers(2)
        yield server


@pytest.fixture
def shop(server: Server) -> Business:
    return server.partner().business()


def create(shop: Business, number: int) -> httpx.Response:
    """Create a customer with an Idempotency-Key."""
    body = {"company_name": "Blue Door", "external_id": f"buyer-{number}"}
    headers = {"Idempotency-Key": f"key-{number}"}
    return shop.api.post("customers/", json=body, headers=headers)


def read(shop: Business, _number: int = 0) -> httpx.Response:
    return shop.api.get("customers/")


def seconds_until_503(shop: Business) -> list[float]:
    """Send writes and reads concurrently; return the seconds until each is 503."""

    def sent(call: tuple[bool, int]) -> float:
        writes, number = call
        began = time.monotonic()
        answer = (create if writes else read)(shop, number)
        seconds = time.monotonic() - began
        assert (answer.status_code, answer.json()["error_code"]) == (503, "service_unavailable")
        assert "retry-after" in answer.headers
        return seconds

    calls = [(writes, number) for writes in (True, False) for number in range(CALLERS)]
    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(sent, calls))


class TestFrozenDatabase:
    def test_requests_are_503_in_time_and_their_keys_tell_the_rest(
        self, server: Server, shop: Business
    ) -> None:
        assert {read(shop).status_code for _ in range(20)} == {200}  # Each worker is connected.
        with frozen(server.postgres()):
            assert max(seconds_until_503(shop)) < AWAY_SECONDS + SLACK_SECONDS
            # Once each worker has met the silence, it makes nobody wait for it again.
            assert within(PATIENCE_SECONDS, lambda: max(seconds_until_503(shop)) < SLACK_SECONDS)
        began = time.monotonic()
        assert within(PATIENCE_SECONDS, lambda: read(shop).status_code == 200)
        assert time.monotonic() - began < SLACK_SECONDS
        assert within(
            PATIENCE_SECONDS,
            lambda: len(server.events("database_answers")) == len(server.events("database_silent")),
        )
        made = [create(shop, number) for number in range(CALLERS)]
        assert [answer.status_code for answer in made] == [201] * CALLERS
        assert read(shop).json()["count"] == CALLERS

    def test_a_lone_request_that_takes_long_is_no_silence(
        self, server: Server, shop: Business
    ) -> None:
        # A write waits four seconds for a lock, and no other connection is in use.
        customer_id = create(shop, 0).json()["id"]
        line = {"description": "Bread", "quantity": 1, "unit_price": 1000}
        invoice = {"customer_id": customer_id, "sent_at": SENT, "line_items": [line]}
        assert shop.api.post("invoices/", json=invoice).status_code == 201
        with (
            psycopg.connect(EmbeddedPostgres(server.folder / "postgres").url()) as other,
            ThreadPoolExecutor(1) as thread,
        ):
            other.execute("SET LOCAL app.every_business = 'on'")
            other.execute("SELECT FROM number_series FOR UPDATE")
            answering = thread.submit(shop.api.post, "invoices/", json=invoice)
            time.sleep(AWAY_SECONDS + 1)
            assert not answering.done()
            other.rollback()
            assert answering.result().status_code == 201
        assert server.events("database_silent") == []
