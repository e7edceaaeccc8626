"""A key whose first request still runs: a repetition is refused, and later replayed."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import psycopg
import pytest

from tests.api_server import ApiServer
from tests.contract.document import named
from tests.contract.refusals import is_as_shown
from tests.contract.valid_requests import Request, Story
from tests.partner import PATIENCE_SECONDS, Partner, within

WAITING = """
SELECT count(*) FROM pg_locks
WHERE NOT granted AND relation IN (
  'business'::regclass, 'webhook_endpoint'::regclass, 'partner_exchange_rate_table'::regclass
)
"""
# Few at a time: a partner has only its share of the connections.
WRITINGS = (
    ("create_customer",),
    ("create_business", "update_business", "archive_business", "unarchive_business"),
    ("create_sandbox", "update_sandbox", "reset_sandbox"),
    ("update_webhook_endpoint",),
    ("retry_webhook_delivery",),
    ("replay_webhook_events",),
    ("set_partner_exchange_rates",),
)


@contextmanager
def nobody_writes(api_server: ApiServer) -> Iterator[None]:
    with psycopg.connect(api_server.database_url) as connection:
        connection.execute("LOCK TABLE business IN EXCLUSIVE MODE")
        # Nobody reads these, either.
        connection.execute("LOCK TABLE webhook_endpoint, partner_exchange_rate_table")
        yield
        connection.rollback()


@pytest.fixture(params=WRITINGS, ids=lambda names: names[0])
def requests(acme: Partner, request: pytest.FixtureRequest) -> list[tuple[Request, dict[str, str]]]:
    return [
        (Story.begin(acme).request(named(name)), {"idempotency-key": f"running-{name}"})
        for name in request.param
    ]


class TestKeyOfARunningRequest:
    def test_a_key_at_work_is_409_and_then_the_first_answer(
        self,
        api_server: ApiServer,
        requests: list[tuple[Request, dict[str, str]]],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("persistence.engine.transaction.WAIT_FOR_KEY_SECONDS", 1.0)

        def send(each: tuple[Request, dict[str, str]]) -> httpx.Response:
            return each[0].send(headers=each[1])

        with ThreadPoolExecutor(2 * len(requests)) as threads:
            with nobody_writes(api_server):
                running = [threads.submit(send, each) for each in requests]
                waiting = [(len(requests),)]
                assert within(PATIENCE_SECONDS, lambda: api_server.query(WAITING) == waiting)
                began = time.monotonic()
                told = list(threads.map(send, requests))
                waited = time.monotonic() - began
            firsts = [each.result() for each in running]
        for answer in told:
            assert answer.status_code == 409
            assert is_as_shown("IdempotencyInProgress", answer)
            assert int(answer.headers["retry-after"]) >= 1
        assert waited > 0.5
        creates = ["201" in each[0].operation.node["responses"] for each in requests]
        assert [answer.status_code == 201 for answer in firsts] == creates
        assert {answer.status_code for answer in firsts} <= {200, 201}
        again = [send(each) for each in requests]
        assert [answer.content for answer in again] == [answer.content for answer in firsts]
        assert all(answer.headers["idempotent-replayed"] == "true" for answer in again)
