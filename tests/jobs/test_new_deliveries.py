"""Deliveries as they are made from new events: how many at once, for whom, and by whom."""

from typing import Any

import pytest

from handlers.shared.webhook_requests import webhook_of
from jobs.deliveries import Deliverer
from persistence.partners.event_placements import place_all
from persistence.partners.new_deliveries import make_deliveries
from tests.api_server import ApiServer
from tests.jobs.webhooks import deliveries, delivering, endpoint

HOOK = "https://hooks.example.com/"
LOCK = "hashtextextended('make deliveries', 0)"
pytestmark = pytest.mark.usefixtures("no_endpoints")


def step(server: ApiServer, name: str) -> Any:
    """Place new events, or make one round of deliveries; return its number of placements."""

    async def work(one: Deliverer) -> int | None:
        return await (
            place_all(one.pool) if name == "place" else make_deliveries(one.pool, webhook_of)
        )

    return delivering(server, work)


class TestRound:
    def test_takes_a_limited_number_of_events_of_all_partners_in_turns(
        self, own_server: ApiServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("persistence.partners.new_deliveries.MOST_EVENTS", 2)
        monkeypatch.setattr("persistence.partners.new_deliveries.MOST_INSERTED", 3)
        busy, quiet = own_server.partner("Busy"), own_server.partner("Quiet")
        shop, other = busy.business(), quiet.business()
        hooks = [[endpoint(each, HOOK) for _ in range(2)] for each in (busy, quiet)]

        def made() -> tuple[list[int], list[int]]:
            ours, theirs = hooks
            return (
                [len(deliveries(busy, hook)) for hook in ours],
                [len(deliveries(quiet, hook)) for hook in theirs],
            )

        for _ in range(4):
            shop.customer()
            step(own_server, "place")
        other.customer()
        step(own_server, "place")
        rounds = [(step(own_server, "make"), *made()) for _ in range(4)]
        assert rounds == [
            (2, [1, 1], [1, 1]),
            (2, [3, 3], [1, 1]),
            (1, [4, 4], [1, 1]),
            (0, [4, 4], [1, 1]),
        ]

    def test_is_left_to_a_process_that_is_at_it(self, own_server: ApiServer) -> None:
        owner = own_server.partner("Owner")
        hook = endpoint(owner, HOOK)
        step(own_server, "make")
        owner.api.delete(f"/v1/platform/webhook-endpoints/{hook['id']}/")
        owner.business()
        step(own_server, "place")

        def position() -> int:
            [(found,)] = own_server.query("SELECT position FROM webhook_feed")
            return int(found)

        before = position()
        own_server.query(f"SELECT pg_advisory_lock({LOCK})")
        try:
            assert step(own_server, "make") == 0
            assert position() == before
        finally:
            own_server.query(f"SELECT pg_advisory_unlock({LOCK})")
        assert step(own_server, "make") == 0
        assert position() > before
