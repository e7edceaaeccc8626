"""Requests that wait for an event: what they read meanwhile, how many may wait, when they end."""

import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any

import psycopg
import pytest

from tests.api_server import ApiServer
from tests.handlers.platform.test_events import feed, head, partner_feed
from tests.partner import PATIENCE_SECONDS, Business, Partner, client, within

PLACING = "SELECT pg_advisory_xact_lock(hashtextextended('place events', 0))"
SHORT_SECONDS = 5.0  # Much less than `LONG`.
LONG = 20


class CallCounter:
    """A function with a count of its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        return self.function(*arguments)


@pytest.fixture
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> CallCounter:
    """The readings of pages of events."""
    from persistence.feed.events import events

    counted = CallCounter(events)
    monkeypatch.setattr("handlers.platform.events.events", counted)
    return counted


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> CallCounter:
    """The readings of the newest event."""
    from persistence.feed.events import newest

    counted = CallCounter(newest)
    monkeypatch.setattr("server.http.feed_waits.newest", counted)
    return counted


class TestWait:
    def test_reads_a_page_only_once_the_feed_has_grown(
        self, shop: Business, pages: CallCounter
    ) -> None:
        before = head(shop)
        pages.calls = 0
        assert feed(shop, after=before, wait=1)["results"] == []
        assert pages.calls == 1
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(feed, shop, after=before, wait=2, types="bill.*")
            assert within(SHORT_SECONDS, lambda: pages.calls == 2)
            shop.customer()
            assert waiting.result()["results"] == []
        assert pages.calls == 3

    def test_looks_at_the_feed_of_a_partner_without_the_lock_for_placing(
        self, own_server: ApiServer, partner: Partner
    ) -> None:
        partner.business()
        after = partner_feed(partner, page_size=500)["next_cursor"]
        with psycopg.connect(own_server.database_url) as other, ThreadPoolExecutor(1) as pool:
            other.execute(PLACING)
            waiting = pool.submit(partner_feed, partner, after=after, wait=1)
            assert waiting.result(SHORT_SECONDS)["results"] == []

    def test_of_too_many_requests_of_a_feed_ends_immediately(
        self, acme: Partner, shop: Business, looks: CallCounter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("server.http.feed_waits.MOST_WAITING", 1)
        before, began, other = head(shop), monotonic(), acme.business()
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(feed, shop, after=before, wait=LONG)
            assert within(SHORT_SECONDS, lambda: looks.calls == 2)
            assert feed(shop, after=before, wait=LONG)["results"] == []
            third = pool.submit(feed, other, after=head(other), wait=LONG)  # Another feed.
            assert within(SHORT_SECONDS, lambda: looks.calls >= 6)
            assert not third.done()
            for each in (shop, other):
                each.customer()
            assert [len(each.result()["results"]) for each in (first, third)] == [1, 1]
        assert feed(shop, after=head(shop), wait=1)["results"] == []  # It may wait again.
        assert monotonic() - began < LONG

    def test_ends_once_its_client_is_gone(
        self, api_server: ApiServer, shop: Business, looks: CallCounter
    ) -> None:
        path = f"/v1/platform/businesses/{shop.id}/events/?after={head(shop)}&wait={LONG}"
        lines = f"GET {path} HTTP/1.1", "Host: localhost", f"Authorization: {token(shop)}", "", ""
        with socket.create_connection(("127.0.0.1", api_server.port)) as wire:
            wire.sendall("\r\n".join(lines).encode())
            assert within(SHORT_SECONDS, lambda: looks.calls > 1)
        time.sleep(1)
        calls = looks.calls
        time.sleep(1)
        assert looks.calls == calls

    def test_adds_its_seconds_to_the_deadline(self, api_server: ApiServer, shop: Business) -> None:
        before = head(shop)
        with (
            ApiServer(api_server.database_url, answer_seconds=1) as hasty,
            client(hasty.url, headers=shop.api.headers) as api,
        ):
            path = f"/v1/platform/businesses/{shop.id}/events/"
            assert api.get(path, params={"after": before, "wait": 2}).status_code == 200
            with psycopg.connect(api_server.database_url) as other:
                other.execute("LOCK TABLE event IN ACCESS EXCLUSIVE MODE")
                began = monotonic()
                answer = api.get(path, params={"after": before, "wait": 2})
                assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
                assert 3 <= monotonic() - began < PATIENCE_SECONDS


def token(shop: Business) -> str:
    return shop.api.headers["Authorization"]
