"""The audit trail over HTTP: who changed what, when, and in which request."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.journal_entries import drafted, moved
from tests.builders.sales import invoice_body, paid, part, payment_body, sent
from tests.builders.trade import SENT
from tests.partner import Business, Partner

Record = dict[str, Any]
Trail = tuple[Business, list[Record]]


def trail(shop: Business, **query: Any) -> list[Record]:
    """Return the records of the trail, the newest first."""
    answer = shop.api.get("audit/", params={"page_size": 100, **query})
    assert answer.status_code == 200, answer.text
    results: list[Record] = answer.json()["results"]
    return results


def changes_of(records: list[Record]) -> list[tuple[str, str]]:
    """Return the type of object and the change of each record, the oldest first."""
    return [(each["object_type"], each["change"]) for each in reversed(records)]


def change(client: httpx.Client, shop: Business, request_id: str, **facts: Any) -> None:
    """Change a business as its partner."""
    path = f"/v1/platform/businesses/{shop.id}/"
    answer = client.patch(path, json=facts, headers={"x-request-id": request_id})
    assert answer.status_code == 200, answer.text


class TestListAuditRecords:
    def test_a_record_has_action_caller_time_and_request(self, shop: Business) -> None:
        before = datetime.now(UTC)
        headers = {"x-request-id": "welcome.1"}
        answer = shop.api.post("customers/", json={"company_name": "New"}, headers=headers)
        [record] = trail(shop, request_id="welcome.1")
        assert before <= datetime.fromisoformat(record["created_at"]) <= datetime.now(UTC)
        assert len(record["after_digest"]) == 64
        assert {**record, "id": "", "created_at": "", "after_digest": ""} == {
            "id": "",
            "created_at": "",
            "object_type": "customer",
            "object_id": answer.json()["id"],
            "action": "create_customer",
            "change": "insert",
            "actor": {
                "kind": "business_token",
                "partner_id": str(shop.partner.partner_id),
                "key_id": None,
            },
            "request_id": "welcome.1",
            "before_digest": None,
            "after_digest": "",
            "changes": None,
        }

    def test_a_record_has_the_credential_of_the_partner(
        self, acme: Partner, shop: Business
    ) -> None:
        partner = {"partner_id": str(acme.partner_id)}
        key_id = acme.api_key.split("_")[2][:8]
        for client, kind, key in (
            (acme.key, "partner_key", key_id),
            (acme.api, "partner_token", None),
        ):
            path = f"/v1/platform/businesses/{shop.id}/customers/"
            client.post(path, json={"company_name": "New"}, headers={"x-request-id": kind})
            [record] = trail(shop, request_id=kind)
            assert record["actor"] == {"kind": kind, **partner, "key_id": key}

    def test_a_request_leaves_a_record_of_each_changed_object(
        self, shop: Business, buyer: Record
    ) -> None:
        first, second = sent(shop, buyer, 100), sent(shop, buyer, 100)
        parts = [part(first, 100), part(second, 50)]
        body = payment_body(buyer, 200, allocations=parts)
        answer = shop.api.post("invoices/payments/", json=body)
        records = trail(shop, request_id=answer.headers["x-request-id"])
        assert {each["action"] for each in records} == {"create_invoice_payment"}
        assert sorted(changes_of(records)) == [
            ("invoice", "update"),
            ("invoice", "update"),
            ("invoice_payment", "insert"),
            ("journal_entry", "insert"),
        ]
        invoices = {each["object_id"] for each in records if each["object_type"] == "invoice"}
        assert invoices == {first["id"], second["id"]}

    def test_the_records_of_an_object_are_a_chain_of_digests(
        self, api_server: ApiServer, shop: Business, buyer: Record
    ) -> None:
        draft = shop.made("invoices/", invoice_body(buyer))
        shop.api.put(f"invoices/{draft['id']}/", json={**invoice_body(buyer), "memo": "Changed"})
        shop.api.post(f"invoices/{draft['id']}/send/", json={"sent_at": SENT})
        sent_, replaced, made = trail(shop, object_id=draft["id"])
        actions = [each["action"] for each in (made, replaced, sent_)]
        assert actions == ["create_invoice", "replace_invoice", "send_invoice"]
        assert made["before_digest"] is None
        assert replaced["before_digest"] == made["after_digest"]
        assert sent_["before_digest"] == replaced["after_digest"] != sent_["after_digest"]
        [[digest]] = api_server.query(
            "SELECT encode(digest, 'hex') FROM audit_record_rows(%s) WHERE object_id = %s",
            shop.id,
            UUID(draft["id"]),
        )
        assert sent_["after_digest"] == digest

    def test_a_deleted_object_keeps_its_records(self, shop: Business, buyer: Record) -> None:
        draft = shop.made("invoices/", invoice_body(buyer))
        assert shop.api.delete(f"invoices/{draft['id']}/").status_code == 200
        gone, made = trail(shop, object_id=draft["id"])
        assert (gone["action"], gone["change"]) == ("delete_invoice", "delete")
        assert (gone["before_digest"], gone["after_digest"]) == (made["after_digest"], None)

    def test_an_approved_draft_is_one_object_in_the_trail(self, shop: Business) -> None:
        draft = drafted(shop)
        moved(shop, draft, "approve")
        records = trail(shop, object_id=draft["id"])
        assert {each["object_type"] for each in records} == {"journal_entry"}
        changes = [(each["action"], each["change"]) for each in records]
        assert changes[-1] == ("create_journal_entry", "insert")
        assert sorted(changes[:-1]) == [
            ("approve_journal_entry", "delete"),
            ("approve_journal_entry", "insert"),
        ]

    def test_a_request_that_changes_nothing_leaves_no_record(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100, external_id="once")
        body, key = payment_body(buyer, 50), {"idempotency-key": "audited-once"}
        shop.api.post("invoices/payments/", json=body, headers=key)
        before = trail(shop)
        path = "invoices/payments/"
        with ledger.untouched():
            shop.api.post(path, json=body, headers=key)
            shop.api.post(path, json=payment_body(buyer, 100), params={"preview": "true"})
            shop.api.post(path, json=payment_body(buyer, 1, allocations=[part(invoice, 2)]))
            shop.api.post("invoices/", json=invoice_body(buyer, external_id="once"))
            shop.api.patch(f"customers/{buyer['id']}/", json={})
        assert trail(shop) == before

    def test_the_newest_record_comes_first(self, shop: Business) -> None:
        moments = [each["created_at"] for each in trail(shop)]
        assert len(moments) > 20
        assert moments == sorted(moments, reverse=True)

    def test_an_archived_business_keeps_its_trail(self, acme: Partner) -> None:
        shop = acme.business()
        for verb in ("archive", "unarchive", "archive"):
            acme.api.post(f"/v1/platform/businesses/{shop.id}/{verb}/")
        records = trail(shop, object_type="business")
        actions = [each["action"].removesuffix("_business") for each in reversed(records)]
        assert actions == ["create", "archive", "unarchive", "archive"]
        assert {each["object_id"] for each in records} == {shop.id}
        chart = trail(shop, object_type="account")
        assert {(each["action"], each["change"]) for each in chart} == {
            ("create_business", "insert")
        }


class TestLockDates:
    def test_a_moved_lock_date_is_recorded_with_both_days(self, acme: Partner) -> None:
        shop = acme.business()
        change(acme.key, shop, "close-march", lock_date="2025-03-31")
        change(acme.api, shop, "close-april", lock_date="2025-04-30", name="Renamed")
        change(acme.api, shop, "open-again", lock_date=None)
        change(acme.api, shop, "renamed", name="Renamed again")
        renamed, opened, april, march, _ = trail(shop, object_type="business")
        days = [each["changes"] for each in (march, april, opened)]
        assert days == [
            {"lock_date": {"from": None, "to": "2025-03-31"}},
            {"lock_date": {"from": "2025-03-31", "to": "2025-04-30"}},
            {"lock_date": {"from": "2025-04-30", "to": None}},
        ]
        requests = [each["request_id"] for each in (march, april, opened)]
        assert requests == ["close-march", "close-april", "open-again"]
        kinds = [each["actor"]["kind"] for each in (march, april, opened)]
        assert kinds == ["partner_key", "partner_token", "partner_token"]
        assert {each["action"] for each in (march, opened, renamed)} == {"update_business"}
        assert renamed["changes"] is None

    def test_changes_of_method_fiscal_year_and_time_zone_are_recorded(self, acme: Partner) -> None:
        shop = acme.business(accounting_method="accrual", fiscal_year_end="2000-12-31")
        settings = {"fiscal_year_end": "2000-06-30", "timezone": "Europe/London"}
        change(acme.api, shop, "other", accounting_method="cash", **settings)
        changed, opened = trail(shop, object_type="business")
        assert opened["changes"] == {
            "accounting_method": {"from": None, "to": "accrual"},
            "fiscal_year_end": {"from": None, "to": "2000-12-31"},
            "timezone": {"from": None, "to": "UTC"},
        }
        assert changed["changes"] == {
            "accounting_method": {"from": "accrual", "to": "cash"},
            "fiscal_year_end": {"from": "2000-12-31", "to": "2000-06-30"},
            "timezone": {"from": "UTC", "to": "Europe/London"},
        }

    def test_a_repeated_lock_date_leaves_no_record(self, acme: Partner) -> None:
        shop = acme.business()
        for name in ("first", "again"):
            change(acme.api, shop, name, lock_date="2025-03-31")
        assert trail(shop, request_id="again") == []


@pytest.fixture(scope="module")
def trailed(acme: Partner) -> Trail:
    """A new business and its whole trail, the oldest record first."""
    shop = acme.business()
    buyer = shop.customer()
    invoice = sent(shop, buyer, 100)
    paid(shop, buyer, 100, part(invoice, 100))
    path = f"/v1/platform/businesses/{shop.id}/customers/{shop.customer()['id']}/archive/"
    acme.key.post(path, headers={"x-request-id": "archiving"})
    return shop, list(reversed(trail(shop)))


class TestFilters:
    @pytest.mark.parametrize(
        "query",
        [
            {"object_type": "invoice"},
            {"object_type": "payout"},
            {"change": "update"},
            {"change": "delete"},
            {"action": "create_customer"},
            {"action": "create"},
            {"request_id": "archiving"},
            {"request_id": "archivin"},
            {"object_type": "customer", "change": "insert"},
        ],
        ids=str,
    )
    def test_a_filter_selects_matching_records(self, trailed: Trail, query: dict[str, str]) -> None:
        shop, records = trailed
        expected = [each for each in records if query.items() <= each.items()]
        assert trail(shop, sort="created_at", **query) == expected

    def test_the_actor_is_found_by_kind_and_key(self, trailed: Trail) -> None:
        shop, records = trailed
        for kind in ("partner_key", "partner_token", "business_token", "operator"):
            expected = [each for each in records if each["actor"]["kind"] == kind]
            assert trail(shop, sort="created_at", actor_kind=kind) == expected
        [archived] = trail(shop, actor_kind="partner_key")
        assert trail(shop, key_id=archived["actor"]["key_id"]) == [archived]
        assert trail(shop, key_id="00000000") == []

    def test_a_moment_far_away_selects_all_records_or_none(self, trailed: Trail) -> None:
        shop, records = trailed
        past, future = "1900-01-01T00:00:00Z", "2199-12-31T23:59:59Z"
        assert trail(shop, created_at_from=past) == trail(shop, created_at_to=future)
        assert trail(shop, created_at_from=past) == list(reversed(records))
        assert trail(shop, created_at_from=future) == trail(shop, created_at_to=past) == []
