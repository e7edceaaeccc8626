"""create_invoice_refund: everything that it refuses, with the books as they were."""

from base64 import b64encode

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import invoice_body, paid, part, refunded, sent, settled
from tests.builders.trade import NOBODY, Record
from tests.clock import today
from tests.partner import Business, Partner

REFUNDS = "invoices/refunds/"
AT = "2025-03-20T10:00:00Z"


class TestCreateInvoiceRefund:
    @pytest.mark.parametrize(
        ("facts", "field"),
        [
            ({"amount_cents": 0}, "amount_cents"),
            ({"amount_cents": -5}, "amount_cents"),
            ({"amount_cents": 1.5}, "amount_cents"),
            ({"amount_cents": "5"}, "amount_cents"),
            ({"amount_cents": None}, "amount_cents"),
            ({"amount_cents": 100_000_000_000_000}, "amount_cents"),
            ({"completed_at": "2025-03-20"}, "completed_at"),
            ({"completed_at": "2025-02-30T00:00:00Z"}, "completed_at"),
            ({"method": "bank_transfer"}, "method"),
            ({"method": "GOLD"}, "method"),
            ({"refund_processing_fee_cents": -1}, "refund_processing_fee_cents"),
            ({"external_id": ""}, "external_id"),
            ({"processor": ""}, "processor"),
            ({"invoice_id": "7"}, "invoice_id"),
            ({"currency": "GBP"}, "currency"),
            ({"document": {"file_name": "a.pdf"}}, "document.file"),
            ({"payment_id": NOBODY}, "invoice_id"),
        ],
    )
    def test_a_malformed_refund_is_400(
        self, shop: Business, ledger: Ledger, buyer: Record, facts: Record, field: str
    ) -> None:
        body = {"invoice_id": settled(shop, buyer)["id"], **facts}
        with ledger.untouched():
            answer = shop.api.post(REFUNDS, json=body)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
        assert list(answer.json()["detail"]["field_errors"]) == [field]

    def test_a_refund_names_exactly_one_target(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        named = dict.fromkeys(("invoice_id", "payment_id", "credit_id"), NOBODY)
        pairs = [{each: NOBODY for each in named if each != left} for left in named]
        for body in ({}, named, *pairs):
            for sent_as in ({"json": body}, {"files": {"memo": (None, "x")}, "data": body}):
                answer = shop.api.post(REFUNDS, **sent_as)
                assert answer.json()["detail"]["field_errors"] == {
                    "invoice_id": [
                        "exactly one of invoice_id, payment_id and credit_id is required"
                    ]
                }
                assert answer.status_code == 400

    def test_a_form_is_held_to_the_same(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        file = {"document": ("receipt.csv", b"date,amount\n1,2\n", "text/csv")}
        wrong = {"amount_cents": "5.0", "method": "cash", "completed_at": "now", "colour": "blue"}
        body = {"invoice_id": settled(shop, buyer)["id"], **wrong}
        with ledger.untouched():
            answer = shop.api.post(REFUNDS, data=body, files=file)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
        assert set(answer.json()["detail"]["field_errors"]) == set(wrong)

    def test_no_more_than_was_paid_on_the_invoice_and_not_refunded_yet(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        paid(shop, buyer, 600, part(invoice, 600))
        paid(shop, buyer, 400, part(invoice, 400), status="processing")
        refunded(shop, invoice, amount_cents=250)
        with ledger.untouched():
            answer = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"], "amount_cents": 351})
        assert (answer.status_code, answer.json()["error_code"]) == (
            422,
            "refund_exceeds_refundable",
        )
        told = {"invoice_id": invoice["id"], "paid": 600}
        assert answer.json()["message"] == "At most 350 can be refunded."
        assert answer.json()["detail"] == {
            **{"refundable": 350, "amount": 351, "refunded": 250},
            **told,
        }
        refunded(shop, invoice, amount_cents=350)
        with ledger.untouched():
            answer = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"]})
        assert answer.json()["error_code"] == "refund_exceeds_refundable"
        assert answer.json()["message"] == "There is nothing to refund."
        assert answer.json()["detail"] == {"refundable": 0, "amount": 0, "refunded": 600, **told}

    @pytest.mark.parametrize("state", ["draft", "sent", "void", "reserved", "bounced"])
    @pytest.mark.parametrize("facts", [{}, {"amount_cents": 1}, {"completed_at": AT}])
    def test_nothing_of_an_invoice_on_which_nothing_is_paid(
        self, shop: Business, ledger: Ledger, buyer: Record, state: str, facts: Record
    ) -> None:
        invoice = shop.made("invoices/", invoice_body(buyer))
        if state != "draft":
            shop.api.post(f"invoices/{invoice['id']}/send/")
        if state == "void":
            shop.api.post(f"invoices/{invoice['id']}/void/")
        if state == "reserved":
            paid(shop, buyer, 1_000, part(invoice, 1_000), status="pending")
        if state == "bounced":
            payment = paid(shop, buyer, 1_000, part(invoice, 1_000))
            shop.api.patch(f"invoices/payments/{payment['id']}/", json={"status": "failed"})
        with ledger.untouched():
            answer = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"], **facts})
        assert (answer.status_code, answer.json()["error_code"]) == (
            422,
            "refund_exceeds_refundable",
        )
        assert answer.json()["detail"]["refundable"] == 0

    def test_amounts_settled_by_credit_or_write_off_are_not_refundable(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        paid(shop, buyer, 300, part(invoice, 300))
        allocated = {"invoice_id": invoice["id"], "amount": 500}
        credit = {"customer_id": buyer["id"], "line_items": [{"amount": 500}], "sent_at": AT}
        shop.made("customer-credits/", {**credit, "allocations": [allocated]})
        shop.made(f"invoices/{invoice['id']}/write-offs/", {})
        with ledger.untouched():
            answer = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"], "amount_cents": 301})
        detail = answer.json()["detail"]
        assert (detail["refundable"], detail["paid"], detail["refunded"]) == (300, 300, 0)

    @pytest.mark.parametrize("status", ["pending", "processing", "failed", "cancelled", "refunded"])
    def test_nothing_of_a_payment_that_is_not_completed(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        payment = paid(shop, buyer, 500, status=status)
        with ledger.untouched():
            answer = shop.api.post(REFUNDS, json={"payment_id": payment["id"]})
        assert (answer.status_code, answer.json()["error_code"]) == (
            422,
            "refund_exceeds_refundable",
        )
        told = {"payment_id": payment["id"], "status": status, "allocated_amount_cents": 0}
        assert answer.json()["detail"] == {"refundable": 0, "amount": 0, "refunded": 0, **told}

    def test_no_more_of_a_payment_than_what_remains_of_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 300)
        payment = paid(shop, buyer, 1_000, part(invoice, 300))
        refunded(shop, payment, amount_cents=200)
        for amount, refundable in ((501, 500), (1_000, 500)):
            with ledger.untouched():
                body = {"payment_id": payment["id"], "amount_cents": amount}
                answer = shop.api.post(REFUNDS, json=body)
            assert answer.json()["error_code"] == "refund_exceeds_refundable"
            detail = answer.json()["detail"]
            assert (detail["refundable"], detail["refunded"]) == (refundable, 200)
            assert detail["allocated_amount_cents"] == 500
        full = paid(shop, buyer, 50, part(sent(shop, buyer, 50), 50))
        answer = shop.api.post(REFUNDS, json={"payment_id": full["id"]})
        assert answer.json()["detail"]["refundable"] == 0

    def test_only_what_exists_in_this_business(
        self, shop: Business, ledger: Ledger, buyer: Record, rival: Partner
    ) -> None:
        elsewhere = rival.business()
        stranger = elsewhere.customer()
        foreign = settled(elsewhere, stranger)
        ahead = paid(elsewhere, stranger, 70)
        own = paid(shop, buyer, 10)
        for name, id_, resource in (
            ("invoice_id", NOBODY, "invoice"),
            ("invoice_id", foreign["id"], "invoice"),
            ("invoice_id", own["id"], "invoice"),
            ("payment_id", NOBODY, "payment"),
            ("payment_id", ahead["id"], "payment"),
        ):
            with ledger.untouched():
                answer = shop.api.post(REFUNDS, json={name: id_})
            assert (answer.status_code, answer.json()["error_code"]) == (422, "reference_not_found")
            assert answer.json()["detail"] == {"resource": resource, "reference": id_}
            article = {"invoice": "an invoice", "payment": "a payment"}[resource]
            assert f"names {article} that does not exist" in answer.json()["message"]

    def test_not_into_a_locked_period(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        targets = (settled(shop, buyer), paid(shop, buyer, 10))
        bodies = [{"invoice_id": targets[0]["id"]}, {"payment_id": targets[1]["id"]}]
        with ledger.locked("2025-03-20"):
            for body in bodies:
                with ledger.untouched():
                    answer = shop.api.post(REFUNDS, json={**body, "completed_at": AT})
                assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")
                assert answer.json()["detail"] == {"date": "2025-03-20", "lock_date": "2025-03-20"}
            made = refunded(shop, targets[0], completed_at="2025-03-21T00:00:00Z")
        assert [entry.on for entry in ledger.entries(made)] == ["2025-03-21"]

    def test_not_today_either_while_today_is_locked(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer)
        with ledger.locked(str(today())), ledger.untouched():
            answer = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"]})
        assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")

    def test_a_file_of_another_kind_is_not_taken_and_nothing_is_agreed(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer)
        content = b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff"
        encoded = {"file": b64encode(content).decode(), "file_name": "receipt.pdf"}
        file = {"document": ("receipt.pdf", content, "application/pdf")}
        with ledger.untouched():
            for answer in (
                shop.api.post(REFUNDS, json={"invoice_id": invoice["id"], "document": encoded}),
                shop.api.post(REFUNDS, data={"invoice_id": invoice["id"]}, files=file),
            ):
                assert answer.status_code == 415
                assert answer.json()["error_code"] == "unsupported_media_type"

    def test_a_refusal_is_remembered_under_its_key(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer)
        key = {"Idempotency-Key": f"refused-{invoice['id']}"}
        first = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"]}, headers=key)
        paid(shop, buyer, 1_000, part(invoice, 1_000))
        again = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"]}, headers=key)
        assert (again.status_code, again.content) == (422, first.content)
