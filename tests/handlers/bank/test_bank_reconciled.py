"""Lines, money and entries of a closed statement are not changed: 409 `bank_reconciled`."""

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

    def test_get_no_other_beside_them(self, bank: Bank) -> None:
        bank.closed(CLOSED, 0)
        line = {"date": CLOSED, "amount_cents": 5, "direction": "credit"}
        lines = [line, {**line, "date": "2025-04-01"}]
        body = {"bank_account_id": bank.account["id"], "transactions": lines}
        late, good = bank.shop.api.post(LINES, json=body).json()["results"]
        assert (late["status"], late["error"]["error_code"]) == ("failed", "bank_reconciled")
        assert good["status"] == "imported"

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
