"""What tells sales from purchases, and what is refused on each side."""

import pytest

from accounting.books.chart import is_control
from accounting.errors import Conflict, RuleViolation
from accounting.trade import postings, write_offs
from accounting.trade.commands import WriteOffDocument
from accounting.trade.payments import STATUSES
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from tests.accounting.samples import ACCOUNTS, ROLES, amounts, refused
from tests.accounting.trade.business import Trade, line


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
        ("side", "codes"),
        [
            (
                RECEIVABLE,
                {
                    "party_not_active": "customer_archived",
                    "party_has_balance": "customer_has_balance",
                    "not_open": "invoice_not_open",
                    "of_another_party": "invoice_customer_mismatch",
                    "has_allocations": "invoice_has_allocations",
                },
            ),
            (
                PAYABLE,
                {
                    "party_not_active": "vendor_not_active",
                    "party_has_balance": "vendor_has_balance",
                    "not_open": "bill_not_open",
                    "of_another_party": "bill_vendor_mismatch",
                    "has_allocations": "bill_has_allocations",
                },
            ),
        ],
    )
    def test_each_side_says_no_in_its_own_words(self, side: Side, codes: dict[str, str]) -> None:
        made = {name: getattr(side.refusals, name)(why=1) for name in codes}
        assert {name: each.code for name, each in made.items()} == codes
        assert all(each.detail == {"why": 1} for each in made.values())
        kinds = {name: type(each) for name, each in made.items()}
        assert kinds.pop("of_another_party") is RuleViolation
        assert set(kinds.values()) == {Conflict}


class TestPaymentMoves:
    """Money that is paid out moves by a table; money that comes in moves freely."""

    ALLOWED: tuple[tuple[str, list[str]], ...] = (
        ("pending", ["processing", "completed", "failed", "cancelled"]),
        ("processing", ["completed", "failed"]),
        ("completed", ["failed"]),
        ("failed", ["pending", "completed", "cancelled"]),
        ("cancelled", []),
    )

    @pytest.mark.parametrize(("before", "allowed"), ALLOWED)
    def test_every_move_of_a_bill_payment(self, before: str, allowed: list[str]) -> None:
        for after in STATUSES:
            trade = Trade("5", side=PAYABLE)
            bill = trade.document(600)
            live = before in ("pending", "processing", "completed")
            payment = trade.pay(500, *([(bill, 500)] if live else []), status=before)
            if after in (before, *allowed):
                trade.change(payment, status=after)
                assert trade.payments[payment].status == after
            else:
                refusal = refused(trade.change, payment, status=after)
                assert refusal.code == "invalid_state_transition"
                assert refusal.detail["current_state"] == before
                assert refusal.detail["allowed_next_states"] == allowed

    def test_an_invoice_payment_goes_anywhere(self) -> None:
        assert all(
            RECEIVABLE.payment_moves[status] == set(STATUSES) - {status} for status in STATUSES
        )
