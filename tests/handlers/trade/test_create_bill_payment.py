"""create_bill_payment, get_bill_payment and list_bill_payments."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import (
    BILLS,
    PAYMENTS,
    bill_body,
    bill_paid,
    bill_payment_body,
    part,
    received,
    status_of,
)
from tests.builders.trade import NOBODY, PAID, Record, read
from tests.handlers.promises import keeps_its_key
from tests.partner import Business


class TestCreateBillPayment:
    def test_it_shows_everything_that_was_given(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 1_000)
        given = bill_payment_body(
            vendor,
            1_500,
            external_id="pay-1",
            payment_reference="ours",
            check_number="000123",
            processing_fee_cents=40,
            memo="pay run of March",
            transaction_tags=["run"],
            metadata={"m": 1},
            payment_method="check",
        )
        answer = shop.api.post(
            PAYMENTS, json={**given, "allocations": [part(bill, 600, description="first half")]}
        )
        assert answer.status_code == 201, answer.text
        payment = answer.json()["payment"]
        assert {name: payment[name] for name in given} == given
        amounts = {
            "allocated_amount_cents": 600,
            "refunded_amount_cents": 0,
            "unallocated_amount_cents": 900,
            "is_fully_allocated": False,
            "status": "completed",
            "idempotency_key": None,
            "refund_allocations": [],
            "reconciled_bank_transactions": [],
        }
        assert {name: payment[name] for name in amounts} == amounts
        assert payment["vendor"]["id"] == vendor["id"]
        assert payment["allocations"] == [
            {
                "bill_id": bill["id"],
                "bill_number": bill["bill_number"],
                "amount_cents": 600,
                "bill_status": "partially_paid",
                "bill_outstanding_balance_cents": 400,
                "description": "first half",
                "allocation_date": PAID,
            }
        ]
        assert answer.headers["location"].endswith(f"/{PAYMENTS}{payment['id']}/")
        assert read(shop, PAYMENTS, payment) == payment

    def test_it_settles_bills_and_the_rest_is_paid_in_advance(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        first, second = received(shop, vendor, 1_000), received(shop, vendor, 500)
        payment = bill_paid(
            shop, vendor, 2_000, part(first, 1_000), part(second, 200), processing_fee_cents=15
        )
        assert ledger.postings(payment) == [
            (PAID, {"2000": 1_200, "1250": 800, "1100": -2_000}),
            (PAID, {"6300": 15, "1100": -15}),
        ]
        main, fee = ledger.entries(payment)
        assert (main.source_type, main.reference) == ("bill_payment", None)
        assert main.description == "Payment to Raw Coffee Traders"
        assert fee.description == "Fee of payment to Raw Coffee Traders"
        assert status_of(shop, first) == ("paid", 0)
        assert status_of(shop, second) == ("partially_paid", 300)
        assert read(shop, BILLS, first)["paid_at"] == f"{PAID}T00:00:00Z"

    def test_money_in_advance_waits_for_the_bills_own_date(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 400, bill_date="2025-03-25")
        payment = bill_paid(shop, vendor, 400, part(bill, 400))
        assert ledger.postings(payment) == [
            (PAID, {"1250": 400, "1100": -400}),
            ("2025-03-25", {"2000": 400, "1250": -400}),
        ]
        assert payment["allocations"][0]["allocation_date"] == "2025-03-25"
        assert read(shop, BILLS, bill)["paid_at"] == "2025-03-25T00:00:00Z"

    @pytest.mark.parametrize(
        ("method", "account"),
        [
            ("cash", "1000"),
            *((each, "1100") for each in ("bank_transfer", "ach", "wire", "check")),
            *((each, "1100") for each in ("credit_card", "debit_card", "other")),
        ],
    )
    def test_the_method_says_what_it_is_paid_from(
        self, shop: Business, ledger: Ledger, vendor: Record, method: str, account: str
    ) -> None:
        payment = bill_paid(shop, vendor, 100, payment_method=method)
        assert ledger.postings(payment) == [(PAID, {"1250": 100, account: -100})]

    @pytest.mark.parametrize("status", ["pending", "processing"])
    def test_one_on_its_way_reserves_and_posts_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record, status: str
    ) -> None:
        bill = received(shop, vendor, 100)
        payment = bill_paid(shop, vendor, 100, part(bill, 60), status=status)
        assert ledger.entries(payment) == []
        assert (payment["allocated_amount_cents"], payment["status"]) == (60, status)
        assert payment["allocations"][0]["allocation_date"] is None
        assert status_of(shop, bill) == ("received", 100)
        more = bill_payment_body(vendor, 50, allocations=[part(bill, 41)])
        with ledger.untouched():
            answer = shop.api.post(PAYMENTS, json=more)
        assert answer.json()["error_code"] == "allocation_exceeds_outstanding"
        assert answer.json()["detail"]["left"] == 40

    @pytest.mark.parametrize("status", ["failed", "cancelled"])
    def test_one_that_did_not_move_posts_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record, status: str
    ) -> None:
        payment = bill_paid(shop, vendor, 100, status=status)
        assert (payment["status"], payment["unallocated_amount_cents"]) == (status, 100)
        assert ledger.entries(payment) == []

    def test_steps_split_over_what_is_left_of_each_part(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        taxed = {"quantity": 1, "unit_price": 8_333, "sales_taxes": [{"amount": 1_667}]}
        bill = shop.made(BILLS, bill_body(vendor, taxed, received_at="2025-03-03T09:00:00Z"))
        for amount in (3_333, 6_667):
            bill_paid(shop, vendor, amount, part(bill, amount))
        splits = ledger.ask(
            "SELECT l.split FROM journal_line l WHERE l.business_id = %(business)s"
            " AND l.settles_id = %(id)s ORDER BY l.debit",
            id=bill["id"],
        )
        assert [sorted(amount for _, amount in split) for (split,) in splits] == [
            [556, 2_777],
            [1_111, 5_556],
        ]

    def test_a_known_external_id_answers_the_payment_unchanged(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        first = bill_paid(shop, vendor, 60, part(bill, 60), external_id="known")
        for body in (
            bill_payment_body(vendor, 999, external_id="known"),
            bill_payment_body(vendor, 60, external_id="known", vendor_id=NOBODY),
            bill_payment_body(
                vendor, 60, external_id="known", allocations=[part({"id": NOBODY}, 1)]
            ),
        ):
            with ledger.untouched():
                again = shop.api.post(PAYMENTS, json=body)
            assert (again.status_code, again.json()["payment"]) == (200, first)
            assert again.headers["etag"] == '"1"'

    def test_an_unknown_vendor_is_made_on_the_way(self, shop: Business) -> None:
        body = bill_payment_body({"id": None}, 5, vendor_external_id="walk-in")
        del body["vendor_id"]
        payment = shop.made(PAYMENTS, body)["payment"]
        assert payment["vendor"]["name"] == payment["vendor"]["external_id"] == "walk-in"
        assert shop.made(PAYMENTS, body)["payment"]["vendor_id"] == payment["vendor_id"]

    def test_a_preview_shows_the_same_and_writes_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        body = bill_payment_body(vendor, 100, allocations=[part(bill, 100)])
        with ledger.untouched():
            seen = shop.api.post(f"{PAYMENTS}?preview=true", json=body)
        made, shown = shop.made(PAYMENTS, body)["payment"], seen.json()["payment"]
        moving = {"id", "created_at", "updated_at"}
        assert seen.status_code == 200
        assert {name: shown[name] for name in set(made) - moving} == {
            name: made[name] for name in set(made) - moving
        }
        [entry] = seen.json()["journal_entries"]
        assert (entry["sequence_number"], entry["source_id"]) == (None, shown["id"])
        assert [each["account_code"] for each in entry["lines"]] == ["2000", "1100"]

    def test_the_same_key_answers_the_same_bytes(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        answer = keeps_its_key(shop, ledger, PAYMENTS, bill_payment_body(vendor, 9), amount_cents=8)
        key = answer.request.headers["Idempotency-Key"]
        assert answer.json()["payment"]["idempotency_key"] == key


class TestRefusalsOfCreateBillPayment:
    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"currency": "EUR"}, 422, "currency_mismatch"),
            ({"vendor_id": NOBODY}, 422, "reference_not_found"),
            ({"vendor_external_id": "nobody at all"}, 422, "reference_mismatch"),
            ({"allocations": [part({"id": NOBODY}, 1)]}, 422, "reference_not_found"),
            ({"amount_cents": 0}, 400, "validation_error"),
            ({"payment_date": "2025-02-30"}, 400, "validation_error"),
            ({"payment_method": "paypal"}, 400, "validation_error"),
            ({"status": "refunded"}, 400, "validation_error"),
            ({"processing_fee_cents": -1}, 400, "validation_error"),
            ({"payment_processor": "mollie"}, 400, "validation_error"),
            ({"total_amount_cents": 5}, 400, "validation_error"),
            ({"vendor_id": None}, 400, "validation_error"),
        ],
    )
    def test_it_refuses_and_keeps_nothing(
        self,
        shop: Business,
        ledger: Ledger,
        vendor: Record,
        facts: Record,
        status: int,
        code: str,
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post(PAYMENTS, json={**bill_payment_body(vendor), **facts})
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)
