"""Bank lines matched with payments, refund payments and payouts, in full and in parts."""

from tests.bookkeeping import Ledger
from tests.builders.bank import (
    BILL_PAYMENT,
    BOOKED,
    PAYMENT,
    PAYOUT,
    REFUND_PAYMENT,
    VENDOR_REFUND_PAYMENT,
    Bank,
    left,
    matching,
)
from tests.builders.bank_money import card_payout, refund_payment
from tests.builders.payouts import PAYOUTS, by_card, payout_body, read
from tests.builders.payouts import payment as payment_of
from tests.builders.purchases import bill_paid, received, status_of
from tests.builders.purchases import part as of_bill
from tests.builders.sales import paid, part, sent
from tests.builders.trade import PAID, Record
from tests.builders.vendor_refunds import REFUND_PAYMENTS, agreed
from tests.partner import Business


class TestMatchBankTransaction:
    def test_a_line_is_the_money_of_a_payment(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 1_000, part(invoice, 1_000))
        line = bank.line(1_000, description="Blue Door")
        with ledger.moving() as moved:
            matched = bank.done(line, "match", matching(PAYMENT, payment, memo="Yes, it is"))
        assert moved == {"1100": -1_000, bank.code: 1_000}
        assert left(matched) == (1_000, 0, 0)
        assert matched["is_reconciled"] is True
        [link] = matched["links"]
        assert link == {
            "reconciliation_link_id": link["reconciliation_link_id"],
            "target_type": "invoice_payment",
            "target_id": payment["id"],
            "of": "original",
            "amount_cents": 1_000,
            "target_amount_cents": 1_000,
            "exchange_difference_cents": 0,
            "rounding_difference_cents": 0,
            "other_bank_transaction_id": None,
            "memo": "Yes, it is",
            "reconciled_at": matched["updated_at"],
        }
        assert bank.read(line) == matched
        shown = payment_of(shop, payment)
        assert shown["reconciled_bank_transactions"] == [
            {
                "bank_transaction_id": line["id"],
                "bank_transaction_date": f"{BOOKED}T00:00:00Z",
                "bank_transaction_amount_cents": 1_000,
                "bank_transaction_direction": "credit",
                "reconciled_amount_cents": 1_000,
                "reconciliation_link_id": link["reconciliation_link_id"],
                "reconciled_at": link["reconciled_at"],
                "currency": "GBP",
                "payment_type": "invoice_payment",
                "of": "original",
                "bank_account_name": "Savings",
                "notes": "Yes, it is",
            }
        ]
        # The correction of the payment has the payment's own day.
        assert [on for on, _ in ledger.postings(payment)] == [PAID, PAID]

    def test_a_transfer_of_100_less_a_fee_of_2_is_98(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, line = paid(shop, buyer, 100, processing_fee_cents=2), bank.line(100)
        refused = bank.refused(line, "match", matching(PAYMENT, payment, 99))
        assert refused == (422, "link_exceeds_remaining")
        assert left(bank.match(line, PAYMENT, payment)) == (98, 0, 2)
        assert ledger.postings(payment)[-1][1] == {"1100": 2, bank.code: -2}

    def test_a_line_is_the_money_of_a_bill_payment_with_its_fee(
        self, shop: Business, ledger: Ledger, vendor: Record, bank: Bank
    ) -> None:
        payment = bill_paid(shop, vendor, 500, processing_fee_cents=5)
        line = bank.line(-505)
        with ledger.moving() as moved:
            assert left(bank.match(line, BILL_PAYMENT, payment)) == (505, 0, 0)
        assert moved == {"1100": 505, bank.code: -505}
        shown = shop.api.get(f"bills/payments/{payment['id']}/").json()
        [own] = shown["reconciled_bank_transactions"]
        assert (own["payment_type"], own["bank_transaction_direction"]) == (BILL_PAYMENT, "debit")

    def test_a_line_is_the_money_of_a_refund_payment(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, line = refund_payment(shop, buyer, 1_000), bank.line(-1_000)
        with ledger.moving() as moved:
            bank.match(line, REFUND_PAYMENT, payment)
        assert moved == {"1100": 1_000, bank.code: -1_000}
        refund = shop.api.get(f"invoices/refunds/{payment['refund_id']}/").json()
        [nested] = refund["refund_payments"]
        path = f"invoices/refunds/{payment['refund_id']}/payments/"
        assert shop.api.get(f"{path}{payment['id']}/").json() == nested
        assert shop.api.get(path).json()["results"] == [nested]
        found = shop.api.get("invoices/refunds/").json()["results"]
        [listed] = [each for each in found if each["id"] == refund["id"]]
        assert listed["refund_payments"] == [nested]
        [own] = nested["reconciled_bank_transactions"]
        assert (own["payment_type"], own["bank_transaction_id"]) == (REFUND_PAYMENT, line["id"])

    def test_a_line_is_the_money_of_a_vendor_refund(
        self, shop: Business, ledger: Ledger, vendor: Record, bank: Bank
    ) -> None:
        payment = agreed(shop, vendor, 800)["payment"]
        path = f"{REFUND_PAYMENTS}{payment['id']}/"
        bank.match(bank.line(300), VENDOR_REFUND_PAYMENT, payment)
        assert shop.api.get(path).json()["payment"]["status"] == "pending"
        last = bank.line(500)
        with ledger.moving() as moved:
            bank.match(last, VENDOR_REFUND_PAYMENT, payment)
        # The payment had no day: it is completed on the day of the last line.
        assert moved == {"1270": -800, bank.code: 800}
        answer = shop.api.get(path).json()
        shown = answer["payment"]
        assert (shown["status"], shown["payment_date"]) == ("completed", BOOKED)
        lines = shown["reconciled_bank_transactions"]
        assert [each["reconciled_amount_cents"] for each in lines] == [300, 500]
        assert answer["refund"]["vendor_refund_payments"] == [shown]
        assert shown in shop.api.get(REFUND_PAYMENTS).json()["results"]
        refunds = shop.api.get("vendor-refunds/").json()["results"]
        assert [shown] in [each["vendor_refund_payments"] for each in refunds]

    def test_a_line_is_a_payout(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payout = card_payout(shop, buyer, 900)
        first, second = bank.line(400), bank.line(500)
        with ledger.moving() as moved:
            bank.match(first, PAYOUT, payout)
        assert moved == {"1100": -900, bank.code: 900}
        assert read(shop, payout)["reconciliation_status"] == "partially_reconciled"
        bank.match(second, PAYOUT, payout)
        assert read(shop, payout)["reconciliation_status"] == "fully_reconciled"

    def test_a_payout_on_its_way_is_paid_on_the_day_of_the_line(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        body = payout_body(700, by_card(shop, buyer, 700), status="processing")
        del body["completed_at"]
        coming = shop.made(PAYOUTS, body)
        with ledger.moving() as moved:
            bank.match(bank.line(700), PAYOUT, coming)
        assert moved == {"1150": -700, bank.code: 700}
        shown = read(shop, coming)
        assert (shown["status"], shown["completed_at"]) == ("paid", f"{BOOKED}T00:00:00Z")
        assert [on for on, _ in ledger.postings(coming)] == [BOOKED]

    def test_a_line_is_linked_with_many_payments(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        line = bank.line(1_000)
        for amount in (100, 300, 600):
            bank.match(line, PAYMENT, paid(shop, buyer, amount))
        shown = bank.read(line)
        assert left(shown) == (1_000, 0, 0)
        assert [each["amount_cents"] for each in shown["links"]] == [100, 300, 600]

    def test_many_lines_are_one_payment_which_completes_with_the_last(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 1_000, part(invoice, 1_000), status="pending")
        with ledger.moving() as moved:
            bank.match(bank.line(600), PAYMENT, payment)
        assert moved == {}
        with ledger.moving() as moved:
            bank.match(bank.line(600), PAYMENT, payment)
        assert moved == {"1200": -1_000, bank.code: 1_000}
        shown = payment_of(shop, payment)
        assert (shown["status"], shown["applied_amount_cents"]) == ("completed", 1_000)
        lines = shown["reconciled_bank_transactions"]
        assert [each["reconciled_amount_cents"] for each in lines] == [600, 400]
        assert shop.api.get(f"invoices/{invoice['id']}/").json()["status"] == "paid"

    def test_a_bill_payment_that_is_processing_completes(
        self, shop: Business, vendor: Record, bank: Bank
    ) -> None:
        bill = received(shop, vendor, 400)
        payment = bill_paid(shop, vendor, 400, of_bill(bill, 400), status="pending")
        shop.api.patch(f"bills/payments/{payment['id']}/", json={"status": "processing"})
        bank.match(bank.line(-400), BILL_PAYMENT, payment)
        assert status_of(shop, bill) == ("paid", 0)
