"""get_invoice_payment, list_invoice_payments and cancel_invoice_payment."""

from datetime import timedelta

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import paid, part, sent
from tests.builders.trade import NOBODY, PAID, Record
from tests.clock import today
from tests.partner import Business, Partner

PAYMENTS = "invoices/payments/"
LATER = f"{today() + timedelta(days=40)}T00:00:00Z"


class TestGetInvoicePayment:
    def test_one_of_another_business_is_not_there(self, shop: Business, rival: Partner) -> None:
        elsewhere = rival.business()
        foreign = paid(elsewhere, elsewhere.customer(), 5)
        for id_ in (foreign["id"], NOBODY):
            answer = shop.api.get(f"{PAYMENTS}{id_}/")
            assert (answer.status_code, answer.json()["error_code"]) == (404, "payment_not_found")


class TestCancelInvoicePayment:
    @pytest.mark.parametrize("status", ["pending", "failed"])
    def test_one_that_has_not_come_is_cancelled(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        invoice = sent(shop, buyer, 100)
        parts = [part(invoice, 60)] if status == "pending" else []
        payment = paid(shop, buyer, 60, *parts, status=status)
        answer = shop.api.post(f"{PAYMENTS}{payment['id']}/delete/")
        shown = answer.json()["payment"]
        assert (answer.status_code, shown["status"], shown["allocations"]) == (200, "cancelled", [])
        assert ledger.entries(payment) == []
        assert paid(shop, buyer, 100, part(invoice, 100))["is_fully_allocated"]

    @pytest.mark.parametrize("status", ["processing", "completed", "cancelled", "refunded"])
    def test_any_other_is_not(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        payment = paid(shop, buyer, 60, status=status)
        with ledger.untouched():
            answer = shop.api.post(f"{PAYMENTS}{payment['id']}/delete/")
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "invalid_state_transition"
        assert answer.json()["detail"]["current_state"] == status
        assert ("update of its status" in answer.json()["message"]) == (status != "cancelled")

    def test_what_a_bounced_one_posted_stays_taken_back(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 60)
        shop.api.patch(f"{PAYMENTS}{payment['id']}/", json={"status": "failed"})
        shop.api.post(f"{PAYMENTS}{payment['id']}/delete/")
        assert ledger.postings(payment) == [
            (PAID, {"1100": 60, "2100": -60}),
            (str(today()), {"1100": -60, "2100": 60}),
        ]


@pytest.fixture(scope="module")
def seller(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture(scope="module")
def drawer(seller: Business) -> dict[str, Record]:
    """A few payments, each told apart by something else."""
    buyer, other = (
        seller.customer(company_name="Tall Ship"),
        seller.customer(individual_name="Ann Bo"),
    )
    invoice = sent(seller, buyer, 1_000)
    return {
        "early": paid(seller, buyer, 100, payment_date="2025-01-05", payment_method="cash"),
        "whole": paid(seller, buyer, 300, part(invoice, 300), external_id="w-1"),
        "half": paid(
            seller, buyer, 400, part(invoice, 200), note="Half of it", payment_reference="Till 7"
        ),
        "card": paid(seller, other, 500, payment_method="stripe", processor_reference="ch_12%"),
        "waiting": paid(
            seller, other, 600, status="pending", bank_reference="B-9", references={"e2e": 'RF"18%'}
        ),
        "gone": paid(seller, other, 700, status="failed", payment_date="2025-04-05"),
    }


class TestListInvoicePayments:
    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ({}, {"early", "whole", "half", "card", "waiting", "gone"}),
            ({"payment_date_start": "2025-03-11"}, {"gone"}),
            ({"payment_date_end": "2025-01-05"}, {"early"}),
            ({"payment_date_start": PAID, "payment_date_end": PAID, "max_amount": 399}, {"whole"}),
            ({"min_amount": 600, "max_amount": 600}, {"waiting"}),
            ({"payment_method": "cash"}, {"early"}),
            ({"processor": "STRIPE"}, {"card"}),
            ({"status": "failed"}, {"gone"}),
            ({"status": "refunded"}, set()),
            ({"is_fully_allocated": True}, {"whole"}),
            ({"is_fully_allocated": False, "status": "pending"}, {"waiting"}),
            ({"external_id": "w-1"}, {"whole"}),
            ({"external_id": "w"}, set()),
            ({"search": "HALF OF"}, {"half"}),
            ({"search": "W-1"}, {"whole"}),
            ({"search": "till 7"}, {"half"}),
            ({"search": "ch_12%"}, {"card"}),
            ({"search": "b-9"}, {"waiting"}),
            ({"search": 'rf"18%'}, {"waiting"}),
            ({"search": "e2e"}, set()),
            ({"search": "tall"}, {"early", "whole", "half"}),
            ({"search": "ann"}, {"card", "waiting", "gone"}),
            ({"customer_id": NOBODY}, set()),
            ({"invoice_id": NOBODY}, set()),
            ({"created_at_gte": LATER}, set()),
            ({"created_at_lte": LATER, "payment_method": "cash"}, {"early"}),
            ({"updated_since": LATER}, set()),
        ],
    )
    def test_it_filters(
        self, seller: Business, drawer: dict[str, Record], asked: Record, names: set[str]
    ) -> None:
        answer = seller.api.get(PAYMENTS, params=asked).json()
        found = {each["id"] for each in answer["results"]}
        assert found == {drawer[name]["id"] for name in names}
        assert answer["count"] == len(names)

    def test_it_finds_the_payments_of_an_invoice_and_of_a_customer(
        self, seller: Business, drawer: dict[str, Record]
    ) -> None:
        invoice = drawer["whole"]["applied_invoices"][0]["id"]
        for asked, names in (
            ({"invoice_id": invoice}, ("whole", "half")),
            ({"customer_id": drawer["card"]["customer_id"]}, ("card", "waiting", "gone")),
        ):
            results = seller.api.get(PAYMENTS, params=asked).json()["results"]
            assert {each["id"] for each in results} == {drawer[name]["id"] for name in names}

    def test_a_payment_in_the_list_is_the_payment_itself(
        self, seller: Business, drawer: dict[str, Record]
    ) -> None:
        for shown in seller.api.get(PAYMENTS).json()["results"]:
            assert shown == seller.api.get(f"{PAYMENTS}{shown['id']}/").json()

    @pytest.mark.parametrize("sort", ["payment_date", "amount", "created_at"])
    @pytest.mark.parametrize("down", [False, True])
    def test_cursors_walk_every_sort_in_the_order_of_the_whole_list(
        self, seller: Business, drawer: dict[str, Record], sort: str, down: bool
    ) -> None:
        asked = {"sort": ("-" if down else "") + sort}
        whole = seller.api.get(PAYMENTS, params=asked).json()["results"]
        field = {"amount": "total_amount_cents"}.get(sort, sort)
        keys = [(each[field], each["id"]) for each in whole]
        assert keys == sorted(keys, reverse=down)
        walked, cursor = [], None
        while len(walked) < len(whole):
            page = {"page_size": 2, **asked, **({"cursor": cursor} if cursor else {})}
            answer = seller.api.get(PAYMENTS, params=page).json()
            walked += answer["results"]
            cursor = answer["page_info"]["next_cursor"]
        assert (walked, cursor) == (whole, None)

    def test_the_latest_payment_comes_first(
        self, seller: Business, drawer: dict[str, Record]
    ) -> None:
        results = seller.api.get(PAYMENTS).json()["results"]
        assert (results[0]["id"], results[-1]["id"]) == (
            drawer["gone"]["id"],
            drawer["early"]["id"],
        )

    @pytest.mark.parametrize("asked", ["status=done", "sort=note", "invoice_id=1", "page=0"])
    def test_it_refuses_what_it_does_not_know(self, seller: Business, asked: str) -> None:
        assert seller.api.get(f"{PAYMENTS}?{asked}").status_code == 400
