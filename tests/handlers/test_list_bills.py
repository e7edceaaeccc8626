"""list_bills and get_bill: what is shown, filtered, sorted and paged, and the derived statuses."""

from datetime import timedelta
from typing import Any

import pytest

from tests.bookkeeping import Ledger, today
from tests.handlers.bodies import NOBODY, PAID, Record, line
from tests.handlers.buying import (
    BILLS,
    CREDITS,
    PAYMENTS,
    bill_body,
    paid_out,
    part,
    read,
    received,
    returned,
    share,
    status_of,
)
from tests.partnership import Business, Partnership

LATER = f"{today() + timedelta(days=40)}T00:00:00Z"
STATUSES = ("draft", "received", "partially_paid", "overdue", "paid", "voided")


@pytest.fixture(scope="module")
def drawer(acme: Partnership) -> Business:
    return acme.business()


@pytest.fixture(scope="module")
def every_status(drawer: Business) -> dict[str, Record]:
    """One bill in every status that no refund makes."""
    vendor = drawer.vendor(company_name="Tall Ship", external_id="tall-ship")
    other = drawer.vendor(company_name="Small Boat")
    made = {
        "draft": drawer.made(BILLS, bill_body(vendor, line(100), memo="Harbour dues")),
        "received": received(
            drawer, vendor, 200, external_id="fifty_five%", vendor_bill_number="GBI-22"
        ),
        "partially_paid": received(drawer, vendor, 300, due_at=LATER),
        "overdue": received(drawer, other, 400, due_at="2025-03-20T00:00:00Z"),
        "paid": received(drawer, vendor, 600),
        "voided": received(drawer, vendor, 900, due_at="2025-03-22T00:00:00Z"),
    }
    paid_out(drawer, vendor, 100, part(made["partially_paid"], 100))
    paid_out(drawer, vendor, 600, part(made["paid"], 600))
    drawer.api.post(f"{BILLS}{made['voided']['id']}/void/")
    return made


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["id"] for each in answer.json()["results"]]


class TestListBills:
    def test_the_status_shown_is_the_status_filtered_by(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        everything = drawer.api.get(BILLS, params={"page_size": 100}).json()["results"]
        shown = {each["id"]: each["status"] for each in everything}
        assert shown == {record["id"]: name for name, record in every_status.items()}
        for name, record in every_status.items():
            assert ids(drawer.api.get(BILLS, params={"status": name})) == [record["id"]]
            assert read(drawer, BILLS, record)["status"] == name
        assert ids(drawer.api.get(BILLS, params={"status": "refunded"})) == []

    def test_issued_stands_for_what_is_owed(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        found = ids(drawer.api.get(BILLS, params={"status": "issued,draft"}))
        names = ("draft", "received", "overdue", "partially_paid")
        assert set(found) == {every_status[name]["id"] for name in names}

    def test_overdue_is_shown_and_filtered_alike(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        assert ids(drawer.api.get(f"{BILLS}?is_overdue=true")) == [every_status["overdue"]["id"]]
        rest = drawer.api.get(f"{BILLS}?is_overdue=false").json()["results"]
        assert len(rest) == len(STATUSES) - 1
        assert not any(each["is_overdue"] for each in rest)

    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ({"min_amount": 300, "max_amount": 400}, {"partially_paid", "overdue"}),
            ({"due_at_start": "2025-03-21T00:00:00Z", "due_at_end": LATER},
             {"voided", "partially_paid"}),
            ({"due_at_end": "2025-03-20T00:00:00Z"}, {"overdue"}),
            ({"received_at_start": "2025-03-03T09:00:01Z"}, set()),
            ({"received_at_start": "2025-03-03T09:00:00Z",
              "received_at_end": "2025-03-03T09:00:00Z"}, set(STATUSES) - {"draft"}),
            ({"memo_contains": "harbour"}, {"draft"}),
            ({"search": "small b"}, {"overdue"}),
            ({"search": "FIFTY_FIVE%"}, {"received"}),
            ({"search": "gbi-2"}, {"received"}),
            ({"search": "f%five"}, set()),
            ({"external_id": "fifty_five%"}, {"received"}),
            ({"vendor_external_id": "tall-ship"}, set(STATUSES) - {"overdue"}),
            ({"vendor_id": NOBODY}, set()),
            ({"created_at_gte": LATER}, set()),
            ({"created_at_lte": LATER}, set(STATUSES)),
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
        answer = drawer.api.get(BILLS, params=asked)
        assert set(ids(answer)) == {every_status[name]["id"] for name in names}
        assert answer.json()["count"] == len(names)

    def test_its_own_number_is_searched_too(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        bill = every_status["paid"]
        assert ids(drawer.api.get(BILLS, params={"search": bill["bill_number"].lower()})) == [
            bill["id"]
        ]

    def test_it_takes_a_list_of_vendors(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        both = {every_status[name]["vendor_id"] for name in ("received", "overdue")}
        asked = {"vendor_id": ",".join(both)}
        assert len(ids(drawer.api.get(BILLS, params=asked))) == len(STATUSES)
        one = {"vendor_id": every_status["overdue"]["vendor_id"]}
        assert ids(drawer.api.get(BILLS, params=one)) == [every_status["overdue"]["id"]]

    @pytest.mark.parametrize(
        "sort", ["received_at", "due_at", "created_at", "total_amount", "bill_number"]
    )
    @pytest.mark.parametrize("down", [False, True])
    def test_cursors_walk_every_sort_in_the_order_of_the_whole_list(
        self, drawer: Business, every_status: dict[str, Record], sort: str, down: bool
    ) -> None:
        asked = {"sort": ("-" if down else "") + sort}
        whole = drawer.api.get(BILLS, params={**asked, "page_size": 100}).json()["results"]
        keys = [(each[sort] is not None, each[sort] or "", each["id"]) for each in whole]
        assert keys == sorted(keys, reverse=down)
        walked, cursor = [], None
        while True:
            page = {"page_size": 2, **asked, **({"cursor": cursor} if cursor else {})}
            answer = drawer.api.get(BILLS, params=page).json()
            walked += answer["results"]
            cursor = answer["page_info"]["next_cursor"]
            if cursor is None:
                break
        assert walked == whole

    def test_the_latest_received_comes_first_and_drafts_last(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        assert ids(drawer.api.get(BILLS))[-1] == every_status["draft"]["id"]

    def test_a_list_shows_no_lines(self, drawer: Business, every_status: dict[str, Record]) -> None:
        [shown] = drawer.api.get(f"{BILLS}?status=paid").json()["results"]
        whole = read(drawer, BILLS, every_status["paid"])
        assert shown == {name: whole[name] for name in shown}
        assert "line_items" not in shown

    @pytest.mark.parametrize(
        "asked",
        [
            *("status=open", "status=sent", "status=written_off", "status=", "sort=sent_at"),
            *("page=0", "min_amount=-1", "is_overdue=perhaps", "vendor_id=x", "customer_id=x"),
            *("sent_at_start=2025-03-01T00:00:00Z", "cursor=abc"),
        ],
    )
    def test_it_refuses_what_it_does_not_know(self, drawer: Business, asked: str) -> None:
        answer = drawer.api.get(f"{BILLS}?{asked}")
        assert answer.status_code == 400
        [field] = answer.json()["detail"]["field_errors"]
        assert field.startswith(asked.partition("=")[0])


class TestGetBill:
    def test_it_shows_what_settles_it(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        bill = received(shop, vendor, 900)
        later = paid_out(shop, vendor, 300, part(bill, 200), payment_date="2025-03-12")
        first = paid_out(shop, vendor, 100, part(bill, 100), payment_date="2025-03-11")
        waiting = paid_out(shop, vendor, 50, part(bill, 50), status="pending")
        credit = returned(shop, vendor, 70, share(bill, 70))
        shown = read(shop, BILLS, bill)
        assert shown["bill_payment_allocations"] == [
            {
                "bill_payment_id": payment["id"],
                "payment_date": day,
                "payment_method": "bank_transfer",
                "amount_cents": amount,
            }
            for payment, day, amount in (
                (waiting, PAID, 50),
                (first, "2025-03-11", 100),
                (later, "2025-03-12", 200),
            )
        ]
        assert shown["vendor_credit_allocations"] == [
            {
                "vendor_credit_id": credit["id"],
                "applied_at": "2025-03-05T00:00:00Z",
                "amount_cents": 70,
            }
        ]
        assert shown["vendor_refund_allocations"] == []
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_paid", 530)

    def test_a_credit_counts_from_the_bills_own_date(self, shop: Business, vendor: Record) -> None:
        bill = received(shop, vendor, 100, bill_date="2025-03-20")
        credit = returned(shop, vendor, 100, share(bill, 100))
        [shown] = read(shop, BILLS, bill)["vendor_credit_allocations"]
        assert shown["applied_at"] == credit["allocations"][0]["applied_at"]
        assert shown["applied_at"] == "2025-03-20T00:00:00Z"

    def test_its_status_follows_what_settles_it(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 900, due_at=LATER)
        credit = returned(shop, vendor, 400, share(bill, 400))
        assert status_of(shop, bill) == ("partially_paid", 500)
        payment = paid_out(shop, vendor, 500, part(bill, 500))
        assert status_of(shop, bill) == ("paid", 0)
        assert read(shop, BILLS, bill)["paid_at"] == f"{PAID}T00:00:00Z"
        shop.api.patch(f"{PAYMENTS}{payment['id']}/", json={"status": "failed"})
        assert status_of(shop, bill) == ("partially_paid", 500)
        assert read(shop, BILLS, bill)["paid_at"] is None
        shop.api.put(f"{CREDITS}{credit['id']}/", json={"allocations": []})
        assert status_of(shop, bill) == ("received", 900)

    def test_its_etag_is_its_version(self, shop: Business, vendor: Record) -> None:
        bill = received(shop, vendor)
        assert shop.api.get(f"{BILLS}{bill['id']}/").headers["etag"] == '"1"'
        paid_out(shop, vendor, 10, part(bill, 10))
        assert shop.api.get(f"{BILLS}{bill['id']}/").headers["etag"] == '"2"'

    def test_an_invoice_is_no_bill(self, shop: Business) -> None:
        invoice = shop.invoice(shop.customer())
        answer = shop.api.get(f"{BILLS}{invoice['id']}/")
        assert (answer.status_code, answer.json()["error_code"]) == (404, "bill_not_found")
