"""create_invoice_payment, get_invoice_payment and cancel_invoice_payment."""

from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import invoice_body, paid, part, payment_body, sent
from tests.builders.trade import NOBODY, PAID, Record, line
from tests.handlers.promises import keeps_its_key
from tests.partner import Business

PAYMENTS = "invoices/payments/"


class TestCreateInvoicePayment:
    def test_it_shows_everything_that_was_given(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        given = payment_body(
            buyer,
            1_500,
            external_id="pay-1",
            payment_processor="Mollie",
            processing_fee_cents=40,
            payment_reference="ours",
            processor_reference="theirs",
            bank_reference="the bank's",
            note="kept",
            notes="older",
            references={"till": "7"},
            transaction_tags=["a", "b"],
            metadata={"deep": {"er": [1]}},
        )
        key = {"Idempotency-Key": str(uuid4())}
        answer = shop.api.post(
            PAYMENTS, json={**given, "allocations": [part(invoice, 1_000)]}, headers=key
        )
        payment = answer.json()["payment"]
        same = set(given) - {"notes"}
        assert {name: payment[name] for name in same} == {name: given[name] for name in same}
        assert payment["notes"] == "kept"
        assert payment["idempotency_key"] == key["Idempotency-Key"]
        assert (payment["status"], payment["currency"]) == ("completed", "GBP")
        assert payment["business_id"] == shop.id
        assert payment["customer"]["name"] == "Blue Door Bakery"
        amounts = {
            "applied_amount_cents": 1_000,
            "allocated_amount_cents": 1_000,
            "unapplied_amount_cents": 500,
            "remaining_amount_cents": 500,
            "net_amount": 1_460,
            "is_fully_allocated": False,
        }
        assert {name: payment[name] for name in amounts} == amounts
        assert payment["applied_invoices"] == [
            {
                "id": invoice["id"],
                "invoice_number": invoice["invoice_number"],
                "applied_amount_cents": 1_000,
                "status": "paid",
                "outstanding_amount_cents": 0,
            }
        ]
        assert payment["allocations"] == [
            {
                "invoice_id": invoice["id"],
                "invoice_number": invoice["invoice_number"],
                "amount_cents": 1_000,
                "allocation_date": PAID,
            }
        ]
        assert answer.status_code == 201
        assert answer.headers["location"].endswith(f"/{PAYMENTS}{payment['id']}/")
        read = shop.api.get(f"{PAYMENTS}{payment['id']}/")
        assert (read.json(), read.headers["etag"]) == (payment, '"1"')

    def test_it_posts_money_prepayment_and_fee(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(
            shop,
            buyer,
            1_500,
            part(invoice, 1_000),
            payment_method="credit_card",
            processing_fee_cents=40,
            external_id="fee-1",
        )
        money, fee = ledger.entries(payment)
        assert (money.on, money.amounts) == (PAID, {"1150": 1_500, "2100": -500, "1200": -1_000})
        assert (fee.on, fee.amounts) == (PAID, {"6100": 40, "1150": -40})
        assert {money.source_type, fee.source_type} == {"payment"}
        assert (money.reference, fee.reference) == ("fee-1", "fee-1")
        shown = shop.api.get(f"invoices/{invoice['id']}/").json()
        assert (shown["status"], shown["paid_at"]) == ("paid", f"{PAID}T00:00:00Z")

    @pytest.mark.parametrize(
        ("method", "processor", "account", "shown"),
        [
            ("cash", None, "1000", None),
            ("bank_transfer", None, "1100", None),
            ("ach", None, "1100", None),
            ("check", None, "1100", None),
            ("other", None, "1100", None),
            ("credit_card", None, "1150", None),
            ("debit_card", None, "1150", None),
            ("paypal", None, "1150", "paypal"),
            ("stripe", None, "1150", "stripe"),
            ("bank_transfer", "GoCardless", "1150", "GoCardless"),
            ("cash", "sumup", "1150", "sumup"),
        ],
    )
    def test_the_method_finds_the_account_of_the_money(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        method: str,
        processor: str | None,
        account: str,
        shown: str | None,
    ) -> None:
        named = {} if processor is None else {"payment_processor": processor}
        payment = paid(shop, buyer, 7, payment_method=method, **named)
        assert payment["payment_processor"] == shown
        assert ledger.postings(payment) == [(PAID, {account: 7, "2100": -7})]

    @pytest.mark.parametrize("status", ["pending", "processing"])
    def test_one_on_its_way_reserves_and_posts_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 700, part(invoice, 600), status=status)
        assert ledger.entries(payment) == []
        assert (payment["allocated_amount_cents"], payment["applied_amount_cents"]) == (600, 0)
        assert (payment["remaining_amount_cents"], payment["unapplied_amount_cents"]) == (100, 700)
        [shown] = payment["applied_invoices"]
        assert (shown["applied_amount_cents"], shown["status"]) == (0, "sent")
        assert payment["allocations"][0]["allocation_date"] is None
        refused = shop.api.post(
            PAYMENTS, json=payment_body(buyer, 401, allocations=[part(invoice, 401)])
        )
        assert refused.json()["error_code"] == "allocation_exceeds_outstanding"
        assert refused.json()["detail"]["left"] == 400

    @pytest.mark.parametrize("status", ["failed", "cancelled", "refunded"])
    def test_one_that_is_not_live_holds_and_posts_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        payment = paid(shop, buyer, 700, status=status)
        assert (payment["status"], payment["allocations"]) == (status, [])
        assert ledger.entries(payment) == []

    def test_money_in_advance_is_applied_on_the_invoices_day(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 300)
        payment = paid(shop, buyer, 300, part(invoice, 300), payment_date="2025-02-10")
        assert ledger.postings(payment) == [
            ("2025-02-10", {"1100": 300, "2100": -300}),
            ("2025-03-01", {"2100": 300, "1200": -300}),
        ]
        assert payment["allocations"][0]["allocation_date"] == "2025-03-01"
        assert shop.api.get(f"invoices/{invoice['id']}/").json()["paid_at"][:10] == "2025-03-01"

    def test_it_settles_taxes_and_sales_in_proportion(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        # 83.33 of sales and 16.67 of tax: 33.33 takes 27.77 and 5.56, 66.67 the rest exactly.
        taxed = line(8_333, sales_taxes=[{"amount": 1_667}])
        invoice = shop.made("invoices/", invoice_body(buyer, taxed, sent_at="2025-03-01T00:00:00Z"))
        paid(shop, buyer, 3_333, part(invoice, 3_333))
        paid(shop, buyer, 6_667, part(invoice, 6_667))
        splits = ledger.ask(
            "SELECT l.split FROM journal_line l WHERE l.business_id = %(business)s"
            " AND l.settles_id = %(id)s ORDER BY l.credit",
            id=invoice["id"],
        )
        assert [sorted(-amount for _, amount in split) for (split,) in splits] in (
            [[556, 2_777], [1_111, 5_556]],
            [[-2_777, -556], [-5_556, -1_111]],
        )

    def test_a_known_external_id_answers_the_payment_unchanged(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        first = paid(shop, buyer, 60, part(invoice, 60), external_id="known")
        others = (
            payment_body(buyer, 999, external_id="known"),
            payment_body(buyer, 60, external_id="known", customer_id=NOBODY),
            payment_body(
                buyer,
                60,
                external_id="known",
                allocations=[{"invoice_id": NOBODY, "amount_cents": 1}],
            ),
        )
        for body in others:
            with ledger.untouched():
                again = shop.api.post(PAYMENTS, json=body)
            assert (again.status_code, again.json()["payment"]) == (200, first)
            assert again.headers["etag"] == '"1"'

    def test_an_unknown_customer_is_made_on_the_way(self, shop: Business) -> None:
        body = payment_body({"id": None}, 5, customer_external_id="walk-in")
        del body["customer_id"]
        payment = shop.made(PAYMENTS, body)["payment"]
        assert payment["customer"]["name"] == payment["customer"]["external_id"] == "walk-in"
        assert shop.made(PAYMENTS, body)["payment"]["customer_id"] == payment["customer_id"]

    def test_a_preview_shows_the_same_and_writes_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        body = payment_body(buyer, 100, allocations=[part(invoice, 100)])
        with ledger.untouched():
            seen = shop.api.post(f"{PAYMENTS}?preview=true", json=body)
        made = shop.made(PAYMENTS, body)["payment"]
        changing = {"id", "created_at", "updated_at"}
        shown = seen.json()["payment"]
        assert seen.status_code == 200
        assert {k: v for k, v in shown.items() if k not in changing} == {
            k: v for k, v in made.items() if k not in changing
        }
        [entry] = seen.json()["journal_entries"]
        assert entry["sequence_number"] is None
        assert [each["account_code"] for each in entry["lines"]] == ["1100", "1200"]
        assert entry["source_id"] == shown["id"]

    def test_the_same_key_answers_the_same_bytes(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        keeps_its_key(shop, ledger, PAYMENTS, payment_body(buyer, 9), total_amount_cents=8)


class TestRefusalsOfCreateInvoicePayment:
    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"currency": "EUR"}, 422, "currency_mismatch"),
            ({"customer_id": NOBODY}, 422, "reference_not_found"),
            ({"customer_external_id": "nobody at all"}, 422, "reference_mismatch"),
            ({"allocations": [{"invoice_id": NOBODY, "amount_cents": 1}]}, 422,
             "reference_not_found"),
            ({"total_amount_cents": 0}, 400, "validation_error"),
            ({"total_amount_cents": 1.5}, 400, "validation_error"),
            ({"payment_date": "2025-02-30"}, 400, "validation_error"),
            ({"payment_method": "gold"}, 400, "validation_error"),
            ({"status": "done"}, 400, "validation_error"),
            ({"processing_fee_cents": -1}, 400, "validation_error"),
            ({"references": {"till": 7}}, 400, "validation_error"),
            ({"metadata": []}, 400, "validation_error"),
            ({"customer_id": None}, 400, "validation_error"),
        ],
    )  # fmt: skip
    def test_it_refuses_and_keeps_nothing(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        facts: Record,
        status: int,
        code: str,
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post(PAYMENTS, json={**payment_body(buyer), **facts})
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)

    def test_not_from_an_archived_customer(self, shop: Business, ledger: Ledger) -> None:
        gone = shop.customer()
        shop.api.post(f"customers/{gone['id']}/archive/")
        with ledger.untouched():
            answer = shop.api.post(PAYMENTS, json=payment_body(gone))
        assert (answer.status_code, answer.json()["error_code"]) == (409, "customer_archived")
