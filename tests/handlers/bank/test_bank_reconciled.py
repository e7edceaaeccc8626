"""Lines, money and entries of a closed statement are not changed: 409 `bank_reconciled`."""

import json
from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import (
    BILL_PAYMENT,
    BOOKED,
    JOURNAL_ENTRY,
    LINES,
    PAYMENT,
    PAYOUT,
    REFUND_PAYMENT,
    TRANSFER,
    VENDOR_REFUND_PAYMENT,
    Bank,
    left,
    matching,
    open_account,
    splits,
)
from tests.builders.bank_money import refund_payment
from tests.builders.journal_entries import ENTRIES, credit, debit
from tests.builders.payouts import paid_out
from tests.builders.purchases import bill_paid
from tests.builders.sales import paid, payment_body
from tests.builders.trade import Record
from tests.builders.vendor_refunds import REFUND_PAYMENTS, agreed
from tests.partner import Business

pytestmark = pytest.mark.usefixtures("current")
CLOSED, LATER = "2025-03-31", "2025-04-10"
HELD = (409, "bank_reconciled")
PAYMENTS = "invoices/payments/"


@pytest.fixture
def bank(shop: Business, current: Bank) -> Bank:
    """A new bank account for each test."""
    return Bank(shop, open_account(shop))


def entry_body(bank: Bank, on: str, amount: int = 5, **facts: Any) -> Record:
    lines = [debit(bank.code, amount), credit("2500", amount)]
    return {"entry_date": on, "lines": lines, **facts}


def link_of(line: Record) -> Record:
    return {"reconciliation_link_id": line["links"][0]["reconciliation_link_id"]}


class TestItsLines:
    def test_are_not_unmatched(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        line = bank.match(bank.line(50), PAYMENT, paid(shop, buyer, 50, payment_date=BOOKED))
        bank.closed(CLOSED, 50)
        with ledger.untouched():
            answer = bank.ask(line, "unmatch", link_of(line))
        assert (answer.status_code, answer.json()["error_code"]) == HELD
        assert answer.json()["detail"] == {"statement_date": CLOSED}

    def test_are_not_unmatched_from_an_entry(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        entry = shop.made(ENTRIES, entry_body(bank, BOOKED, post=True))
        line = bank.match(bank.line(5), JOURNAL_ENTRY, entry)
        bank.closed(CLOSED, 5)
        with ledger.untouched():
            assert bank.refused(line, "unmatch", link_of(line)) == HELD

    @pytest.mark.parametrize("first", [True, False])
    def test_are_not_unmatched_from_the_other_side_of_a_transfer(
        self, shop: Business, ledger: Ledger, bank: Bank, first: bool
    ) -> None:
        other = Bank(shop, open_account(shop))
        out, come = bank.line(-70), other.line(70)
        bank.match(out, TRANSFER, come)
        bank.closed(CLOSED, -70)
        asked = bank.read(out) if first else other.read(come)
        with ledger.untouched():
            assert bank.refused(asked, "unmatch", link_of(asked)) == HELD

    def test_are_not_uncategorized(self, ledger: Ledger, bank: Bank) -> None:
        line = bank.line(-12)
        bank.split(line, _6300=5, _6000=7)
        bank.closed(CLOSED, -12)
        with ledger.untouched():
            assert bank.refused(line, "uncategorize") == HELD
        with ledger.locked(CLOSED), ledger.untouched():
            assert bank.refused(line, "uncategorize") == HELD

    def test_are_matched_where_that_posts_nothing_there(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        """Match after a closing with a difference of 0, which hid a line and money not linked."""
        entry = shop.made(ENTRIES, entry_body(bank, BOOKED, post=True))
        line = bank.line(5)
        bank.closed(CLOSED, 5)
        with ledger.untouched():
            assert bank.refused(line, "categorize", {"account": "4500"}) == HELD
            assert bank.refused(line, "categorize", {"splits": splits(_4500=5)}) == HELD
        assert left(bank.match(line, JOURNAL_ENTRY, entry)) == (5, 0, 0)

    def test_of_days_after_are_free(self, bank: Bank) -> None:
        bank.closed(CLOSED, 0)
        line = bank.line(-12, date="2025-04-01")
        bank.categorize(line, "6300")
        assert left(bank.uncategorize(line)) == (0, 0, 12)


MT940 = b":20:A\r\n:25:GB00\r\n:28C:1\r\n:60F:C250331GBP0,\r\n:61:2503310331C0,07NMSCRFB-LATE\r\n"
CSV = b"Day,Amount,Bank id\n2025-03-31,0.07,LATE\n"


class TestLinesAfterClosing:
    """Lines that are imported into the days of a closed statement."""

    @pytest.fixture
    def entry(self, shop: Business, ledger: Ledger, bank: Bank) -> Record:
        """An entry of 7 that no line shows."""
        return shop.made(ENTRIES, entry_body(bank, BOOKED, 7, post=True))

    @pytest.fixture
    def closed(self, bank: Bank, entry: Record) -> Record:
        """A statement closed at 12: a line of 5, and the entry of 7."""
        bank.categorize(bank.line(5), "4500")
        return bank.closed(CLOSED, 12)

    def again(self, bank: Bank, closed: Record) -> Record:
        answer: Record = bank.shop.api.get(f"{bank.statements}{closed['id']}/").json()
        return answer

    def test_are_marked_in_both_answers(self, ledger: Ledger, bank: Bank, closed: Record) -> None:
        line = {"date": CLOSED, "amount_cents": 7, "direction": "credit"}
        lines = [line, {**line, "date": "2025-04-01"}]
        body = {"bank_account_id": bank.account["id"], "transactions": lines}
        results = bank.shop.api.post(LINES, json=body).json()["results"]
        assert [(each["status"], each["after_closing"]) for each in results] == [
            ("imported", True),
            ("imported", False),
        ]
        read = [bank.read({"id": each["id"]})["after_closing"] for each in results]
        assert read == [True, False]
        assert self.again(bank, closed) == closed

    @pytest.mark.parametrize(("content", "format"), [(MT940, "mt940"), (CSV, "csv")])
    def test_of_files_are_marked(
        self, bank: Bank, closed: Record, content: bytes, format: str
    ) -> None:
        mapping = {"date": "Day", "amount": "Amount", "external_id": "Bank id"}
        form = {"bank_account_id": bank.account["id"], "format": format}
        if format == "csv":
            form["mapping"] = json.dumps(mapping)
        answer = bank.shop.api.post(LINES, data=form, files={"file": ("lines", content)})
        [result] = answer.json()["results"]
        assert (result["status"], result["after_closing"]) == ("imported", True)
        again = bank.shop.api.post(LINES, data=form, files={"file": ("lines", content)})
        assert again.json()["results"][0]["status"] == "skipped"
        assert self.again(bank, closed) == closed

    def test_are_matched_and_unmatched_where_no_figure_moves(
        self, bank: Bank, entry: Record, closed: Record
    ) -> None:
        line = bank.line(7, date=CLOSED)
        matched = bank.match(line, JOURNAL_ENTRY, entry)
        assert (left(matched), matched["after_closing"]) == ((7, 0, 0), True)
        assert self.again(bank, closed) == closed
        answer = bank.ask(matched, "unmatch", link_of(matched))
        assert (answer.status_code, left(answer.json())) == (200, (0, 0, 7))

    def test_are_refused_what_would_move_a_figure(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank, closed: Record
    ) -> None:
        line = bank.line(7, date=CLOSED)
        payment = paid(shop, buyer, 7, payment_date=BOOKED)  # It is on another account.
        with ledger.untouched():
            assert bank.refused(line, "categorize", {"account": "4500"}) == HELD
            assert bank.refused(line, "match", matching(PAYMENT, payment)) == HELD

    def test_leave_the_money_that_only_they_show_free(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment = paid(shop, buyer, 7, payment_date=LATER)
        bank.closed(CLOSED, 0)
        bank.match(bank.line(7, date=CLOSED), PAYMENT, payment)
        path = f"{PAYMENTS}{payment['id']}/"
        answer = shop.api.patch(path, json={"payment_date": "2025-04-11"})
        assert answer.status_code == 200

    def test_are_suggested_an_automatic_rule(
        self, shop: Business, ledger: Ledger, bank: Bank, closed: Record
    ) -> None:
        body = {
            "name": "Fee",
            "conditions": {"text": "late fee", "bank_account_id": bank.account["id"]},
            "result": {"account": "6300"},
            "apply": "automatic",
        }
        rule = shop.made("bank-rules/", body)
        line = {"date": CLOSED, "amount_cents": 7, "direction": "debit", "description": "Late fee"}
        body = {"bank_account_id": bank.account["id"], "transactions": [line]}
        [result] = shop.api.post(LINES, json=body).json()["results"]
        assert (result["status"], result["suggested_by_rule_id"]) == ("imported", rule["id"])
        assert result["categorized_by_rule_id"] is None

    def test_are_in_the_statement_once_it_is_reopened(
        self, bank: Bank, entry: Record, closed: Record
    ) -> None:
        line = bank.match(bank.line(7, date=CLOSED), JOURNAL_ENTRY, entry)
        shown = (closed["unexplained_cents"], closed["money_without_lines_cents"])
        assert shown == (7, 7)
        reopened = bank.reopen(closed)
        assert (reopened["unexplained_cents"], reopened["money_without_lines_cents"]) == (0, 0)
        assert bank.read(line)["after_closing"] is False
        again = bank.closed(CLOSED, 12)
        assert (again["unexplained_cents"], again["money_without_lines_cents"]) == (0, 0)
        assert bank.refused(line, "unmatch", link_of(line)) == HELD


class TestMoneyOfItsLines:
    @pytest.fixture
    def payment(self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank) -> Record:
        payment = paid(shop, buyer, 100, payment_date=BOOKED, processing_fee_cents=2)
        bank.match(bank.line(98), PAYMENT, payment)
        bank.closed(CLOSED, 98)
        return payment

    @pytest.mark.parametrize(
        "changes",
        [
            {"payment_date": LATER},
            {"payment_date": "2025-03-20"},
            {"processing_fee_cents": 1},
            {"total_amount_cents": 120},
            {"status": "failed", "status_date": "2025-03-20"},
        ],
    )
    def test_is_not_changed(self, ledger: Ledger, payment: Record, changes: Record) -> None:
        path = f"{PAYMENTS}{payment['id']}/"
        assert ledger.refused("PATCH", path, json=changes) == HELD
        # A lock would move the posting to a later day; it is refused all the same.
        with ledger.locked(CLOSED):
            assert ledger.refused("PATCH", path, json=changes)[0] == 409

    def test_may_have_another_note(self, shop: Business, payment: Record) -> None:
        answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json={"note": "Held"})
        assert (answer.status_code, answer.json()["payment"]["note"]) == (200, "Held")

    @pytest.mark.parametrize(
        "changes", [{"payment_date": LATER}, {"status": "failed", "status_date": CLOSED}]
    )
    @pytest.mark.parametrize("kind", [BILL_PAYMENT, VENDOR_REFUND_PAYMENT])
    def test_of_a_vendor_is_not_changed(
        self,
        shop: Business,
        ledger: Ledger,
        vendor: Record,
        bank: Bank,
        kind: str,
        changes: Record,
    ) -> None:
        if kind == BILL_PAYMENT:
            payment, path, amount = bill_paid(shop, vendor, 60), "bills/payments/", -60
        else:
            payment, path, amount = agreed(shop, vendor, 40)["payment"], REFUND_PAYMENTS, 40
        bank.match(bank.line(amount), kind, payment)
        bank.closed(CLOSED, amount)
        assert ledger.refused("PATCH", f"{path}{payment['id']}/", json=changes) == HELD

    def test_of_a_refund_is_not_cancelled(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment = refund_payment(shop, buyer, 30)
        bank.match(bank.line(-30), REFUND_PAYMENT, payment)
        bank.closed(CLOSED, -30)
        path = f"invoices/refunds/{payment['refund_id']}/payments/{payment['id']}/delete/"
        assert ledger.refused("POST", path, json={"status_date": CLOSED}) == HELD

    def test_of_a_payout_stays(self, shop: Business, ledger: Ledger, bank: Bank) -> None:
        payout = paid_out(shop, 80, completed_at=f"{BOOKED}T06:00:00Z")
        line = bank.match(bank.line(80), PAYOUT, payout)
        bank.closed(CLOSED, 80)
        with ledger.untouched():
            assert bank.refused(line, "unmatch", link_of(line)) == HELD


class TestItsAccount:
    def test_takes_no_entry_up_to_its_day(self, shop: Business, ledger: Ledger, bank: Bank) -> None:
        draft = shop.made(ENTRIES, entry_body(bank, CLOSED))
        bank.closed(CLOSED, 0)
        body = entry_body(bank, CLOSED, post=True)
        assert ledger.refused("POST", ENTRIES, json=body) == HELD
        assert ledger.refused("POST", f"{ENTRIES}{draft['id']}/approve/") == HELD
        assert shop.made(ENTRIES, entry_body(bank, "2025-04-01", post=True))

    def test_keeps_its_entries(self, shop: Business, ledger: Ledger, bank: Bank) -> None:
        entry = shop.made(ENTRIES, entry_body(bank, BOOKED, post=True))
        bank.closed(CLOSED, 5)
        path = f"{ENTRIES}{entry['id']}/reverse/"
        assert ledger.refused("POST", path, json={"entry_date": CLOSED}) == HELD
        assert shop.api.post(path, json={"entry_date": LATER}).status_code == 201

    def test_takes_no_money_that_lines_would_bring_there(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment = paid(shop, buyer, 25, payment_date=BOOKED)  # The payment is on another account.
        line = bank.line(25, date=CLOSED)
        assert bank.reconcile(CLOSED, 25)["status"] == "open"
        bank.closed(CLOSED, 0)
        with ledger.untouched():
            assert bank.refused(line, "match", matching(PAYMENT, payment)) == HELD

    def test_takes_no_transfer_of_another_account(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        other = Bank(shop, open_account(shop))
        bank.closed(CLOSED, 0)
        body = {"target_type": TRANSFER, "bank_account_id": bank.account["id"]}
        line = other.line(10)
        with ledger.untouched():
            assert other.refused(line, "match", body) == HELD
        assert left(other.transfer(other.line(11, date=LATER), bank)) == (11, 0, 0)

    def test_takes_no_payment_by_its_method(self, shop: Business) -> None:
        own = shop.partner.business()
        Bank(own, open_account(own)).closed(CLOSED, 0)
        body = payment_body(own.customer(), 10, payment_date=CLOSED)
        answer = own.api.post(PAYMENTS, json=body)
        assert (answer.status_code, answer.json()["error_code"]) == HELD
        # Cash is on another account, and the later day is in no closed statement.
        for change in ({"payment_method": "cash"}, {"payment_date": LATER}):
            assert own.api.post(PAYMENTS, json={**body, **change}).status_code == 201
