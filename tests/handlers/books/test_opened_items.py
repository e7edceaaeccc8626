"""Items of an opening: settled like other items, with fixed facts."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import PAYMENT, Bank, matching, open_account
from tests.builders.openings import (
    BEFORE,
    DAY,
    all_open,
    open_invoice,
    opened,
    prepaid,
    reversed_,
)
from tests.builders.payouts import payout_body
from tests.builders.requests import Request
from tests.builders.sales import paid, refund_paid, refunded, written_off
from tests.builders.trade import PURCHASES, SALES, Record, line
from tests.builders.vendor_refunds import agreed, of_payment
from tests.handlers.books.unopened import UnopenedBooks
from tests.partner import Business

IN_OPENING = (409, "in_opening_balance")


@pytest.fixture
def opening(shop: Business, buyer: Record, vendor: Record) -> Record:
    return opened(shop, **all_open(buyer, vendor))


class TestSettled(UnopenedBooks):
    def test_an_invoice_is_paid_refunded_and_written_off(
        self, shop: Business, ledger: Ledger, opening: Record, buyer: Record
    ) -> None:
        first, second = opening["invoices"]
        with ledger.moving() as moved:
            paid(shop, buyer, 1_200, SALES.part(first, 1_200), payment_date="2025-01-09")
        assert moved == {"1100": 1_200, "1200": -1_200}
        assert shop.api.get(f"invoices/{first['id']}/").json()["status"] == "paid"
        with ledger.moving() as moved:
            refund = refunded(shop, {"type": "Invoice", "id": first["id"]}, amount_cents=200)
            refund_paid(shop, refund)
        assert moved == {"4100": 200, "1100": -200}
        with ledger.moving() as moved:
            written_off(shop, second)
        assert moved == {"6200": 300, "1200": -300}

    def test_nothing_is_settled_before_the_day_of_the_opening(
        self, shop: Business, ledger: Ledger, opening: Record, buyer: Record
    ) -> None:
        invoice = opening["invoices"][0]
        payment = paid(shop, buyer, 100, SALES.part(invoice, 100), payment_date="2024-12-05")
        assert ledger.postings(payment) == [
            ("2024-12-05", {"1100": 100, "2100": -100}),
            (DAY, {"2100": 100, "1200": -100}),
        ]

    def test_credits_are_applied_from_the_day_of_the_opening_on(
        self, shop: Business, ledger: Ledger, opening: Record
    ) -> None:
        credit, invoice = opening["customer_credits"][0], opening["invoices"][0]
        body = {"allocations": [SALES.share(invoice, 60)], "memo": "used"}
        answer = shop.api.put(f"customer-credits/{credit['id']}/", json=body)
        assert (answer.status_code, answer.json()["status"]) == (200, "partially_applied")
        back, bill = opening["vendor_credits"][0], opening["bills"][0]
        body = {"allocations": [PURCHASES.share(bill, 40)]}
        answer = shop.api.put(f"vendor-credits/{back['id']}/", json=body)
        assert answer.json()["status"] == "applied"
        assert (ledger.balances()["1200"], ledger.balances()["2000"]) == (1_440, -460)

    def test_an_applied_credit_is_dated_in_the_invoice_as_in_the_ledger(
        self, shop: Business, ledger: Ledger, opening: Record
    ) -> None:
        credit, invoice = opening["customer_credits"][0], opening["invoices"][0]
        body = {"allocations": [SALES.share(invoice, 60)]}
        made = shop.api.put(f"customer-credits/{credit['id']}/", json=body).json()
        [share] = shop.api.get(f"invoices/{invoice['id']}/").json()["credit_allocations"]
        assert share["applied_at"] == made["allocations"][0]["applied_at"]
        assert ledger.entries(credit)[-1].on == share["applied_at"][:10]

    def test_money_in_advance_is_allocated_and_refunded(
        self, shop: Business, ledger: Ledger, opening: Record, vendor: Record
    ) -> None:
        money, outlay = opening["prepayments"]
        body = {"allocations": [SALES.part(opening["invoices"][0], 50)], "note": "used"}
        answer = shop.api.patch(f"invoices/payments/{money['id']}/", json=body)
        assert answer.json()["payment"]["remaining_amount_cents"] == 20
        refund = refunded(shop, money, amount_cents=20)
        with ledger.moving() as moved:
            refund_paid(shop, refund)
        assert moved == {"2300": 20, "1100": -20}
        body = {"allocations": [PURCHASES.part(opening["bills"][0], 25)]}
        shop.api.patch(f"bills/payments/{outlay['id']}/", json=body).raise_for_status()
        with ledger.moving() as moved:
            agreed(shop, vendor, 5, of_payment(outlay, 5))
        assert moved == {"1270": 5, "1250": -5}

    def test_a_customer_with_open_items_of_an_opening_is_not_archived(
        self, shop: Business, opening: Record, buyer: Record
    ) -> None:
        answer = shop.api.post(f"customers/{buyer['id']}/archive/")
        assert answer.json()["detail"] == {
            "outstanding_balance": 1_500,
            "unapplied_payments": 70,
            "unapplied_credits": 100,
            "unpaid_refunds": 0,
        }


class TestRecordOfAnOpening(UnopenedBooks):
    @pytest.mark.parametrize("listed", ["invoices", "bills", "customer_credits", "vendor_credits"])
    def test_a_record_of_an_opening_cannot_be_replaced_or_voided(
        self, shop: Business, ledger: Ledger, opening: Record, listed: str
    ) -> None:
        path = f"{listed.replace('_', '-')}/{opening[listed][0]['id']}/"
        requests: list[Request] = [("POST", f"{path}void/", None)]
        if listed in ("invoices", "bills"):
            requests.append(("PUT", path, {"line_items": [line()]}))
        for method, address, body in requests:
            with ledger.untouched():
                answer = shop.api.request(method, address, json=body)
            assert (answer.status_code, answer.json()["error_code"]) == IN_OPENING
            assert answer.json()["detail"] == {"opening_balance_id": opening["id"]}


class TestUpdateInvoicePayment(UnopenedBooks):
    @pytest.mark.parametrize(
        "change",
        [
            {"total_amount_cents": 71},
            {"payment_date": "2024-11-04"},
            {"payment_method": "cash"},
            {"payment_processor": "stripe"},
            {"processing_fee_cents": 1},
            {"status": "failed"},
            {"status": "refunded"},
        ],
    )
    def test_the_facts_of_a_prepayment_of_an_opening_stay(
        self, ledger: Ledger, opening: Record, change: Record
    ) -> None:
        path = f"invoices/payments/{opening['prepayments'][0]['id']}/"
        assert ledger.refused("PATCH", path, json=change) == IN_OPENING
        assert ledger.refused("PUT", path, json=change) == IN_OPENING

    def test_repeated_amounts_of_a_prepayment_pass_and_its_note_can_change(
        self, shop: Business, opening: Record
    ) -> None:
        path = f"invoices/payments/{opening['prepayments'][0]['id']}/"
        body = {"total_amount_cents": 70, "payment_date": BEFORE, "note": "seen"}
        answer = shop.api.patch(path, json=body)
        assert (answer.status_code, answer.json()["payment"]["note"]) == (200, "seen")

    def test_a_prepayment_cannot_be_cancelled_nor_completed_after_a_reversal(
        self, shop: Business, ledger: Ledger, opening: Record
    ) -> None:
        path = f"invoices/payments/{opening['prepayments'][0]['id']}/"
        assert ledger.refused("POST", f"{path}delete/") == (409, "invalid_state_transition")
        reversed_(shop, opening)
        assert ledger.refused("PATCH", path, json={"status": "completed"}) == IN_OPENING


class TestUpdateBillPayment(UnopenedBooks):
    @pytest.mark.parametrize("change", [{"amount_cents": 31}, {"status": "failed"}])
    def test_the_facts_of_a_prepayment_of_an_opening_stay(
        self, ledger: Ledger, opening: Record, change: Record
    ) -> None:
        path = f"bills/payments/{opening['prepayments'][1]['id']}/"
        assert ledger.refused("PATCH", path, json=change) == IN_OPENING


class TestMatchBankTransaction(UnopenedBooks):
    def test_a_prepayment_of_an_opening_matches_no_bank_line(
        self, shop: Business, ledger: Ledger, opening: Record
    ) -> None:
        bank = Bank(shop, open_account(shop))
        line = bank.line(70, date=BEFORE)
        assert bank.suggested(line) == []
        with ledger.untouched():
            refusal = bank.refused(line, "match", matching(PAYMENT, opening["prepayments"][0]))
        assert refusal == IN_OPENING


class TestCreatePayout(UnopenedBooks):
    def test_a_prepayment_of_an_opening_is_in_no_payout(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        opening = opened(shop, prepayments=[prepaid(buyer, 70, payment_method="other")])
        body = payout_body(70, payment_ids=[opening["prepayments"][0]["id"]])
        assert ledger.refused("POST", "payouts/", json=body) == (422, "item_not_in_clearing")


class TestListInvoices(UnopenedBooks):
    def test_an_invoice_of_an_opening_is_overdue_after_its_due_date(
        self, shop: Business, buyer: Record
    ) -> None:
        due = {"due_at": "2024-12-04T00:00:00Z"}
        opening = opened(shop, invoices=[open_invoice(buyer, 5, **due)])
        overdue = shop.api.get("invoices/", params={"status": "overdue"}).json()["results"]
        assert [each["id"] for each in overdue] == [opening["invoices"][0]["id"]]
        assert overdue[0]["opening_balance_id"] == opening["id"]
