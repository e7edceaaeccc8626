"""The isolation of partners in feeds and webhooks: canaries of one never reach another."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from persistence.partners import sandboxes
from tests.api_server import ApiServer, as_owner
from tests.builders.receivers import Receiver, receiving
from tests.concurrency.races import together
from tests.jobs.webhooks import ENDPOINTS, delivered, endpoint
from tests.partner import Business, Partner

FEED = "/v1/platform/events/"


@dataclass
class Tenant:
    """A partner with two businesses, the canaries in their events, and all that was shown to it."""

    partner: Partner
    name: str
    shops: list[Business] = field(default_factory=list)
    canaries: set[str] = field(default_factory=set)
    shown: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.shops += [self.partner.business() for _ in range(2)]
        self.canaries |= {each.id for each in self.shops}

    def writes(self) -> list[Callable[[], httpx.Response]]:
        """Return requests, each of which makes an event with a canary."""
        return [self.write(shop) for shop in self.shops for _ in range(3)]

    def write(self, shop: Business) -> Callable[[], httpx.Response]:
        canary = f"canary-{uuid4()}"
        self.canaries.add(canary)
        body = {"company_name": "Any", "external_id": canary}
        return lambda: shop.api.post("customers/", json=body)

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """Read as the partner, and keep the text of the answer."""
        answer = self.partner.api.get(path, params=query)
        assert answer.status_code == 200, answer.text
        self.shown.append(answer.text)
        found: dict[str, Any] = answer.json()
        return found

    def sees_its_own(self, other: "Tenant") -> None:
        """Check that it has seen all of its canaries, and none of another."""
        text = "".join(self.shown)
        assert [each for each in self.canaries if each not in text] == []
        assert [each for each in other.canaries if each in text] == []


@pytest.fixture
def pair(own_server: ApiServer) -> tuple[Tenant, Tenant]:
    """A pair of partners, whose events lie next to each other."""
    names = [f"{name} {uuid4()}" for name in ("First", "Second")]
    first, second = (Tenant(own_server.partner(name), name) for name in names)
    writes = zip(first.writes(), second.writes(), strict=True)
    answers = together([each for both in writes for each in both])
    assert {each.status for each in answers} == {201}
    return first, second


class TestFeedOfAPartner:
    def test_has_no_event_of_another_partner(self, pair: tuple[Tenant, Tenant]) -> None:
        first, second = pair
        for tenant, other in (pair, (second, first)):  # One places the events of both.
            cursors = [None, "0-1", "1-0", "1-1", "2-0"]
            cursors.append(other.get(FEED, page_size=2)["next_cursor"])
            for cursor in cursors:
                after = {} if cursor is None else {"after": cursor}
                found = tenant.get(FEED, page_size=500, **after)
                shops = {each["business_id"] for each in found["results"]}
                assert shops <= {each.id for each in tenant.shops}
        first.sees_its_own(second)
        second.sees_its_own(first)

    def test_does_not_end_a_wait_with_the_news_of_another_partner(
        self, pair: tuple[Tenant, Tenant]
    ) -> None:
        first, second = pair
        end = first.get(FEED, page_size=500)["next_cursor"]
        waits = [
            lambda: first.partner.api.get(FEED, params={"after": end, "wait": 2}),
            *second.writes(),
        ]
        found = together(waits)[0].answer.json()
        assert (found["results"], found["next_cursor"]) == ([], end)

    def test_goes_on_after_a_sandbox_is_deleted(self, own_server: ApiServer) -> None:
        """Delete the business of the newest placement, and of one before it."""
        own_server.prepare_sandboxes()
        partner = own_server.partner("With a sandbox")
        shop = partner.business()
        body = {"external_id": f"practice {uuid4()}"}
        sandbox = Business(partner, partner.api.post("/v1/platform/sandboxes/", json=body).json())
        for each in (sandbox, shop, sandbox):
            each.customer()
            cursor = partner.api.get(FEED, params={"page_size": 500}).json()["next_cursor"]
        [(newest,)] = own_server.query(
            "SELECT max(position) FROM event_placement WHERE partner_id = %s", partner.partner_id
        )
        with psycopg.connect(as_owner(own_server.database_url), autocommit=True) as owner:
            sandboxes.take_away(owner, UUID(sandbox.id))
        left = own_server.query(
            "SELECT position FROM event_placement WHERE business_id = %s", sandbox.id
        )
        assert left == [(newest,)]  # The next placement counts on from it.
        shop.customer()
        found = partner.api.get(FEED, params={"after": cursor}).json()["results"]
        assert [each["type"] for each in found] == ["customer.created"]


class TestWebhooksOfAPartner:
    def test_have_no_event_of_another_partner(
        self, own_server: ApiServer, pair: tuple[Tenant, Tenant]
    ) -> None:
        first, second = pair
        with receiving() as receiver:
            for number, tenant in enumerate(pair):
                made = self.listening(tenant, receiver, f"/{number}")
                for shop in tenant.shops:
                    assert self.replay(tenant, made, shop).status_code == 200
            for tenant, other in (pair, (second, first)):
                [made, *_] = tenant.get(ENDPOINTS)["results"]
                assert self.replay(tenant, made, other.shops[0]).status_code == 422
            together([*first.writes(), *second.writes()])
            delivered(own_server)
        for number, tenant in enumerate(pair):
            for path in (f"/{number}", f"/{number}/ordered"):
                tenant.shown += [each.body for each in receiver.to(path)]
            for made in tenant.get(ENDPOINTS)["results"]:
                listed = tenant.get(f"{ENDPOINTS}{made['id']}/deliveries/", page_size=100)
                assert listed["results"]
        first.sees_its_own(second)
        second.sees_its_own(first)

    def test_of_one_business_have_none_of_another_of_the_partner(
        self, own_server: ApiServer, pair: tuple[Tenant, Tenant]
    ) -> None:
        tenant, _ = pair
        mine, other = tenant.shops
        with receiving() as receiver:
            made = endpoint(tenant.partner, receiver.url("/one"), business_ids=[mine.id])
            together(tenant.writes())
            delivered(own_server)
        assert {each.event["business_id"] for each in receiver.to("/one")} == {mine.id}
        path = f"{ENDPOINTS}{made['id']}/deliveries/"
        assert len(tenant.get(path, business_id=mine.id)["results"]) >= 3
        assert tenant.get(path, business_id=other.id)["results"] == []

    def listening(self, tenant: Tenant, receiver: Receiver, path: str) -> dict[str, Any]:
        """Create an endpoint of each kind, and return the first."""
        made = endpoint(tenant.partner, receiver.url(path))
        endpoint(tenant.partner, receiver.url(f"{path}/ordered"), ordered=True)
        return made

    def replay(self, tenant: Tenant, made: dict[str, Any], shop: Business) -> httpx.Response:
        """Send all events of a business again to an endpoint."""
        path = f"{ENDPOINTS}{made['id']}/replay/"
        return tenant.partner.api.post(path, json={"business_id": shop.id})
