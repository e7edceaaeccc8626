"""Webhook endpoints over HTTP: what a partner may configure, and what it reads of deliveries."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from libraries.outbound.client import Client, OwnFault
from tests.api_server import ApiServer
from tests.builders.receivers import receiving
from tests.contract.refusals import is_as_shown
from tests.jobs.webhooks import ENDPOINTS, delivered, deliveries, endpoint, shown
from tests.partner import Business, Partner

HOOK = "https://hooks.example.com/in"
NOT_YOURS = "The request names a business that you do not have."


@pytest.fixture
def owner(own_server: ApiServer) -> Partner:
    """A partner without endpoints."""
    return own_server.partner("Owner of hooks")


@pytest.fixture
def hook(owner: Partner) -> dict[str, Any]:
    return endpoint(owner, HOOK)


def refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error_code"]


def path(hook: dict[str, Any], more: str = "") -> str:
    return f"{ENDPOINTS}{hook['id']}/{more}"


class TestCreateWebhookEndpoint:
    def test_answers_the_secret_once(self, owner: Partner) -> None:
        answer = owner.api.post(ENDPOINTS, json={"url": HOOK})
        made = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (201, '"1"')
        assert answer.headers["location"] == path(made)
        secret = made.pop("secret")
        assert secret.startswith("whsec_")
        assert made == shown(owner, made) == {
            **{name: made[name] for name in ("id", "created_at", "updated_at")},
            "url": HOOK,
            "types": None,
            "business_ids": None,
            "ordered": False,
            "description": None,
            "is_active": True,
            "status": "active",
            "off_reason": None,
            "off_at": None,
        }  # fmt: skip
        assert secret not in owner.api.get(ENDPOINTS).text

    def test_keeps_all_that_is_sent(self, owner: Partner) -> None:
        shop = owner.business()
        facts = {
            "types": ["invoice.*", "bill.paid"],
            "business_ids": [shop.id],
            "ordered": True,
            "description": "Production",
        }
        made = endpoint(owner, HOOK, **facts)
        assert {name: shown(owner, made)[name] for name in facts} == facts

    @pytest.mark.parametrize(
        ("url", "reason", "kind"),
        [
            ("http://hooks.example.com:8000/", "scheme", None),
            ("ftp://hooks.example.com/", "scheme", None),
            ("https://user:secret@hooks.example.com/", "credentials", None),
            ("https://hooks.example.com:25/", "port", None),
            ("https://hooks.example.com/#x", "malformed", None),
            ("hooks", "malformed", None),
            ("https://no-such-host.invalid/", "unresolvable", None),
            ("https://10.0.0.1/", "address", "private"),
            ("https://169.254.169.254/latest/meta-data/", "address", "link_local"),
            ("https://100.64.0.1/", "address", "shared"),
            ("https://[fd00::1]/", "address", "unique_local"),
            ("https://[::ffff:10.0.0.1]/", "address", "mapped"),
            ("https://[64:ff9b::a00:1]/", "address", "nat64"),
            ("https://0.0.0.0/", "address", "unspecified"),
        ],
    )
    def test_a_url_that_is_not_public_is_refused(
        self, owner: Partner, url: str, reason: str, kind: str | None
    ) -> None:
        answer = owner.api.post(ENDPOINTS, json={"url": url})
        assert refused(answer) == (422, "webhook_url_refused")
        assert answer.json()["detail"] == {"reason": reason, "address_kind": kind}
        assert owner.api.get(ENDPOINTS).json()["count"] == 0

    def test_where_no_name_can_be_looked_up_the_server_is_unavailable(
        self, owner: Partner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def broken(*_: object) -> None:
            raise OwnFault("no file")

        monkeypatch.setattr(Client, "check", broken)
        answer = owner.api.post(ENDPOINTS, json={"url": HOOK})
        assert refused(answer) == (503, "service_unavailable")

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"url": ""},
            {"url": HOOK, "types": []},
            {"url": HOOK, "types": ["invoice.stolen"]},
            {"url": HOOK, "types": ["*"]},
            {"url": HOOK, "business_ids": ["x"]},
            {"url": HOOK, "secret": "whsec_x"},
            {"url": HOOK, "is_active": False},
        ],
    )
    def test_an_invalid_body_is_400(self, owner: Partner, body: dict[str, Any]) -> None:
        assert refused(owner.api.post(ENDPOINTS, json=body)) == (400, "validation_error")

    def test_another_partners_business_is_not_found(
        self, own_server: ApiServer, owner: Partner
    ) -> None:
        theirs = own_server.partner("Other").business()
        body = {"url": HOOK, "business_ids": [owner.business().id, theirs.id]}
        answer = owner.api.post(ENDPOINTS, json=body)
        assert refused(answer) == (422, "reference_not_found")
        assert NOT_YOURS in answer.text

    def test_a_partner_has_20_at_most(self, owner: Partner) -> None:
        for _ in range(20):
            endpoint(owner, HOOK)
        answer = owner.api.post(ENDPOINTS, json={"url": HOOK})
        assert is_as_shown("WebhookEndpointLimit", answer)
        assert (answer.status_code, answer.json()["detail"]) == (409, {"limit": 20})

    def test_a_token_of_a_business_has_no_access(self, owner: Partner) -> None:
        shop = owner.business()
        token = {"Authorization": shop.api.headers["Authorization"]}
        with owner.client(owner.url, headers=token) as client:
            assert refused(client.post(ENDPOINTS, json={"url": HOOK})) == (403, "permission_denied")
            assert refused(client.get(ENDPOINTS)) == (403, "permission_denied")

    def test_a_form_is_415(self, owner: Partner) -> None:
        answer = owner.api.post(ENDPOINTS, data={"url": HOOK})
        assert refused(answer) == (415, "unsupported_media_type")


class TestListWebhookEndpoints:
    def test_lists_those_of_the_partner(self, own_server: ApiServer, owner: Partner) -> None:
        endpoint(own_server.partner("Other"), HOOK)
        made = [endpoint(owner, HOOK)["id"] for _ in range(3)]
        page = owner.api.get(ENDPOINTS, params={"sort": "created_at", "page_size": 2}).json()
        assert ([each["id"] for each in page["results"]], page["count"]) == (made[:2], 3)
        cursor = page["page_info"]["next_cursor"]
        rest = owner.api.get(ENDPOINTS, params={"sort": "created_at", "cursor": cursor}).json()
        assert [each["id"] for each in rest["results"]] == made[2:]


class TestGetWebhookEndpoint:
    def test_another_partners_is_not_found(
        self, own_server: ApiServer, hook: dict[str, Any]
    ) -> None:
        other = own_server.partner("Other").api
        for answer in (
            other.get(path(hook)),
            other.patch(path(hook), json={"ordered": True}),
            other.delete(path(hook)),
            other.post(path(hook, "rotate-secret/")),
            other.post(path(hook, "test/")),
            other.get(path(hook, "deliveries/")),
            other.post(path(hook, f"deliveries/{uuid4()}/retry/")),
            other.post(path(hook, "replay/"), json={"business_id": str(uuid4())}),
        ):
            assert refused(answer) == (404, "webhook_endpoint_not_found")


class TestUpdateWebhookEndpoint:
    def test_changes_what_is_sent(self, owner: Partner, hook: dict[str, Any]) -> None:
        body = {"types": ["invoice.*"], "ordered": True, "is_active": False}
        answer = owner.api.patch(path(hook), json=body, headers={"If-Match": '"1"'})
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        changed = answer.json()
        assert (changed["types"], changed["ordered"]) == (["invoice.*"], True)
        assert (changed["is_active"], changed["status"]) == (False, "paused")
        assert changed["url"] == HOOK
        again = owner.api.patch(path(hook), json={"types": None, "is_active": True}).json()
        assert (again["types"], again["status"]) == (None, "active")

    def test_checks_the_url_again(self, owner: Partner, hook: dict[str, Any]) -> None:
        answer = owner.api.patch(path(hook), json={"url": "https://192.168.1.1/"})
        assert refused(answer) == (422, "webhook_url_refused")
        assert shown(owner, hook)["url"] == HOOK

    def test_pauses_an_endpoint_whose_host_is_gone(
        self, own_server: ApiServer, owner: Partner, hook: dict[str, Any]
    ) -> None:
        own_server.query(
            "UPDATE webhook_endpoint SET url = 'https://gone.invalid/' WHERE id = %s RETURNING id",
            hook["id"],
        )
        answer = owner.api.patch(path(hook), json={"is_active": False})
        assert (answer.status_code, answer.json()["status"]) == (200, "paused")

    def test_of_an_old_version_is_refused(self, owner: Partner, hook: dict[str, Any]) -> None:
        stale = {"If-Match": '"9"'}
        for answer in (
            owner.api.patch(path(hook), json={"ordered": True}, headers=stale),
            owner.api.post(path(hook, "rotate-secret/"), headers=stale),
            owner.api.delete(path(hook), headers=stale),
        ):
            assert refused(answer) == (412, "precondition_failed")

    def test_a_repeat_with_its_key_is_the_same(self, owner: Partner, hook: dict[str, Any]) -> None:
        keyed = {"Idempotency-Key": "pause"}
        first = owner.api.patch(path(hook), json={"is_active": False}, headers=keyed)
        second = owner.api.patch(path(hook), json={"is_active": False}, headers=keyed)
        assert first.content == second.content
        assert second.headers["idempotent-replayed"] == "true"
        other = owner.api.patch(path(hook), json={"is_active": True}, headers=keyed)
        assert refused(other) == (422, "idempotency_key_reused")

    def test_an_unknown_business_or_an_empty_body_changes_nothing(
        self, owner: Partner, hook: dict[str, Any]
    ) -> None:
        unknown = owner.api.patch(path(hook), json={"business_ids": [str(uuid4())]})
        assert refused(unknown) == (422, "reference_not_found")
        nothing = owner.api.patch(path(hook), json={})
        assert (nothing.status_code, nothing.headers["etag"]) == (200, '"1"')
        wrong = owner.api.patch(path(hook), json={"is_active": "yes"})
        assert refused(wrong) == (400, "validation_error")

    def test_what_waits_at_a_paused_endpoint_is_sent_later(
        self, own_server: ApiServer, owner: Partner
    ) -> None:
        shop = owner.business()
        with receiving() as receiver:
            hook = endpoint(owner, receiver.url(), types=["customer.created"])
            owner.api.patch(path(hook), json={"is_active": False})
            shop.customer()
            delivered(own_server)
            assert receiver.requests == []
            owner.api.patch(path(hook), json={"is_active": True})
            delivered(own_server)
            assert len(receiver.requests) == 1


class TestDeleteWebhookEndpoint:
    def test_nothing_more_is_sent(self, own_server: ApiServer, owner: Partner) -> None:
        shop = owner.business()
        with receiving() as receiver:
            hook = endpoint(owner, receiver.url(), types=["customer.created"])
            shop.customer()
            assert owner.api.delete(path(hook)).json() == {"deleted": True}
            delivered(own_server)
            assert receiver.requests == []
        assert refused(owner.api.get(path(hook))) == (404, "webhook_endpoint_not_found")
        assert own_server.query(
            "SELECT count(*) FROM webhook_secret WHERE endpoint_id = %s", hook["id"]
        ) == [(0,)]


class TestRotateWebhookSecret:
    def test_makes_another_secret(self, owner: Partner, hook: dict[str, Any]) -> None:
        answer = owner.api.post(path(hook, "rotate-secret/"))
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert answer.json()["secret"] not in (None, hook["secret"])


class TestTestWebhookEndpoint:
    def test_sends_a_signed_ping_and_tells_what_came_back(self, owner: Partner) -> None:
        with receiving(lambda _: (418, {}, "short and stout")) as receiver:
            hook = endpoint(owner, receiver.url())
            tested = owner.api.post(path(hook, "test/")).json()
            [request] = receiver.requests
        request.verify(hook["secret"])
        assert request.event["type"] == "ping"
        milliseconds = tested.pop("milliseconds")
        assert tested == {
            "delivered": False,
            "status_code": 418,
            "answer": "short and stout",
            "error": None,
        }
        assert milliseconds >= 0
        assert deliveries(owner, hook) == []

    def test_tells_that_nobody_answers(self, owner: Partner) -> None:
        with receiving() as receiver:
            hook = endpoint(owner, receiver.url())
        tested = owner.api.post(path(hook, "test/")).json()
        assert (tested["delivered"], tested["status_code"]) == (False, None)
        assert tested["error"] == "No connection could be made."

    def test_with_a_key_sends_once(self, owner: Partner) -> None:
        with receiving() as receiver:
            hook = endpoint(owner, receiver.url())
            keyed = {"Idempotency-Key": "ping"}
            first, second = (owner.api.post(path(hook, "test/"), headers=keyed) for _ in range(2))
            assert first.json()["delivered"]
            assert first.content == second.content
            assert len(receiver.requests) == 1

    def test_holds_no_connection_to_the_database_meanwhile(
        self, own_server: ApiServer, owner: Partner
    ) -> None:
        """Look at the transactions of the server while a receiver does not answer."""
        waiting: list[Any] = []

        def answer(_: object) -> tuple[int, dict[str, str], str]:
            waiting.extend(
                own_server.query(
                    "SELECT state FROM pg_stat_activity WHERE datname = current_database()"
                    " AND application_name = 'accounting' AND state <> 'idle'"
                )
            )
            return 200, {}, ""

        with receiving(answer) as receiver:
            hook = endpoint(owner, receiver.url())
            assert owner.api.post(path(hook, "test/")).json()["delivered"]
            assert len(receiver.requests) == 1
        assert waiting == []

    def test_ends_if_nobody_answers(self, owner: Partner, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("handlers.platform.webhook_endpoints.PING_SECONDS", 0.3)
        with receiving(lambda _: (0, {}, "")) as receiver:
            hook = endpoint(owner, receiver.url())
            found = owner.api.post(path(hook, "test/")).json()
        assert (found["delivered"], found["status_code"]) == (False, None)

    def test_of_a_host_that_has_become_private_is_refused(
        self, own_server: ApiServer, owner: Partner, hook: dict[str, Any]
    ) -> None:
        own_server.query(
            "UPDATE webhook_endpoint SET url = 'https://10.0.0.1/' WHERE id = %s RETURNING id",
            hook["id"],
        )
        answer = owner.api.post(path(hook, "test/"))
        assert refused(answer) == (422, "webhook_url_refused")

    def test_a_secret_that_nobody_can_read_is_rotated(
        self, own_server: ApiServer, owner: Partner
    ) -> None:
        with receiving() as receiver:
            hook = endpoint(owner, receiver.url())
            own_server.query(
                "UPDATE webhook_secret SET key_name = 'gone' WHERE endpoint_id = %s RETURNING id",
                hook["id"],
            )
            answer = owner.api.post(path(hook, "test/"))
            assert answer.status_code == 409
            assert is_as_shown("WebhookSecretUnreadable", answer)
            owner.api.post(path(hook, "rotate-secret/"))
            assert owner.api.post(path(hook, "test/")).json()["delivered"]


class TestListWebhookDeliveries:
    def test_filters_by_status_business_and_event(
        self, own_server: ApiServer, owner: Partner
    ) -> None:
        shops = [owner.business(), owner.business()]
        with receiving() as receiver:
            hook = endpoint(owner, receiver.url(), types=["customer.created"])
            for each in shops:
                each.customer()
            delivered(own_server)
        both = deliveries(owner, hook)
        assert {each["business_id"] for each in both} == {each.id for each in shops}
        one = both[0]
        assert deliveries(owner, hook, business_id=one["business_id"]) == [one]
        assert deliveries(owner, hook, event_id=one["event_id"]) == [one]
        assert deliveries(owner, hook, status="failed") == []


class TestRetryWebhookDelivery:
    def test_sends_a_delivered_event_again(self, own_server: ApiServer, owner: Partner) -> None:
        shop = owner.business()
        with receiving() as receiver:
            hook = endpoint(owner, receiver.url(), types=["customer.created"])
            shop.customer()
            delivered(own_server)
            [done] = deliveries(owner, hook)
            due = owner.api.post(path(hook, f"deliveries/{done['id']}/retry/")).json()
            assert (due["status"], due["attempts"]) == ("pending", 0)
            delivered(own_server)
            first, second = receiver.requests
        assert first.headers["webhook-id"] == second.headers["webhook-id"]

    def test_an_unknown_delivery_is_not_found(self, owner: Partner, hook: dict[str, Any]) -> None:
        answer = owner.api.post(path(hook, f"deliveries/{uuid4()}/retry/"))
        assert refused(answer) == (404, "webhook_delivery_not_found")


class TestReplayWebhookEvents:
    def test_sends_events_from_before_the_endpoint_in_their_range(
        self, own_server: ApiServer, owner: Partner
    ) -> None:
        shop = owner.business()
        start = head_of(shop)
        for _ in range(5):
            shop.customer()
        with receiving() as receiver:
            hook = endpoint(owner, receiver.url(), types=["customer.*"])
            body = {"business_id": shop.id, "after": start + 1, "until": start + 3}
            assert owner.api.post(path(hook, "replay/"), json=body).json() == {
                "business_id": shop.id,
                "replayed": 2,
                "last_sequence": start + 3,
                "has_more": False,
            }
            delivered(own_server)
            got = sorted(each.event["sequence"] for each in receiver.requests)
            assert got == [start + 2, start + 3]
            again = owner.api.post(path(hook, "replay/"), json=body).json()
            assert again["replayed"] == 2
            delivered(own_server)
        ids = [each.headers["webhook-id"] for each in receiver.requests]
        assert len(ids) == 4
        assert len(set(ids)) == 2

    def test_goes_on_after_a_thousand_events(
        self, own_server: ApiServer, owner: Partner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("persistence.partners.replays.MOST_REPLAYED", 3)
        shop = owner.business()
        start = head_of(shop)
        for _ in range(4):
            shop.customer()
        hook = endpoint(owner, HOOK)
        body = {"business_id": shop.id, "after": start}
        first = owner.api.post(path(hook, "replay/"), json=body).json()
        assert (first["replayed"], first["last_sequence"], first["has_more"]) == (
            3, start + 3, True,
        )  # fmt: skip
        rest = owner.api.post(path(hook, "replay/"), json={**body, "after": start + 3}).json()
        assert (rest["replayed"], rest["has_more"]) == (1, False)
        nothing = owner.api.post(path(hook, "replay/"), json={**body, "after": 10**9}).json()
        assert (nothing["replayed"], nothing["last_sequence"]) == (0, 10**9)

    def test_of_another_partners_business_is_not_found(
        self, own_server: ApiServer, owner: Partner, hook: dict[str, Any]
    ) -> None:
        theirs = own_server.partner("Other").business()
        answer = owner.api.post(path(hook, "replay/"), json={"business_id": theirs.id})
        assert refused(answer) == (422, "reference_not_found")
        assert NOT_YOURS in answer.text
        assert deliveries(owner, hook) == []


def head_of(shop: Business) -> int:
    head: int = shop.api.get("events/?page_size=1").json()["head_sequence"]
    return head
