"""create_invoice: initial payments, previews, and repeated requests."""

from uuid import uuid4

import pytest

from tests.builders.trade import SALES, SENT, Record, line
from tests.handlers.trade.side import Side

CASH: Record = {"payment_method": "cash"}


class TestPaymentsOfCreateInvoice:
    trade = SALES

    def test_a_payment_without_an_amount_pays_it_in_full_on_its_day(self, side: Side) -> None:
        made = side.open(5_000, payments=[CASH])
        assert (made["status"], made["outstanding_balance"]) == ("paid", 0)
        assert made["paid_at"] == "2025-03-01T00:00:00Z"
        [share] = made["payment_allocations"]
        assert share == {
            "payment_id": share["payment_id"],
            "payment_date": "2025-03-01",
            "payment_method": "cash",
            "amount_cents": 5_000,
            "payment_amount_cents": 5_000,
            "exchange_difference_cents": 0,
        }
        payment = side.api.get(f"invoices/payments/{share['payment_id']}/").json()
        assert payment["status"] == "completed"
        assert payment["applied_invoices"][0]["id"] == made["id"]
        assert payment["applied_invoices"][0]["invoice_number"] == made["invoice_number"]
        assert side.ledger.postings(made) == [("2025-03-01", {"1200": 5_000, "4000": -5_000})]
        assert side.ledger.postings(payment) == [("2025-03-01", {"1000": 5_000, "1200": -5_000})]
        assert side.api.get(f"invoices/{made['id']}/").json() == made

    def test_several_payments_pay_it_in_parts_each_on_its_own_day(self, side: Side) -> None:
        payments = [
            {"payment_method": "stripe", "total_amount_cents": 300, "processing_fee_cents": 9},
            {
                **{"payment_method": "bank_transfer", "total_amount_cents": 200},
                **{"payment_date": "2025-03-09", "external_id": "with-it", "note": "thanks"},
            },
        ]
        made = side.open(600, payments=payments)
        assert (made["status"], made["outstanding_balance"]) == ("partially_paid", 100)
        assert [each["amount_cents"] for each in made["payment_allocations"]] == [300, 200]
        first, second = (
            side.api.get(f"invoices/payments/{each['payment_id']}/").json()
            for each in made["payment_allocations"]
        )
        assert side.ledger.postings(first) == [
            ("2025-03-01", {"1150": 300, "1200": -300}),
            ("2025-03-01", {"6100": 9, "1150": -9}),
        ]
        assert side.ledger.postings(second) == [("2025-03-09", {"1100": 200, "1200": -200})]
        assert (first["payment_processor"], first["net_amount"]) == ("stripe", 291)
        assert (second["external_id"], second["note"]) == ("with-it", "thanks")

    @pytest.mark.parametrize("payments", [[{**CASH, "total_amount_cents": 1_001}], [CASH, CASH]])
    def test_payments_over_the_total_refuse_the_whole_invoice(
        self, side: Side, payments: list[Record]
    ) -> None:
        body = side.body(sent_at=SENT, payments=payments)
        fault = side.ledger.refused("POST", side.trade.path, json=body)
        assert fault == (422, "allocation_exceeds_outstanding")

    def test_a_payment_whose_external_id_is_taken_is_named(self, side: Side) -> None:
        payment = side.pay(100, external_id="paid before")
        named = {"external_id": "paid before", "id": payment["id"]}
        for names, detail in (
            (["free", "paid before"], named),
            (["twice", "free", "twice"], {"external_id": "twice"}),
        ):
            payments = [{**CASH, "total_amount_cents": 1, "external_id": each} for each in names]
            with side.ledger.untouched():
                answer = side.api.post(
                    side.trade.path, json=side.body(sent_at=SENT, payments=payments)
                )
            assert (answer.status_code, answer.json()["detail"]) == (409, detail)
            assert answer.json()["error_code"] == "duplicate_external_id"

    def test_money_that_came_before_waits_for_the_invoice(self, side: Side) -> None:
        made = side.open(payments=[{**CASH, "payment_date": "2025-02-20"}])
        assert made["paid_at"] == "2025-03-01T00:00:00Z"
        payment = {"id": made["payment_allocations"][0]["payment_id"]}
        assert side.ledger.postings(payment) == [
            ("2025-02-20", {"1000": 1_000, "2100": -1_000}),
            ("2025-03-01", {"2100": 1_000, "1200": -1_000}),
        ]


class TestPreviewOfCreateInvoice:
    trade = SALES

    def test_a_preview_returns_the_result_and_writes_nothing(self, side: Side) -> None:
        payments = [{**CASH, "total_amount_cents": 400}]
        body = side.body(line(1_000, tax_rate=20), sent_at=SENT, payments=payments)
        with side.ledger.untouched():
            seen = side.api.post(f"{side.trade.path}?preview=true", json=body)
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
        assert side.api.get(f"invoices/{shown['id']}/").status_code == 404

        made = side.made(side.trade.path, body)
        for amount in ("subtotal", "tax_total", "total_amount", "outstanding_balance", "status"):
            assert made[amount] == shown[amount]

    def test_a_preview_does_not_use_an_idempotency_key(self, side: Side) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        body = side.body(sent_at=SENT)
        with side.ledger.untouched():
            seen = side.api.post(f"{side.trade.path}?preview=true", json=body, headers=key)
        made = side.api.post(side.trade.path, json=body, headers=key)
        assert (seen.status_code, made.status_code) == (200, 201)
        again = side.api.post(f"{side.trade.path}?preview=true", json=body, headers=key)
        assert again.json()["id"] != made.json()["id"]
        assert "idempotent-replayed" not in again.headers


class TestRepeatsOfCreateInvoice:
    trade = SALES

    def test_an_equal_body_in_other_words_is_a_repeat(self, side: Side) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        body = side.body(sent_at=SENT)
        first = side.api.post(side.trade.path, json=body, headers=key)
        with side.ledger.untouched():
            # The order, the spaces and the UTC offset do not matter.
            other = {name: body[name] for name in reversed(body)}
            other["sent_at"] = "2025-03-01T10:00:00+01:00"
            again = side.api.post("invoices", json=other, headers=key)
        assert (first.status_code, again.status_code) == (201, 201)
        assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")

    def test_a_refusal_is_answered_again_even_when_it_would_work_by_now(self, side: Side) -> None:
        key, buyer = {"Idempotency-Key": str(uuid4())}, side.somebody()
        body = side.trade.body(buyer)
        side.api.post(side.trade.of_party(buyer, "archive"))
        first = side.api.post(side.trade.path, json=body, headers=key)
        side.api.post(side.trade.of_party(buyer, "unarchive"))
        with side.ledger.untouched():
            again = side.api.post(side.trade.path, json=body, headers=key)
        assert (first.status_code, again.status_code) == (409, 409)
        assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")
