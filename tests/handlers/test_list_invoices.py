"""list_invoices and get_invoice: what is shown, filtered, sorted and paged."""

from datetime import timedelta
from typing import Any

import pytest

from tests.bookkeeping import Ledger, today
from tests.handlers.bodies import NOBODY, Record, invoice_body, line, paid, part, sent
from tests.partnership import Business, Partnership

LATER = f"{today() + timedelta(days=40)}T00:00:00Z"
STATUSES = (
    "draft",
    "sent",
    "partially_paid",
    "overdue",
    "partially_written_off",
    "paid",
    "written_off",
    "refunded",
    "voided",
)


@pytest.fixture(scope="module")
def drawer(acme: Partnership) -> Business:
    return acme.business()


@pytest.fixture(scope="module")
def every_status(drawer: Business) -> dict[str, Record]:
    """One invoice in every status."""
    buyer = drawer.customer(company_name="Tall Ship", external_id="tall-ship")
    other = drawer.customer(company_name="Small Boat")
    made = {
        "draft": drawer.made("invoices/", invoice_body(buyer, line(100), memo="Harbour dues")),
        "sent": sent(drawer, buyer, 200, external_id="fifty_five%"),
        "partially_paid": sent(drawer, buyer, 300, due_at=LATER),
        "overdue": sent(drawer, other, 400, due_at="2025-03-20T00:00:00Z"),
        "partially_written_off": sent(drawer, buyer, 500, due_at="2025-03-21T00:00:00Z"),
        "paid": sent(drawer, buyer, 600),
        "written_off": sent(drawer, buyer, 700),
        "refunded": sent(drawer, buyer, 800),
        "voided": sent(drawer, buyer, 900, due_at="2025-03-22T00:00:00Z"),
    }
    paid(drawer, buyer, 100, part(made["partially_paid"], 100))
    paid(drawer, buyer, 600, part(made["paid"], 600))
    paid(drawer, buyer, 800, part(made["refunded"], 800))
    drawer.api.post(f"invoices/{made['voided']['id']}/void/")
    drawer.refund(made["refunded"])
    drawer.write_off(made["written_off"])
    drawer.write_off(made["partially_written_off"], amount_cents=50)
    return made


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["id"] for each in answer.json()["results"]]


class TestListInvoices:
    def test_the_status_shown_is_the_status_filtered_by(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        everything = drawer.api.get("invoices/", params={"page_size": 100}).json()["results"]
        shown = {each["id"]: each["status"] for each in everything}
        assert shown == {record["id"]: name for name, record in every_status.items()}
        for name, record in every_status.items():
            assert ids(drawer.api.get("invoices/", params={"status": name})) == [record["id"]]
            assert drawer.api.get(f"invoices/{record['id']}/").json()["status"] == name

    def test_issued_stands_for_what_is_owed(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        found = ids(drawer.api.get("invoices/", params={"status": "issued,draft"}))
        names = ("draft", "sent", "overdue", "partially_paid", "partially_written_off")
        assert set(found) == {every_status[name]["id"] for name in names}

    def test_overdue_is_shown_and_filtered_alike(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        late = {every_status[name]["id"] for name in ("overdue", "partially_written_off")}
        assert set(ids(drawer.api.get("invoices/?is_overdue=true"))) == late
        rest = drawer.api.get("invoices/?is_overdue=false").json()["results"]
        assert {each["id"] for each in rest} == {r["id"] for r in every_status.values()} - late
        assert not any(each["is_overdue"] for each in rest)

    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ({"min_amount": 500, "max_amount": 600}, {"partially_written_off", "paid"}),
            ({"due_at_start": "2025-03-21T00:00:00Z", "due_at_end": LATER},
             {"partially_written_off", "voided", "partially_paid"}),
            ({"due_at_end": "2025-03-20T00:00:00Z"}, {"overdue"}),
            ({"sent_at_start": "2025-03-01T09:00:01Z"}, set()),
            ({"sent_at_start": "2025-03-01T09:00:00Z", "sent_at_end": "2025-03-01T09:00:00Z"},
             set(STATUSES) - {"draft"}),
            ({"memo_contains": "harbour"}, {"draft"}),
            ({"search": "small b"}, {"overdue"}),
            ({"search": "FIFTY_FIVE%"}, {"sent"}),
            ({"search": "fifty.five"}, set()),
            ({"search": "f%five"}, set()),
            ({"external_id": "fifty_five%"}, {"sent"}),
            ({"external_id": "fifty"}, set()),
            ({"customer_external_id": "tall-ship"}, set(STATUSES) - {"overdue"}),
            ({"customer_id": NOBODY}, set()),
            ({"created_at_gte": LATER}, set()),
            ({"created_at_lte": LATER}, set(STATUSES)),
            ({"updated_since": LATER}, set()),
            ({"updated_since": "2025-01-01T00:00:00Z", "min_amount": 900}, {"voided"}),
        ],
    )  # fmt: skip
    def test_it_filters(
        self,
        drawer: Business,
        every_status: dict[str, Record],
        asked: Record,
        names: set[str],
    ) -> None:
        answer = drawer.api.get("invoices/", params=asked)
        assert set(ids(answer)) == {every_status[name]["id"] for name in names}
        assert answer.json()["count"] == len(names)

    def test_it_takes_a_list_of_customers(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        both = {every_status[name]["customer_id"] for name in ("sent", "overdue")}
        asked = {"customer_id": ",".join(both)}
        assert len(ids(drawer.api.get("invoices/", params=asked))) == len(STATUSES)
        one = {"customer_id": every_status["overdue"]["customer_id"]}
        assert ids(drawer.api.get("invoices/", params=one)) == [every_status["overdue"]["id"]]

    @pytest.mark.parametrize(
        "sort", ["sent_at", "due_at", "created_at", "total_amount", "invoice_number"]
    )
    @pytest.mark.parametrize("down", [False, True])
    def test_cursors_walk_every_sort_in_the_order_of_the_whole_list(
        self, drawer: Business, every_status: dict[str, Record], sort: str, down: bool
    ) -> None:
        asked = {"sort": ("-" if down else "") + sort}
        whole = drawer.api.get("invoices/", params={**asked, "page_size": 100}).json()["results"]
        keys = [(each[sort] is not None, each[sort] or "", each["id"]) for each in whole]
        assert keys == sorted(keys, reverse=down)
        walked, cursor = [], None
        while True:
            page = {"page_size": 2, **asked, **({"cursor": cursor} if cursor else {})}
            answer = drawer.api.get("invoices/", params=page).json()
            walked += answer["results"]
            cursor = answer["page_info"]["next_cursor"]
            if cursor is None:
                break
        assert walked == whole
        by_page = [
            each
            for number in range(1, 6)
            for each in drawer.api.get(
                "invoices/", params={**asked, "page": number, "page_size": 2}
            ).json()["results"]
        ]
        assert by_page == whole

    def test_a_page_tells_where_it_stands(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        asked = {"page": 2, "page_size": 4, "sort": "total_amount", "max_amount": 900}
        page = drawer.api.get("invoices/", params=asked).json()
        assert page["count"] == len(STATUSES)
        assert {**page["page_info"], "next_cursor": None} == {
            "total_count": 9,
            "current_page": 2,
            "total_pages": 3,
            "page_size": 4,
            "next_cursor": None,
        }
        after, before = (
            drawer.api.get(f"{drawer.partner.url}{page[each]}").json()
            for each in ("next", "previous")
        )
        assert [each["total_amount"] for each in after["results"]] == [900]
        assert [each["total_amount"] for each in before["results"]] == [100, 200, 300, 400]
        assert (after["next"], before["previous"]) == (None, None)
        past = drawer.api.get("invoices/", params={"page": 99}).json()
        assert (past["results"], past["count"], past["next"]) == ([], 9, None)
        uncounted = drawer.api.get("invoices/", params={"count": False, "page_size": 2}).json()
        assert (uncounted["count"], uncounted["page_info"]["total_pages"]) == (None, None)
        assert uncounted["page_info"]["next_cursor"] is not None

    def test_the_latest_sent_comes_first_and_drafts_last(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        assert ids(drawer.api.get("invoices/"))[-1] == every_status["draft"]["id"]

    def test_a_list_shows_no_lines(self, drawer: Business, every_status: dict[str, Record]) -> None:
        [shown] = drawer.api.get("invoices/?status=paid").json()["results"]
        whole = drawer.api.get(f"invoices/{every_status['paid']['id']}/").json()
        assert shown == {name: whole[name] for name in shown}
        assert "line_items" not in shown

    @pytest.mark.parametrize(
        "asked",
        [
            "status=open",
            "status=",
            "sort=memo",
            "page=0",
            "page_size=101",
            "min_amount=-1",
            "is_overdue=perhaps",
            "cursor=abc",
            "customer_id=x",
            "status=paid&status=sent",
            "colour=blue",
        ],
    )
    def test_it_refuses_what_it_does_not_know(self, drawer: Business, asked: str) -> None:
        answer = drawer.api.get(f"invoices/?{asked}")
        assert answer.status_code == 400
        [field] = answer.json()["detail"]["field_errors"]
        assert field.startswith(asked.partition("=")[0])

    def test_a_cursor_belongs_to_its_sort(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        page = drawer.api.get("invoices/?page_size=1&sort=due_at").json()
        cursor = page["page_info"]["next_cursor"]
        answer = drawer.api.get("invoices/", params={"cursor": cursor, "sort": "-due_at"})
        assert answer.status_code == 400


class TestGetInvoice:
    def test_it_shows_what_settles_it(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        invoice = sent(shop, buyer, 900)
        later = paid(shop, buyer, 300, part(invoice, 200), payment_date="2025-03-12")
        first = paid(shop, buyer, 100, part(invoice, 100), payment_date="2025-03-11")
        waiting = paid(shop, buyer, 50, part(invoice, 50), status="pending")
        shown = shop.api.get(f"invoices/{invoice['id']}/").json()
        assert [
            (each["payment_id"], each["amount_cents"]) for each in shown["payment_allocations"]
        ] == [(waiting["id"], 50), (first["id"], 100), (later["id"], 200)]
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_paid", 600)
        assert shown["credit_allocations"] == shown["refund_allocations"] == []
        assert shown["write_offs"] == []

    def test_its_etag_is_its_version(self, shop: Business, buyer: Record) -> None:
        invoice = sent(shop, buyer)
        assert shop.api.get(f"invoices/{invoice['id']}/").headers["etag"] == '"1"'
        paid(shop, buyer, 10, part(invoice, 10))
        assert shop.api.get(f"invoices/{invoice['id']}/").headers["etag"] == '"2"'

    def test_one_of_another_business_is_not_there(self, shop: Business, rival: Partnership) -> None:
        elsewhere = rival.business()
        foreign = elsewhere.invoice(elsewhere.customer())
        for id_ in (foreign["id"], NOBODY):
            answer = shop.api.get(f"invoices/{id_}/")
            assert (answer.status_code, answer.json()["error_code"]) == (404, "invoice_not_found")
