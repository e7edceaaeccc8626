"""create_invoice_refund: what is agreed, what is paid with it, and when both are posted."""

from base64 import b64encode
from collections import Counter

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import invoice_body, paid, part, refunded, sent, settled
from tests.builders.trade import NOBODY, PAID, Record, line
from tests.clock import today
from tests.partner import Business

REFUNDS = "invoices/refunds/"
BACK = "2025-03-20"
AT = f"{BACK}T10:00:00Z"
TODAY = str(today())
CSV = b"date,amount\n2025-03-20,10.00\n"


def taxed(shop: Business, buyer: Record, net: int, *taxes: Record) -> Record:
    """Have an invoice paid that holds these taxes."""
    body = invoice_body(buyer, line(net, sales_taxes=list(taxes)), sent_at="2025-03-01T00:00:00Z")
    invoice = shop.made("invoices/", body)
    paid(shop, buyer, invoice["total_amount"], part(invoice, invoice["total_amount"]))
    return invoice


class TestCreateInvoiceRefund:
    def test_a_refund_shows_all_given_fields(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer)
        given = {
            "amount_cents": 300,
            "external_id": "refund-1",
            "memo": "Cold coffee",
            "reference_number": "RF-1",
            "processor": "Mollie",
            "method": "CREDIT_CARD",
            "refund_processing_fee_cents": 15,
            "metadata": {"deep": [1]},
        }
        answer = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"], **given})
        refund = answer.json()
        shown = {"external_id", "memo", "reference_number", "processor", "method", "metadata"}
        assert {name: refund[name] for name in shown} == {name: given[name] for name in shown}
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
        assert answer.status_code == 201
        assert answer.headers["location"].endswith(f"/{REFUNDS}{refund['id']}/")
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
        levy = {"code": "2230", "name": "Levy", "account_type": "liability"}
        shop.made(
            "general-ledger/chart-of-accounts/", {**levy, "account_subtype": "current_liabilities"}
        )
        own = {"amount": 20, "tax_account": {"type": "AccountCode", "code": "2230"}}
        lines = (
            line(500, sales_taxes=[{"amount": 100}, own]),
            line(
                400, discount_amount=20, account_identifier={"type": "AccountCode", "code": "4500"}
            ),
        )
        body = invoice_body(buyer, *lines, additional_discount=80, sent_at="2025-03-01T09:00:00Z")
        invoice = shop.made("invoices/", body)
        paid(shop, buyer, 920, part(invoice, 920))
        refund = refunded(
            shop,
            invoice,
            amount_cents=460,
            completed_at=AT,
            reference_number="RF-2",
            external_id="rf-2",
        )
        [entry] = ledger.entries(refund)
        assert entry.amounts == {"4100": 400, "2200": 50, "2230": 10, "2300": -460}
        assert (entry.on, entry.source_type, entry.reference) == (BACK, "refund", "RF-2")
        assert entry.description == "Refund to Blue Door Bakery"
        assert entry.reversal_of is None

    def test_steps_split_what_is_left_of_each_part(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = taxed(shop, buyer, 8_333, {"amount": 1_667})
        first = refunded(shop, invoice, amount_cents=3_333)
        second = refunded(shop, invoice, amount_cents=6_667)
        assert ledger.postings(first) == [(TODAY, {"4100": 2_777, "2200": 556, "2300": -3_333})]
        assert ledger.postings(second) == [(TODAY, {"4100": 5_556, "2200": 1_111, "2300": -6_667})]

    def test_many_small_steps_close_exactly(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        other = {"amount": 200, "tax_account": {"type": "AccountCode", "code": "2400"}}
        invoice = taxed(shop, buyer, 600, {"amount": 600}, other)
        whole, taken = {"4100": 600, "2200": 600, "2400": 200}, Counter[str]()
        for amount in (1, 1, 1, 397, 3, 997):
            [entry] = ledger.entries(refunded(shop, invoice, amount_cents=amount))
            assert entry.amounts["2300"] == -amount
            taken.update({code: entry.amounts.get(code, 0) for code in whole})
            assert all(0 <= taken[code] <= most for code, most in whole.items())
        assert taken == whole

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

    def test_without_an_amount_it_gives_back_all_that_can_be(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        paid(shop, buyer, 400, part(invoice, 400))
        paid(shop, buyer, 500, part(invoice, 300))
        paid(shop, buyer, 200, part(invoice, 200), status="pending")
        refunded(shop, invoice, amount_cents=150)
        refund = refunded(shop, invoice)
        assert refund["refunded_amount"] == 550
        assert refund["allocations"][0]["invoice_outstanding_balance_cents"] == 300

    def test_with_the_moment_it_left_it_is_paid_at_once(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer)
        refund = refunded(
            shop,
            invoice,
            amount_cents=400,
            completed_at=AT,
            method="STRIPE",
            refund_processing_fee_cents=9,
        )
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

    def test_without_it_it_is_owed_from_today(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        refund = refunded(shop, settled(shop, buyer), external_id="only-named")
        assert (refund["status"], refund["method"], refund["processor"]) == (
            "pending",
            "BANK_TRANSFER",
            None,
        )
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

    def test_a_refund_is_dated_no_earlier_than_its_invoice(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        refund = refunded(shop, settled(shop, buyer), completed_at="2025-02-10T10:00:00Z")
        [payment] = refund["refund_payments"]
        assert [entry.on for entry in (*ledger.entries(refund), *ledger.entries(payment))] == [
            "2025-03-01",
            "2025-02-10",
        ]
        assert refund["completed_at"] == "2025-02-10T10:00:00Z"
        assert refund["allocations"][0]["allocation_date"] == "2025-03-01T00:00:00Z"

    def test_a_moment_is_told_by_its_day_in_utc(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        refund = refunded(shop, settled(shop, buyer), completed_at="2025-03-21T01:30:00+02:00")
        assert refund["completed_at"] == "2025-03-20T23:30:00Z"
        assert [entry.on for entry in ledger.entries(refund)] == [BACK]

    def test_money_that_settled_nothing_comes_off_what_was_paid_in_advance(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        payment = paid(shop, buyer, 700, part(invoice, 100))
        some = refunded(shop, payment, amount_cents=200)
        [allocation] = some["allocations"]
        assert allocation == {
            "id": allocation["id"],
            "allocation_type": "payment",
            "amount": 200,
            "invoice_id": None,
            "invoice_number": None,
            "invoice_outstanding_balance_cents": None,
            "payment_id": payment["id"],
            "credit_id": None,
            "credit_note_number": None,
            "target_description": "Money not applied",
            "description": "Refund of money not applied",
            "allocation_date": f"{TODAY}T00:00:00Z",
        }
        assert ledger.postings(some) == [(TODAY, {"2100": 200, "2300": -200})]
        rest = refunded(shop, payment, completed_at="2025-03-05T00:00:00Z")
        assert (rest["refunded_amount"], rest["status"]) == (400, "paid")
        assert ledger.postings(rest) == [(PAID, {"2100": 400, "2300": -400})]

    def test_a_known_external_id_answers_the_refund_unchanged(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer)
        first = refunded(shop, invoice, amount_cents=100, external_id="known")
        for body in (
            {"invoice_id": invoice["id"], "amount_cents": 100},
            {"invoice_id": invoice["id"], "amount_cents": 99_999, "completed_at": AT},
            {"invoice_id": NOBODY},
            {"payment_id": NOBODY},
        ):
            with ledger.untouched():
                again = shop.api.post(REFUNDS, json={**body, "external_id": "known"})
            assert (again.status_code, again.json()) == (200, first)
            assert again.headers["etag"] == '"1"'

    def test_a_preview_shows_the_same_and_writes_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        document = {"file": b64encode(CSV).decode(), "file_name": "receipt.csv"}
        body = {"invoice_id": settled(shop, buyer)["id"], "completed_at": AT, "document": document}
        body["refund_processing_fee_cents"] = 3
        with ledger.untouched():
            seen = shop.api.post(f"{REFUNDS}?preview=true", json=body)
        made, shown = shop.made(REFUNDS, body), seen.json()
        assert (seen.status_code, "location" in seen.headers) == (200, False)
        same = {"status", "refunded_amount", "paid_amount", "completed_at", "method", "customer_id"}
        assert {name: shown[name] for name in same} == {name: made[name] for name in same}
        owed, money, fee = shown["journal_entries"]
        assert (owed["source_type"], owed["source_id"]) == ("refund", shown["id"])
        assert {each["source_id"] for each in (money, fee)} == {shown["refund_payments"][0]["id"]}
        assert {each["sequence_number"] for each in (owed, money, fee)} == {None}
        codes = [[each["account_code"] for each in entry["lines"]] for entry in (owed, money, fee)]
        assert codes == [["4100", "2300"], ["2300", "1100"], ["6100", "1100"]]
        assert "journal_entries" not in made

    def test_an_archived_customer_gets_its_money_back(self, shop: Business, ledger: Ledger) -> None:
        leaving = shop.customer()
        invoice = settled(shop, leaving)
        assert shop.api.post(f"customers/{leaving['id']}/archive/").status_code == 200
        assert refunded(shop, invoice)["refunded_amount"] == 1_000

    def test_a_document_comes_along_in_json(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        document = {"file": b64encode(CSV).decode(), "file_name": "receipt.csv"}
        refund = refunded(shop, settled(shop, buyer), document=document)
        assert (refund["document"]["file_name"], refund["document"]["file_size"]) == (
            "receipt.csv",
            len(CSV),
        )
        shown = shop.api.get(f"{REFUNDS}{refund['id']}/").json()["document"]
        assert shown["document_id"] == refund["document"]["document_id"]

    def test_a_form_says_the_same_with_a_file(
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
        assert ledger.postings(refund["refund_payments"][0]) == [
            (BACK, {"2300": 250, "1000": -250})
        ]
