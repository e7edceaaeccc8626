"""The differences between sales and purchases, and the refusals of each side."""

from typing import Any

import pytest

from accounting.books.chart import is_control
from accounting.errors import Conflict, RuleViolation
from accounting.trade import postings, write_offs
from accounting.trade.commands import WriteOffDocument
from accounting.trade.payments import STATUSES
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from tests.accounting.samples import ACCOUNTS, ROLES, amounts, no_move, refusal_of
from tests.accounting.trade.business import Trade, line
from tests.accounting.trade.purchases import Purchases


class TestAccounts:
    def test_the_sides_meet_on_no_account(self) -> None:
        sold, bought = (
            {side.control, side.prepayments, side.credits, side.refunds, side.tax, side.fee}
            for side in (RECEIVABLE, PAYABLE)
        )
        assert len(sold) == len(bought) == 6
        assert not sold & bought

    @pytest.mark.parametrize("side", [RECEIVABLE, PAYABLE])
    def test_accounts_that_documents_must_equal_are_control_accounts(self, side: Side) -> None:
        kept = (side.control, side.prepayments, side.credits, side.refunds)
        assert all(is_control(each.value) for each in kept)

    def test_the_machine_writes_off_with_the_other_sign_too(self) -> None:
        trade = Trade("5", side=PAYABLE)
        bill = trade.documents[trade.document(line(1_000, tax_rate=20))]
        command = WriteOffDocument()
        _, write_off = write_offs.write_off(PAYABLE, bill, command, ACCOUNTS, trade.context())
        [entry] = postings.entries_for(PAYABLE, write_off, ROLES, None)
        assert amounts(entry) == {"2000": 1_200, "4500": -1_200}
        assert entry.description == "Write-off of a bill from Acme Ltd"


class TestRefusals:
    @pytest.mark.parametrize(
        ("side", "inactive", "document", "party"),
        [
            (RECEIVABLE, "customer_archived", "invoice", "customer"),
            (PAYABLE, "vendor_not_active", "bill", "vendor"),
        ],
    )
    def test_each_side_says_no_in_its_own_words(
        self, side: Side, inactive: str, document: str, party: str
    ) -> None:
        expected = {
            "party_not_active": (Conflict, inactive),
            "party_has_balance": (Conflict, f"{party}_has_balance"),
            "not_open": (Conflict, f"{document}_not_open"),
            "of_another_party": (RuleViolation, f"{document}_{party}_mismatch"),
            "has_allocations": (Conflict, f"{document}_has_allocations"),
        }
        made = {name: getattr(side.refusals, name)(why=1) for name in expected}
        assert {name: (type(each), each.code) for name, each in made.items()} == expected
        assert all(each.detail == {"why": 1} for each in made.values())


def bill_payment(status: str) -> tuple[Any, Any]:
    """Return functions that move and read a bill payment in a status."""
    trade = Trade("5", side=PAYABLE)
    parts = [] if status in ("failed", "cancelled") else [(trade.document(600), 500)]
    id_ = trade.pay(500, *parts, status=status)
    return lambda after: trade.change(id_, status=after), lambda: trade.payments[id_]


def vendor_refund_payment(status: str) -> tuple[Any, Any]:
    """Return functions that move and read a payment of a vendor refund in a status."""
    trade = Purchases("5")
    [payment] = trade.payments_of(trade.agree(500))
    for each in ["failed", "pending"] if status == "pending" else [status]:
        trade.move(payment.id, each)
    return lambda after: trade.move(payment.id, after), lambda: trade.refund_payments[payment.id]


class TestPaymentMoves:
    """The moves of payments: a table for money of vendors, any move for money of customers."""

    @pytest.mark.parametrize("made", [bill_payment, vendor_refund_payment])
    @pytest.mark.parametrize(
        ("before", "allowed"),
        [
            ("pending", ["processing", "completed", "failed", "cancelled"]),
            ("processing", ["completed", "failed"]),
            ("completed", ["failed"]),
            ("failed", ["pending", "completed", "cancelled"]),
            ("cancelled", []),
        ],
    )
    def test_vendor_money_moves_by_rules(self, made: Any, before: str, allowed: list[str]) -> None:
        for after in STATUSES:
            move, read = made(before)
            if after in (before, *allowed):
                move(after)
                assert read().status == after
            else:
                assert refusal_of(move, after) == no_move(before, *allowed)

    def test_an_invoice_payment_goes_anywhere(self) -> None:
        assert all(
            RECEIVABLE.payment_moves[status] == set(STATUSES) - {status} for status in STATUSES
        )
