"""Money that comes back: on its day, on its bank account, and matched with the line of the bank."""

from collections import Counter
from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.bank import (
    BILL_PAYMENT,
    PAYMENT,
    PAYOUT,
    REFUND_PAYMENT,
    VENDOR_REFUND_PAYMENT,
    Bank,
    left,
    matching,
    open_account,
)
from tests.builders.bank_money import money_of, sign_of
from tests.builders.sales import paid
from tests.builders.trade import Record
from tests.builders.vendor_refunds import REFUND_PAYMENTS, agreed, changed
from tests.partner import Business, Partner

PAID_ON, CLOSED, RETURNED_ON = "2025-03-20", "2025-03-31", "2025-04-03"
KINDS = (PAYMENT, BILL_PAYMENT, REFUND_PAYMENT, VENDOR_REFUND_PAYMENT)
# The account that has the amount while the money is away.
OWED = {
    PAYMENT: "2100",
    BILL_PAYMENT: "1250",
    REFUND_PAYMENT: "2300",
    VENDOR_REFUND_PAYMENT: "1270",
}


@pytest.fixture
def bank(shop: Business, current: Bank) -> Bank:
    """A new bank account for each test."""
    return Bank(shop, open_account(shop))


def path_of(kind: str, payment: Record) -> str:
    match kind:
        case "invoice_payment":
            return f"invoices/payments/{payment['id']}/"
        case "bill_payment":
            return f"bills/payments/{payment['id']}/"
        case "vendor_refund_payment":
            return f"{REFUND_PAYMENTS}{payment['id']}/"
    return f"invoices/refunds/{payment['refund_id']}/payments/{payment['id']}/"


def shown_of(shop: Business, kind: str, payment: Record) -> Record:
    answer = shop.api.get(path_of(kind, payment))
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()
    return found.get("payment", found)


def sent_back(shop: Business, kind: str, payment: Record, **facts: Any) -> None:
    """Record by hand that money came back."""
    if kind == REFUND_PAYMENT:
        answer = shop.api.post(f"{path_of(kind, payment)}delete/", json=facts)
    else:
        answer = shop.api.patch(path_of(kind, payment), json={"status": "failed", **facts})
    assert answer.status_code == 200, answer.text


def suggested(bank: Bank, line: Record, payment: Record) -> list[tuple[str, int]]:
    """Return the movements of a payment that are suggested for a line."""
    found = bank.suggested(line)
    return [(e["of"], e["amount_cents"]) for e in found if e["target_id"] == payment["id"]]


def on_day(ledger: Ledger, payment: Record, day: str) -> dict[str, int]:
    """Return what a payment posted on a day, by account."""
    moved: Counter[str] = Counter()
    for on, amounts in ledger.postings(payment):
        moved.update(amounts if on == day else {})
    return {code: amount for code, amount in moved.items() if amount}


@pytest.fixture
def amount(kind: str) -> int:
    """Return 90, above zero where the money comes in."""
    return sign_of(kind) * 90


@pytest.fixture
def payment(kind: str, shop: Business, buyer: Record, vendor: Record) -> Record:
    """Create money of 90 that moved on 20 March at the latest."""
    if kind == VENDOR_REFUND_PAYMENT:
        announced = agreed(shop, vendor, 90)["payment"]
        made = changed(shop, announced, status="completed", payment_date=PAID_ON)
        found: Record = made["payment"]
        return found
    return money_of(kind, shop, buyer, vendor)


@pytest.mark.parametrize("kind", KINDS)
class TestReturn:
    def test_its_line_lets_the_money_fail_on_its_day_though_the_month_is_closed(
        self, shop: Business, ledger: Ledger, bank: Bank, kind: str, amount: int, payment: Record
    ) -> None:
        first = bank.line(amount, date=PAID_ON)
        bank.match(first, kind, payment)
        statement = bank.closed(CLOSED, amount)
        line = bank.line(-amount, date=RETURNED_ON)
        with ledger.moving() as moved:
            shown = bank.match_return(line, kind, payment)
        assert moved == {bank.code: -amount, OWED[kind]: amount}
        assert on_day(ledger, payment, RETURNED_ON) == moved
        assert left(shown) == (90, 0, 0)
        [link] = shown["links"]
        assert (link["of"], link["target_id"]) == ("return", payment["id"])
        returned = shown_of(shop, kind, payment)
        assert returned["status"] == ("cancelled" if kind == REFUND_PAYMENT else "failed")
        lines = returned["reconciled_bank_transactions"]
        assert [each["of"] for each in lines] == ["original", "return"]
        assert bank.read(first)["links"][0]["of"] == "original"
        # Both statements close with nothing left to explain.
        assert bank.reopen(statement)["status"] == "open"
        bank.closed(CLOSED, amount)
        bank.closed("2025-04-30", 0)

    def test_recorded_by_hand_it_keeps_its_lines_and_its_account(
        self, shop: Business, ledger: Ledger, bank: Bank, kind: str, amount: int, payment: Record
    ) -> None:
        bank.match(bank.line(amount, date=PAID_ON), kind, payment)
        bank.closed(CLOSED, amount)
        sent_back(shop, kind, payment, status_date=RETURNED_ON)
        assert ledger.postings(payment)[-1][0] == RETURNED_ON
        line = bank.line(-amount, date=RETURNED_ON)
        assert suggested(bank, line, payment) == [("return", 90)]
        with ledger.moving() as moved:
            bank.match_return(line, kind, payment)
        assert moved == {}
        bank.closed("2025-04-30", 0)
        again = bank.line(-amount, date="2025-05-02")
        refused = bank.refused(again, "match", matching(kind, payment, of="return"))
        assert refused == (422, "link_exceeds_remaining")

    def test_before_any_line_both_are_matched_later(
        self, shop: Business, bank: Bank, kind: str, amount: int, payment: Record
    ) -> None:
        sent_back(shop, kind, payment, status_date=RETURNED_ON)
        out, back = bank.line(amount, date=PAID_ON), bank.line(-amount, date=RETURNED_ON)
        assert suggested(bank, out, payment) == [("original", 90)]
        bank.match(out, kind, payment)
        bank.match_return(back, kind, payment)
        bank.closed(CLOSED, amount)
        bank.closed("2025-04-30", 0)

    def test_the_return_may_be_unmatched_until_its_statement_closes(
        self, shop: Business, ledger: Ledger, bank: Bank, kind: str, amount: int, payment: Record
    ) -> None:
        line = bank.line(-amount, date=RETURNED_ON)
        bank.match_return(line, kind, payment)
        with ledger.moving() as moved:
            bank.unmatch(line)
        assert moved == {}  # It is on the account of its method, on both days.
        assert shown_of(shop, kind, payment)["status"] != "completed"
        bank.match_return(line, kind, payment)
        bank.match(bank.line(amount, date=PAID_ON), kind, payment)
        bank.closed("2025-04-30", 0)
        link = bank.read(line)["links"][0]["reconciliation_link_id"]
        refused = bank.refused(line, "unmatch", {"reconciliation_link_id": link})
        assert refused == (409, "bank_reconciled")


class TestMatchBankTransaction:
    def test_a_closed_statement_of_the_methods_account_holds_nothing(
        self, acme: Partner, api_server: ApiServer
    ) -> None:
        own = acme.business()
        current, savings = (Bank(own, open_account(own)) for _ in range(2))
        payment = paid(own, own.customer(), 70, payment_date=PAID_ON)
        savings.match(savings.line(70, date=PAID_ON), PAYMENT, payment)
        assert current.code == "1100"
        current.closed("2025-06-30", 0)
        savings.match_return(savings.line(-70, date=RETURNED_ON), PAYMENT, payment)
        ledger = Ledger(api_server, own)
        assert ledger.postings(payment)[-1] == (RETURNED_ON, {savings.code: -70, "2100": 70})
        ledger.audit()

    def test_a_return_before_its_money_is_refused(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment = paid(shop, buyer, 70, payment_date=PAID_ON)
        line = bank.line(-70, date="2025-03-19")
        with ledger.untouched():
            refused = bank.refused(line, "match", matching(PAYMENT, payment, of="return"))
        assert refused == (422, "date_out_of_order")

    def test_a_return_in_a_locked_month_is_refused(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment = paid(shop, buyer, 70, payment_date=PAID_ON)
        line = bank.line(-70, date=RETURNED_ON)
        with ledger.locked("2025-04-30"), ledger.untouched():
            refused = bank.refused(line, "match", matching(PAYMENT, payment, of="return"))
        assert refused == (409, "period_locked")

    def test_pending_money_has_no_return(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, line = paid(shop, buyer, 70, status="pending"), bank.line(-70)
        with ledger.untouched():
            refused = bank.refused(line, "match", matching(PAYMENT, payment, of="return"))
        assert refused == (409, "item_not_completed")

    def test_a_payout_has_no_return(self, ledger: Ledger, buyer: Record, bank: Bank) -> None:
        line = bank.line(-70)
        body = matching(PAYOUT, buyer, of="return")
        with ledger.untouched():
            assert bank.refused(line, "match", body) == (400, "validation_error")
