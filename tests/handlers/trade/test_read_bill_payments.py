"""list_bill_payments and get_bill_payment: what is shown, filtered, sorted and paged."""

from datetime import timedelta
from typing import Any

import pytest

from tests.builders.purchases import PAYMENTS, bill_paid, part, received
from tests.builders.trade import NOBODY, Record, read
from tests.clock import today
from tests.partner import Business

LATER = f"{today() + timedelta(days=40)}T00:00:00Z"
NAMES = ("first", "second", "third", "waiting")


@pytest.fixture(scope="module")
def drawn(drawer: Business) -> dict[str, Record]:
    """Payments that differ in everything a list is filtered by."""
    vendor = drawer.vendor(company_name="Tall Ship", external_id="tall-ship")
    other = drawer.vendor(company_name="Small Boat")
    bill = received(drawer, vendor, 1_000)
    drawn = {
        "first": bill_paid(drawer, vendor, 100, part(bill, 100), check_number="C-77"),
        "second": bill_paid(
            drawer, vendor, 200, payment_date="2025-03-12", payment_method="cash", memo="In hand"
        ),
        "third": bill_paid(drawer, other, 300, payment_date="2025-03-11", external_id="p-3"),
        "waiting": bill_paid(
            drawer, vendor, 400, part(bill, 50), status="pending", payment_reference="RUN-9"
        ),
    }
    return {**drawn, "bill": bill}


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["id"] for each in answer.json()["results"]]


class TestListBillPayments:
    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ({}, set(NAMES)),
            ({"payment_date_start": "2025-03-11"}, {"second", "third"}),
            ({"payment_date_end": "2025-03-11"}, {"first", "third", "waiting"}),
            ({"min_amount": 200, "max_amount": 300}, {"second", "third"}),
            ({"payment_method": "cash"}, {"second"}),
            ({"status": "pending"}, {"waiting"}),
            ({"is_fully_allocated": True}, {"first"}),
            ({"is_fully_allocated": False}, {"second", "third", "waiting"}),
            ({"external_id": "p-3"}, {"third"}),
            ({"search": "small"}, {"third"}),
            ({"search": "c-7"}, {"first"}),
            ({"search": "run-"}, {"waiting"}),
            ({"search": "IN HAND"}, {"second"}),
            ({"vendor_id": NOBODY}, set()),
            ({"bill_id": NOBODY}, set()),
            ({"created_at_gte": "2020-01-01T00:00:00Z"}, set(NAMES)),
            ({"updated_since": LATER}, set()),
        ],
    )
    def test_it_filters(
        self, drawer: Business, drawn: dict[str, Record], asked: Record, names: set[str]
    ) -> None:
        answer = drawer.api.get(PAYMENTS, params=asked)
        assert set(ids(answer)) == {drawn[name]["id"] for name in names}
        assert answer.json()["count"] == len(names)

    def test_it_finds_those_of_a_bill_and_of_a_vendor(
        self, drawer: Business, drawn: dict[str, Record]
    ) -> None:
        of_bill = drawer.api.get(PAYMENTS, params={"bill_id": drawn["bill"]["id"]})
        assert set(ids(of_bill)) == {drawn["first"]["id"], drawn["waiting"]["id"]}
        of_vendor = drawer.api.get(PAYMENTS, params={"vendor_id": drawn["third"]["vendor_id"]})
        assert ids(of_vendor) == [drawn["third"]["id"]]

    @pytest.mark.parametrize(
        ("sort", "names"),
        [
            ("payment_date", ["third", "second"]),
            ("-payment_date", ["second", "third"]),
            ("amount", ["first", "second", "third", "waiting"]),
            ("-created_at", ["waiting", "third", "second", "first"]),
        ],
    )
    def test_it_sorts(
        self, drawer: Business, drawn: dict[str, Record], sort: str, names: list[str]
    ) -> None:
        wanted = [drawn[name]["id"] for name in names]
        found = ids(drawer.api.get(PAYMENTS, params={"sort": sort}))
        assert [each for each in found if each in wanted] == wanted

    def test_the_latest_date_comes_first(self, drawer: Business, drawn: dict[str, Record]) -> None:
        assert ids(drawer.api.get(PAYMENTS))[0] == drawn["second"]["id"]

    def test_a_list_shows_what_a_single_one_shows(
        self, drawer: Business, drawn: dict[str, Record]
    ) -> None:
        for shown in drawer.api.get(PAYMENTS).json()["results"]:
            assert shown == read(drawer, PAYMENTS, shown)

    def test_cursors_walk_the_whole_list(self, drawer: Business, drawn: dict[str, Record]) -> None:
        first = drawer.api.get(PAYMENTS, params={"page_size": 3}).json()
        cursor = first["page_info"]["next_cursor"]
        rest = drawer.api.get(PAYMENTS, params={"page_size": 3, "cursor": cursor}).json()
        walked = [each["id"] for each in (*first["results"], *rest["results"])]
        assert walked == ids(drawer.api.get(PAYMENTS))

    @pytest.mark.parametrize(
        "asked",
        ["customer_id=x", "invoice_id=x", "status=refunded", "payment_method=paypal", "sort=total"],
    )
    def test_it_refuses_what_it_does_not_know(self, drawer: Business, asked: str) -> None:
        assert drawer.api.get(f"{PAYMENTS}?{asked}").status_code == 400


class TestGetBillPayment:
    def test_its_etag_is_its_version(self, drawer: Business, drawn: dict[str, Record]) -> None:
        answer = drawer.api.get(f"{PAYMENTS}{drawn['first']['id']}/")
        assert (answer.status_code, answer.headers["etag"]) == (200, '"1"')

    def test_one_of_another_business_is_not_there(
        self, shop: Business, drawn: dict[str, Record]
    ) -> None:
        for id_ in (drawn["first"]["id"], NOBODY):
            for method, path in (
                ("GET", f"{PAYMENTS}{id_}/"),
                ("PATCH", f"{PAYMENTS}{id_}/"),
                ("POST", f"{PAYMENTS}{id_}/delete/"),
            ):
                answer = shop.api.request(method, path, json={} if method == "PATCH" else None)
                assert answer.status_code == 404
                assert answer.json()["error_code"] == "bill_payment_not_found"
