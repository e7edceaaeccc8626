"""The feed of a business: the events of a change, in which order, and what a reader may ask."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any

import pytest

from persistence.engine.sql import Fetch
from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.sales import part as share
from tests.builders.sales import payment_body, sent
from tests.partner import Business, Partner

Record = dict[str, Any]


def feed(shop: Business, **query: Any) -> Record:
    """Return an answer of the feed."""
    answer = shop.api.get("events/", params={"page_size": 500, **query})
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()
    return found


def head(shop: Business) -> int:
    """Return the sequence of the newest event."""
    newest: int = feed(shop)["head_sequence"]
    return newest


def told(shop: Business, after: int, **query: Any) -> list[str]:
    """Return the types of the events after a sequence."""
    return [each["type"] for each in feed(shop, after=after, **query)["results"]]


class TestListEvents:
    def test_a_payment_tells_of_itself_then_of_its_invoices_then_of_its_entries(
        self, shop: Business, buyer: Record
    ) -> None:
        first, second = sent(shop, buyer, 100), sent(shop, buyer, 200)
        before = head(shop)
        body = payment_body(buyer, 150, allocations=[share(first, 100), share(second, 50)])
        headers = {"x-request-id": "till-7"}
        answer = shop.api.post("invoices/payments/", json=body, headers=headers)
        found = feed(shop, after=before)
        events = found["results"]
        assert [each["type"] for each in events] == [
            *("invoice_payment.created", "invoice.paid", "invoice.partially_paid"),
            "journal_entry.posted",
        ]
        assert [each["sequence"] for each in events] == [*range(before + 1, before + 5)]
        assert answer.headers["x-event-sequence"] == str(before + 4)
        assert {each["cause"]["request_id"] for each in events} == {"till-7"}
        paid = events[1]
        assert paid["object"] == {
            "type": "invoice",
            "id": first["id"],
            "external_id": first["external_id"],
            "version": 2,
            "url": f"/v1/platform/businesses/{shop.id}/invoices/{first['id']}/",
        }
        assert (paid["previous_status"], paid["status"]) == ("sent", "paid")
        assert (paid["change"], paid["is_sandbox"]) == ("updated", False)
        assert events[0]["journal_entry_ids"] == [events[-1]["object"]["id"]]
        assert events[0]["object"]["id"] in answer.text
        assert (found["last_sequence"], found["has_more"]) == (before + 4, False)

    def test_a_repeat_answers_the_sequence_of_the_first(self, shop: Business) -> None:
        headers = {"idempotency-key": "once"}
        body = {"company_name": "Twice"}
        first, second = (shop.api.post("customers/", json=body, headers=headers) for _ in range(2))
        assert second.headers["idempotent-replayed"] == "true"
        assert first.headers["x-event-sequence"] == second.headers["x-event-sequence"]
        assert head(shop) == int(first.headers["x-event-sequence"])

    def test_refusals_previews_and_reads_tell_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        before = head(shop)
        body = payment_body(buyer, 100)
        answer = shop.api.post("invoices/payments/", params={"preview": True}, json=body)
        assert "x-event-sequence" not in answer.headers
        ledger.refused("POST", "invoices/payments/", json=payment_body(buyer, -1))
        ledger.refused("POST", "customers/", json={})
        assert head(shop) == before

    def test_types_and_objects_narrow_it(self, shop: Business, buyer: Record) -> None:
        before = head(shop)
        invoice = sent(shop, buyer, 100)
        assert told(shop, before, types="invoice.*") == ["invoice.created"]
        assert told(shop, before, types="invoice.paid,journal_entry.posted") == [
            "journal_entry.posted"
        ]
        assert told(shop, 0, object_id=invoice["id"]) == ["invoice.created"]
        empty = feed(shop, after=before, types="bill.*")
        assert (empty["results"], empty["last_sequence"]) == ([], before)

    def test_pages_join_without_gaps(self, shop: Business) -> None:
        for name in "abc":
            shop.api.post("customers/", json={"company_name": name})
        newest, seen, after = head(shop), [], 0
        while (page := feed(shop, after=after, page_size=7))["results"]:
            seen += [each["sequence"] for each in page["results"]]
            after = page["last_sequence"]
        assert seen == [*range(1, newest + 1)]

    def test_beyond_the_newest_there_is_nothing(self, shop: Business) -> None:
        beyond = head(shop) + 10
        found = feed(shop, after=beyond)
        assert (found["results"], found["last_sequence"]) == ([], beyond)

    def test_after_is_at_most_what_an_answer_can_show(self, shop: Business) -> None:
        most = 2**53 - 1
        assert feed(shop, after=most)["last_sequence"] == most
        assert shop.api.get("events/", params={"after": most + 1}).status_code == 400

    def test_it_waits_for_the_next_event(self, shop: Business) -> None:
        before, began = head(shop), monotonic()
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(feed, shop, after=before, wait=20)
            shop.api.post("customers/", json={"company_name": "At last"})
            assert [each["type"] for each in waiting.result()["results"]] == ["customer.created"]
        assert monotonic() - began < 15

    @pytest.mark.parametrize(
        "asked", [{"types": "paid"}, {"after": -1}, {"page_size": 501}, {"wait": 21}]
    )
    def test_wrong_questions_are_refused(self, shop: Business, asked: Record) -> None:
        answer = shop.api.get("events/", params=asked)
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == [
            name if name != "types" else "types.0" for name in asked
        ]


@pytest.fixture
def lone(own_server: ApiServer) -> Partner:
    """A partner without businesses."""
    return own_server.partner("Lone")


class TestListPartnerEvents:
    def test_it_has_the_events_of_all_businesses_each_in_its_order(self, lone: Partner) -> None:
        shops = [lone.business(), lone.business()]
        for name in "abc":
            for shop in shops:
                shop.api.post("customers/", json={"company_name": name})
        told: dict[str, list[int]] = {}
        for event in every_event(lone, page_size=11):
            told.setdefault(event["business_id"], []).append(event["sequence"])
        assert told == {each.id: [*range(1, head(each) + 1)] for each in shops}
        assert {each["business_external_id"] for each in every_event(lone)} == {
            each.record["external_id"] for each in shops
        }

    def test_it_goes_on_after_the_cursor(self, lone: Partner) -> None:
        shop = lone.business()
        read = partner_feed(lone, page_size=500)
        assert (read["has_more"], partner_feed(lone, after=read["next_cursor"])["results"]) == (
            *(False,),
            [],
        )
        shop.api.post("customers/", json={"company_name": "New"})
        [event] = partner_feed(lone, after=read["next_cursor"])["results"]
        assert event["type"] == "customer.created"
        assert event == feed(shop, after=head(shop) - 1)["results"][0]

    def test_types_narrow_it(self, lone: Partner) -> None:
        lone.business()
        types = [each["type"] for each in every_event(lone, types="business.*")]
        assert types == ["business.created"]

    @pytest.mark.parametrize("types", [{}, {"types": "customer.*,account.created"}])
    def test_a_page_reads_no_event_that_it_does_not_show(
        self, lone: Partner, monkeypatch: pytest.MonkeyPatch, types: Record
    ) -> None:
        for _ in range(3):
            shop = lone.business()
            for _ in range(3):
                shop.customer()
        whole = every_event(lone, page_size=500, **types)
        read: list[int] = []

        def fetch(session: Any, queries: Any, answer: Callable[[Any], Any]) -> Fetch[Any]:
            def counted(answers: Any) -> Any:
                read.extend(1 for rows in answers for row in rows if "object_id" in row)
                return answer(answers)

            return Fetch(session, queries, counted)

        monkeypatch.setattr("persistence.partners.event_feed.Fetch", fetch)
        assert every_event(lone, page_size=7, **types) == whole
        assert len(read) == len(whole)


def partner_feed(partner: Partner, **query: Any) -> Record:
    """Return an answer of the feed of a partner."""
    answer = partner.api.get("/v1/platform/events/", params=query)
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()
    return found


def every_event(partner: Partner, **query: Any) -> list[Record]:
    """Return all events of a partner, page by page."""
    page = partner_feed(partner, **query)
    events = page["results"]
    while page["has_more"]:
        page = partner_feed(partner, **query, after=page["next_cursor"])
        events += page["results"]
    return [*events]
