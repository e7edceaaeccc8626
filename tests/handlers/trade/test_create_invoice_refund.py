"""create_invoice_refund: agreed and paid refunds, their postings and refusals."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.files import CSV, in_json
from tests.builders.sales import (
    INVOICES,
    REFUNDS,
    credited,
    invoice_body,
    paid,
    part,
    refunded,
    sent,
    settled,
    share,
    written_off,
)
from tests.builders.trade import NOBODY, PAID, SENT, Record, line, unwarned
from tests.clock import today
from tests.partner import Business, Partner

BACK = "2025-03-20"
AT = f"{BACK}T10:00:00Z"
TODAY = str(today())
TOO_MUCH = (422, "refund_exceeds_refundable")


def taxed(shop: Business, buyer: Record, net: int, *taxes: Record) -> Record:
    """Create an invoice with these taxes, paid in full."""
    body = invoice_body(buyer, line(net, sales_taxes=list(taxes)), sent_at=SENT)
    invoice = shop.made(INVOICES, body)
    paid(shop, buyer, invoice["total_amount"], part(invoice, invoice["total_amount"]))
    return invoice


class TestCreateInvoiceRefund:
    def test_a_refund_shows_all_given_fields(self, shop: Business, buyer: Record) -> None:
        invoice = settled(shop, buyer)
        given = {
            "external_id": "refund-1",
            "memo": "Cold coffee",
            "reference_number": "RF-1",
            "processor": "Mollie",
            "method": "CREDIT_CARD",
            "metadata": {"deep": [1]},
        }
        amounts = {"amount_cents": 300, "refund_processing_fee_cents": 15}
        answer = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"], **given, **amounts})
        refund = answer.json()
        assert {name: refund[name] for name in given} == given
        assert (refund["refunded_amount"], refund["paid_amount"]) == (300, 0)
        assert (refund["status"], refund["completed_at"]) == ("pending", None)
        assert (refund["business_id"], refund["currency"]) == (shop.id, "GBP")
        assert (refund["customer_id"], refund["customer_name"]) == (buyer["id"], "Blue Door Bakery")
        assert (refund["is_dedicated"], refund["refund_payments"]) == (True, [])
        assert refund["document"] is None
        [allocation] = refund["allocations"]
        number = invoice["invoice_number"]
        assert allocation == {
            "id": allocation["id"],
            "allocation_type": "invoice",
            "amount": 300,
            "invoice_id": invoice["id"],
            "invoice_number": number,
            "invoice_outstanding_balance_cents": 0,
            "payment_id": None,
            "credit_id": None,
            "credit_note_number": None,
            "target_description": f"Invoice {number}",
            "description": f"Refund of invoice {number}",
            "allocation_date": f"{TODAY}T00:00:00Z",
        }
        read = shop.api.get(f"{REFUNDS}{refund['id']}/")
        assert (read.json(), read.headers["etag"]) == (refund, '"1"')

    def test_taxes_of_a_line_on_one_account_are_rounded_as_one(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = taxed(shop, buyer, 462, {"amount": 1}, {"amount": 1})
        [item] = invoice["line_items"]
        refund = refunded(shop, invoice, lines=[{"line_id": item["id"], "amount_cents": 145}])
        assert ledger.postings(refund) == [(TODAY, {"4100": 144, "2200": 1, "2300": -145})]

    def test_a_refund_owes_its_share_of_the_net_and_each_tax(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        levy = {"code": "2235", "name": "Levy", "account_type": "liability"}
        levy["account_subtype"] = "current_liabilities"
        shop.made("general-ledger/chart-of-accounts/", levy)
        own = {"amount": 20, "tax_account": {"type": "AccountCode", "code": "2235"}}
        other = {"type": "AccountCode", "code": "4500"}
        lines = (
            line(500, sales_taxes=[{"amount": 100}, own]),
            line(400, discount_amount=20, account_identifier=other),
        )
        body = invoice_body(buyer, *lines, additional_discount=80, sent_at=SENT)
        invoice = shop.made(INVOICES, body)
        paid(shop, buyer, 920, part(invoice, 920))
        facts = {"completed_at": AT, "reference_number": "RF-2", "external_id": "rf-2"}
        refund = refunded(shop, invoice, amount_cents=460, **facts)
        [entry] = ledger.entries(refund)
        assert entry.amounts == {"4100": 400, "2200": 50, "2235": 10, "2300": -460}
        assert (entry.on, entry.source_type, entry.reference) == (BACK, "refund", "RF-2")
        assert entry.description == "Refund to Blue Door Bakery"
        assert entry.reversal_of is None

    def test_a_cancelled_step_gives_its_own_split_back(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = taxed(shop, buyer, 8_333, {"amount": 1_667})
        first = refunded(shop, invoice, amount_cents=3_333)
        second = refunded(shop, invoice, amount_cents=1_000)
        assert ledger.entries(second)[0].amounts == {"4100": 833, "2200": 167, "2300": -1_000}
        assert shop.api.delete(f"{REFUNDS}{first['id']}/").status_code == 200
        rest = refunded(shop, invoice)
        assert rest["refunded_amount"] == 9_000
        assert ledger.entries(rest)[0].amounts == {"4100": 7_500, "2200": 1_500, "2300": -9_000}

    def test_a_refund_without_an_amount_refunds_all_that_is_refundable(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        paid(shop, buyer, 400, part(invoice, 400))
        paid(shop, buyer, 500, part(invoice, 300))
        paid(shop, buyer, 200, part(invoice, 200), status="pending")
        refunded(shop, invoice, amount_cents=150)
        refund = refunded(shop, invoice)
        assert refund["refunded_amount"] == 550
        assert refund["allocations"][0]["invoice_outstanding_balance_cents"] == 300

    def test_a_refund_with_a_moment_is_paid_then(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer)
        facts = {"completed_at": AT, "method": "STRIPE", "refund_processing_fee_cents": 9}
        refund = refunded(shop, invoice, amount_cents=400, **facts)
        assert (refund["status"], refund["paid_amount"]) == ("paid", 400)
        assert (refund["completed_at"], refund["processor"]) == (AT, "stripe")
        assert refund["allocations"][0]["allocation_date"] == f"{BACK}T00:00:00Z"
        [payment] = refund["refund_payments"]
        assert (payment["refund_id"], payment["status"]) == (refund["id"], "completed")
        assert (payment["refunded_amount"], payment["refund_processing_fee"]) == (400, 9)
        assert (payment["method"], payment["processor"]) == ("STRIPE", "stripe")
        assert (payment["completed_at"], payment["cancelled_at"]) == (AT, None)
        assert ledger.postings(refund) == [(BACK, {"4100": 400, "2300": -400})]
        money, fee = ledger.entries(payment)
        assert (money.on, money.amounts) == (BACK, {"2300": 400, "1150": -400})
        assert (fee.on, fee.amounts) == (BACK, {"6100": 9, "1150": -9})
        assert {money.source_type, fee.source_type} == {"refund_payment"}
        assert money.description == "Refund payment to Blue Door Bakery"
        assert fee.description == "Fee of refund payment to Blue Door Bakery"
        assert shop.api.get(f"{REFUNDS}{refund['id']}/").json() == refund

    def test_a_refund_without_a_moment_is_owed_from_today(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        refund = refunded(shop, settled(shop, buyer), external_id="only-named")
        assert (refund["status"], refund["method"]) == ("pending", "BANK_TRANSFER")
        [entry] = ledger.entries(refund)
        assert (entry.on, entry.reference) == (TODAY, "only-named")

    @pytest.mark.parametrize(
        ("method", "processor", "account", "shown"),
        [
            ("CASH", None, "1000", None),
            ("BANK_TRANSFER", None, "1100", None),
            ("ACH", None, "1100", None),
            ("CHECK", None, "1100", None),
            ("OTHER", None, "1100", None),
            ("CREDIT_CARD", None, "1150", None),
            ("PAYPAL", None, "1150", "paypal"),
            ("STRIPE", None, "1150", "stripe"),
            ("CASH", "sumup", "1150", "sumup"),
            ("BANK_TRANSFER", "GoCardless", "1150", "GoCardless"),
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
        named = {} if processor is None else {"processor": processor}
        refund = refunded(shop, settled(shop, buyer, 7), completed_at=AT, method=method, **named)
        [payment] = refund["refund_payments"]
        assert (refund["processor"], payment["processor"]) == (shown, shown)
        assert ledger.postings(payment) == [(BACK, {"2300": 7, account: -7})]

    def test_a_refund_is_dated_by_the_utc_day_of_its_moment(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        refund = refunded(shop, settled(shop, buyer), completed_at="2025-03-21T01:30:00+02:00")
        assert refund["completed_at"] == "2025-03-20T23:30:00Z"
        assert [entry.on for entry in ledger.entries(refund)] == [BACK]

    def test_a_refund_of_unapplied_money_reduces_what_was_paid_in_advance(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 700, part(sent(shop, buyer, 100), 100))
        some = refunded(shop, payment, amount_cents=200)
        [allocation] = some["allocations"]
        facts = {
            "allocation_type": "payment",
            "amount": 200,
            "invoice_id": None,
            "invoice_number": None,
            "invoice_outstanding_balance_cents": None,
            "payment_id": payment["id"],
            "credit_id": None,
            "target_description": "Money not applied",
            "description": "Refund of money not applied",
        }
        assert {name: allocation[name] for name in facts} == facts
        assert ledger.postings(some) == [(TODAY, {"2100": 200, "2300": -200})]
        rest = refunded(shop, payment, completed_at="2025-03-05T00:00:00Z")
        assert (rest["refunded_amount"], rest["status"]) == (400, "paid")
        assert ledger.postings(rest) == [(PAID, {"2100": 400, "2300": -400})]

    def test_a_known_external_id_answers_the_refund_unchanged(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer)
        first = refunded(shop, invoice, amount_cents=100, external_id="known")
        for body in ({"invoice_id": invoice["id"], "amount_cents": 99_999}, {"payment_id": NOBODY}):
            with ledger.untouched():
                again = shop.api.post(REFUNDS, json={**body, "external_id": "known"})
            assert (again.status_code, unwarned(again.json())) == (200, first)

    def test_an_archived_customer_gets_its_money_back(self, shop: Business) -> None:
        leaving = shop.customer()
        invoice = settled(shop, leaving)
        assert shop.api.post(f"customers/{leaving['id']}/archive/").status_code == 200
        assert refunded(shop, invoice)["refunded_amount"] == 1_000

    def test_a_refund_is_returned_with_its_document(self, shop: Business, buyer: Record) -> None:
        refund = refunded(shop, settled(shop, buyer), document=in_json(CSV, "receipt.csv"))
        document = refund["document"]
        assert (document["file_name"], document["file_size"]) == ("receipt.csv", len(CSV))
        shown = shop.api.get(f"{REFUNDS}{refund['id']}/").json()["document"]
        assert shown["document_id"] == document["document_id"]

    def test_a_form_creates_a_refund_with_its_file(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        fields = {
            "invoice_id": settled(shop, buyer)["id"],
            "amount_cents": "250",
            "completed_at": AT,
            "method": "CASH",
            "refund_processing_fee_cents": "0",
            "metadata": '{"from": "form"}',
            "document_type": "receipt",
        }
        file = {"document": ("receipt.csv", CSV, "text/csv")}
        answer = shop.api.post(REFUNDS, data=fields, files=file)
        refund = answer.json()
        assert (answer.status_code, refund["refunded_amount"]) == (201, 250)
        assert (refund["status"], refund["metadata"]) == ("paid", {"from": "form"})
        assert refund["document"]["file_name"] == "receipt.csv"
        [payment] = refund["refund_payments"]
        assert ledger.postings(payment) == [(BACK, {"2300": 250, "1000": -250})]

    def test_a_refund_names_exactly_one_target(self, shop: Business) -> None:
        named = dict.fromkeys(("invoice_id", "payment_id", "credit_id"), NOBODY)
        pairs = [{each: NOBODY for each in named if each != left} for left in named]
        fault = (
            "exactly one of invoice_id, payment_id and credit_id, or of their external ids,"
            " is required"
        )
        for body in ({}, named, *pairs):
            for sent_as in ({"json": body}, {"files": {"memo": (None, "x")}, "data": body}):
                answer = shop.api.post(REFUNDS, **sent_as)
                assert answer.json()["detail"]["field_errors"] == {"invoice_id": [fault]}
                assert answer.status_code == 400

    def test_no_more_than_was_paid_on_the_invoice_and_not_refunded_yet(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        paid(shop, buyer, 600, part(invoice, 600))
        paid(shop, buyer, 400, part(invoice, 400), status="processing")
        refunded(shop, invoice, amount_cents=250)
        for body, amount, rest, message in (
            ({"amount_cents": 351}, 351, 350, "At most 350 can be refunded."),
            ({}, 0, 0, "There is nothing to refund."),
        ):
            if not rest:
                refunded(shop, invoice, amount_cents=350)
            with ledger.untouched():
                answer = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"], **body})
            refusal = answer.json()
            assert (answer.status_code, refusal["error_code"]) == TOO_MUCH
            assert refusal["message"] == message
            facts = {"invoice_id": invoice["id"], "paid": 600, "refunded": 600 - rest}
            assert refusal["detail"] == {"refundable": rest, "amount": amount, **facts}

    def test_amounts_settled_by_credit_or_write_off_are_not_refundable(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        paid(shop, buyer, 300, part(invoice, 300))
        credited(shop, buyer, 500, share(invoice, 500))
        written_off(shop, invoice)
        with ledger.untouched():
            answer = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"], "amount_cents": 301})
        detail = answer.json()["detail"]
        assert (detail["refundable"], detail["paid"], detail["refunded"]) == (300, 300, 0)

    @pytest.mark.parametrize("status", ["pending", "processing", "failed", "cancelled", "refunded"])
    def test_a_payment_that_is_not_completed_is_not_refunded(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        payment = paid(shop, buyer, 500, status=status)
        with ledger.untouched():
            answer = shop.api.post(REFUNDS, json={"payment_id": payment["id"]})
        assert (answer.status_code, answer.json()["error_code"]) == TOO_MUCH
        facts = {"payment_id": payment["id"], "status": status, "allocated_amount_cents": 0}
        assert answer.json()["detail"] == {"refundable": 0, "amount": 0, "refunded": 0, **facts}

    def test_an_unknown_or_foreign_target_is_refused(
        self, shop: Business, ledger: Ledger, buyer: Record, rival: Partner
    ) -> None:
        elsewhere = rival.business()
        foreign = paid(elsewhere, elsewhere.customer(), 70)
        for name, id_, resource in (
            ("invoice_id", NOBODY, "an invoice"),
            ("invoice_id", paid(shop, buyer, 10)["id"], "an invoice"),
            ("payment_id", NOBODY, "a payment"),
            ("payment_id", foreign["id"], "a payment"),
        ):
            with ledger.untouched():
                answer = shop.api.post(REFUNDS, json={name: id_})
            assert (answer.status_code, answer.json()["error_code"]) == (422, "reference_not_found")
            named = {"resource": resource.split()[1], "reference": id_, "field": name}
            assert answer.json()["detail"] == named
            assert f"names {resource} that does not exist" in answer.json()["message"]

    def test_a_refusal_is_remembered_under_its_key(self, shop: Business, buyer: Record) -> None:
        invoice = sent(shop, buyer)
        key = {"Idempotency-Key": f"refused-{invoice['id']}"}
        first = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"]}, headers=key)
        paid(shop, buyer, 1_000, part(invoice, 1_000))
        again = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"]}, headers=key)
        assert (again.status_code, again.content) == (422, first.content)
