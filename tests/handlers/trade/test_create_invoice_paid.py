"""create_invoice: money that comes with it, previews, and requests that are sent twice."""

from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import invoice_body, paid
from tests.builders.trade import SENT, Record, line
from tests.partner import Business


class TestPaymentsOfCreateInvoice:
    def test_a_payment_without_an_amount_pays_it_in_full_on_its_day(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        made = shop.made(
            "invoices/",
            invoice_body(buyer, line(5_000), sent_at=SENT, payments=[{"payment_method": "cash"}]),
        )
        assert (made["status"], made["outstanding_balance"]) == ("paid", 0)
        assert made["paid_at"] == "2025-03-01T00:00:00Z"
        [share] = made["payment_allocations"]
        assert share == {
            "payment_id": share["payment_id"],
            "payment_date": "2025-03-01",
            "payment_method": "cash",
            "amount_cents": 5_000,
        }
        payment = shop.api.get(f"invoices/payments/{share['payment_id']}/").json()
        assert payment["status"] == "completed"
        assert payment["applied_invoices"][0]["id"] == made["id"]
        assert payment["applied_invoices"][0]["invoice_number"] == made["invoice_number"]
        assert ledger.postings(made) == [("2025-03-01", {"1200": 5_000, "4000": -5_000})]
        assert ledger.postings(payment) == [("2025-03-01", {"1000": 5_000, "1200": -5_000})]
        assert shop.api.get(f"invoices/{made['id']}/").json() == made

    def test_several_payments_pay_it_in_parts_each_on_its_own_day(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payments = [
            {"payment_method": "stripe", "total_amount_cents": 300, "processing_fee_cents": 9},
            {
                "payment_method": "bank_transfer",
                "total_amount_cents": 200,
                "payment_date": "2025-03-09",
                "external_id": "with-it",
                "payment_reference": "ours",
                "note": "thanks",
            },
        ]
        made = shop.made(
            "invoices/", invoice_body(buyer, line(600), sent_at=SENT, payments=payments)
        )
        assert (made["status"], made["outstanding_balance"]) == ("partially_paid", 100)
        assert [each["amount_cents"] for each in made["payment_allocations"]] == [300, 200]
        first, second = (
            shop.api.get(f"invoices/payments/{each['payment_id']}/").json()
            for each in made["payment_allocations"]
        )
        assert ledger.postings(first) == [
            ("2025-03-01", {"1150": 300, "1200": -300}),
            ("2025-03-01", {"6100": 9, "1150": -9}),
        ]
        assert ledger.postings(second) == [("2025-03-09", {"1100": 200, "1200": -200})]
        assert (first["payment_processor"], first["net_amount"]) == ("stripe", 291)
        assert (second["external_id"], second["note"]) == ("with-it", "thanks")

    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            (
                {"payments": [{"payment_method": "cash", "total_amount_cents": 1_001}]},
                422,
                "allocation_exceeds_outstanding",
            ),
            (
                {"payments": [{"payment_method": "cash"}, {"payment_method": "cash"}]},
                422,
                "allocation_exceeds_outstanding",
            ),
            (
                {
                    "payments": [
                        {"payment_method": "cash", "total_amount_cents": 1, "external_id": "two"},
                        {"payment_method": "cash", "total_amount_cents": 1, "external_id": "two"},
                    ]
                },
                409,
                "duplicate_external_id",
            ),
            (
                {"line_items": [line(0)], "payments": [{"payment_method": "cash"}]},
                422,
                "allocation_exceeds_outstanding",
            ),
        ],
    )
    def test_an_invalid_payment_refuses_the_whole_invoice(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        facts: Record,
        status: int,
        code: str,
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post("invoices/", json={**invoice_body(buyer, sent_at=SENT), **facts})
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)

    def test_of_its_payments_the_one_whose_external_id_is_taken_is_named(
        self, shop: Business, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 100, external_id="paid before")
        named = {"external_id": "paid before", "id": payment["id"]}
        for names, told in (
            (["free", "paid before"], named),
            (["twice", "free", "twice"], {"external_id": "twice"}),
        ):
            one = {"payment_method": "cash", "total_amount_cents": 1}
            payments = [{**one, "external_id": name} for name in names]
            body = invoice_body(buyer, sent_at=SENT, payments=payments)
            answer = shop.api.post("invoices/", json=body)
            assert (answer.status_code, answer.json()["detail"]) == (409, told)

    def test_a_draft_takes_no_payment(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        with ledger.untouched():
            answer = shop.api.post(
                "invoices/", json=invoice_body(buyer, payments=[{"payment_method": "cash"}])
            )
        assert (answer.status_code, answer.json()["error_code"]) == (409, "invoice_not_open")

    def test_a_payment_inside_the_lock_takes_the_invoice_with_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        early = {"payment_method": "cash", "payment_date": "2025-02-28"}
        with ledger.locked("2025-02-28"), ledger.untouched():
            answer = shop.api.post(
                "invoices/", json=invoice_body(buyer, sent_at=SENT, payments=[early])
            )
        assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")

    def test_money_that_came_before_waits_for_the_invoice(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        early = {"payment_method": "cash", "payment_date": "2025-02-20"}
        made = shop.made("invoices/", invoice_body(buyer, sent_at=SENT, payments=[early]))
        assert made["paid_at"] == "2025-03-01T00:00:00Z"
        payment = {"id": made["payment_allocations"][0]["payment_id"]}
        assert ledger.postings(payment) == [
            ("2025-02-20", {"1000": 1_000, "2100": -1_000}),
            ("2025-03-01", {"2100": 1_000, "1200": -1_000}),
        ]


class TestPreviewOfCreateInvoice:
    def test_a_preview_returns_the_result_and_writes_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payments = [{"payment_method": "cash", "total_amount_cents": 400}]
        body = invoice_body(buyer, line(1_000, tax_rate=20), sent_at=SENT, payments=payments)
        with ledger.untouched():
            seen = shop.api.post("invoices/?preview=true", json=body)
        assert seen.status_code == 200
        assert "location" not in seen.headers
        shown = seen.json()
        assert shown["invoice_number"] is None
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_paid", 800)
        first, second = shown["journal_entries"]
        assert first["sequence_number"] is second["sequence_number"] is None
        assert [
            (each["account_code"], each["debit_amount"], each["credit_amount"])
            for each in first["lines"]
        ] == [("1200", 1_200, 0), ("4000", 0, 1_000), ("2200", 0, 200)]
        assert [each["account_code"] for each in second["lines"]] == ["1000", "1200"]
        assert shop.api.get(f"invoices/{shown['id']}/").status_code == 404

        made = shop.made("invoices/", body)
        for amount in ("subtotal", "tax_total", "total_amount", "outstanding_balance", "status"):
            assert made[amount] == shown[amount]

    def test_a_draft_would_post_nothing(self, shop: Business, buyer: Record) -> None:
        seen = shop.api.post("invoices/?preview=true", json=invoice_body(buyer)).json()
        assert seen["journal_entries"] == []

    def test_a_preview_is_refused_like_the_request(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        first = shop.made("invoices/", invoice_body(buyer, invoice_number="P-1"))
        with ledger.untouched():
            answer = shop.api.post(
                "invoices/?preview=true", json=invoice_body(buyer, invoice_number="P-1")
            )
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "duplicate_invoice_number"
        assert answer.json()["detail"] == {"id": first["id"]}

    def test_a_preview_does_not_use_an_idempotency_key(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        body = invoice_body(buyer, sent_at=SENT)
        with ledger.untouched():
            seen = shop.api.post("invoices/?preview=true", json=body, headers=key)
        made = shop.api.post("invoices/", json=body, headers=key)
        assert (seen.status_code, made.status_code) == (200, 201)
        again = shop.api.post("invoices/?preview=true", json=body, headers=key)
        assert again.json()["id"] != made.json()["id"]
        assert "idempotent-replayed" not in again.headers


class TestRepeatsOfCreateInvoice:
    def test_an_equal_key_and_body_return_the_same_bytes(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        body = invoice_body(buyer, line(700), sent_at=SENT)
        first = shop.api.post("invoices/", json=body, headers=key)
        with ledger.untouched():
            # The same value in other words: order, spaces and offset do not count.
            other = {name: body[name] for name in reversed(body)}
            other["sent_at"] = "2025-03-01T10:00:00+01:00"
            again = shop.api.post("invoices", json=other, headers=key)
        assert (first.status_code, again.status_code) == (201, 201)
        assert again.content == first.content
        assert again.headers["idempotent-replayed"] == "true"
        for header in ("etag", "location"):
            assert again.headers[header] == first.headers[header]
        assert "idempotent-replayed" not in first.headers

    def test_a_key_of_another_request_is_refused(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        shop.api.post("invoices/", json=invoice_body(buyer, line(1)), headers=key)
        with ledger.untouched():
            answer = shop.api.post("invoices/", json=invoice_body(buyer, line(2)), headers=key)
        assert answer.status_code == 422
        assert answer.json()["error_code"] == "idempotency_key_reused"

    def test_a_refusal_is_answered_again_even_when_it_would_work_by_now(
        self, shop: Business, ledger: Ledger
    ) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        buyer = shop.customer()
        shop.api.post(f"customers/{buyer['id']}/archive/")
        first = shop.api.post("invoices/", json=invoice_body(buyer), headers=key)
        shop.api.post(f"customers/{buyer['id']}/unarchive/")
        with ledger.untouched():
            again = shop.api.post("invoices/", json=invoice_body(buyer), headers=key)
        assert (first.status_code, again.status_code) == (409, 409)
        assert again.content == first.content
        assert again.headers["idempotent-replayed"] == "true"
