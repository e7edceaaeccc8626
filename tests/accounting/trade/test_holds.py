"""Payouts and bank lines that keep a payment from changing."""

from dataclasses import replace
from datetime import date
from typing import Any
from uuid import UUID

import pytest

from accounting.books.ledger import Span
from accounting.errors import Conflict, RuleViolation
from accounting.trade import holds
from accounting.trade.payments import MoneyBank, Payment
from accounting.trade.refunds import RefundPayment
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from tests.accounting.bank.card_sales import CardSales
from tests.accounting.samples import refused
from tests.accounting.trade.business import Trade

BANK = UUID(int=1100)
CARD = MoneyBank(UUID(int=1), UUID(int=2050))
PAYOUT = UUID(int=4711)


def payment(**facts: Any) -> Payment:
    trade = CardSales("5")
    return replace(trade.payments[trade.card(100, fee=2)], **facts)


def refund_payment(**facts: Any) -> RefundPayment:
    trade = CardSales("5")
    made: RefundPayment = trade.refund_payments[trade.give_back(100, fee=2)]
    return replace(made, **facts)


def code(refusal: Any) -> tuple[type, str]:
    return type(refusal), refusal.code


class TestOnMoneyAccount:
    @pytest.mark.parametrize(
        ("side", "paid", "back"), [(RECEIVABLE, 98, -102), (PAYABLE, -102, 98)]
    )
    def test_money_moves_total_and_fee(
        self, side: Side, trade: Trade, paid: int, back: int
    ) -> None:
        assert holds.on_money_account(side, payment()) == paid
        assert holds.on_money_account(side, refund_payment()) == back
        trade.pay(100, fee=2)
        assert trade.balances()["1100"] == paid


class TestInAPayout:
    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"total": 90}, "total_amount_cents"),
            ({"fee": 3}, "processing_fee_cents"),
            ({"method": "paypal"}, "payment_method"),
            ({"processor": "adyen"}, "payment_processor"),
            ({"bank": CARD}, "bank_account_id"),
        ],
    )
    def test_a_payment_stays_as_it_was_paid_out(self, change: dict[str, Any], field: str) -> None:
        before = payment(payout_id=PAYOUT)
        refusal = refused(holds.held_to, RECEIVABLE, before, replace(before, **change))
        assert code(refusal) == (Conflict, "in_payout")
        assert refusal.detail == {"payout_id": str(PAYOUT), "fields": [field]}

    @pytest.mark.parametrize("change", [{"status": "failed"}, {"note": "Late"}])
    def test_a_payment_may_bounce_and_be_described(self, change: dict[str, Any]) -> None:
        before = payment(payout_id=PAYOUT)
        after = replace(before, **change)
        assert holds.held_to(RECEIVABLE, before, after) is after

    def test_a_payment_in_no_payout_can_change(self) -> None:
        before = payment()
        after = replace(before, total=1, fee=0, method="cash", processor=None, status="failed")
        assert holds.held_to(RECEIVABLE, before, after) is after

    def test_a_refund_payment_is_not_cancelled(self) -> None:
        before = refund_payment(payout_id=PAYOUT)
        refusal = refused(holds.held_to, RECEIVABLE, before, replace(before, status="cancelled"))
        assert code(refusal) == (Conflict, "in_payout")
        assert refusal.detail["fields"] == ["status"]


class TestLinked:
    @pytest.mark.parametrize(
        ("was", "becomes", "linked", "account"),
        [
            ("pending", "cancelled", 0, None),
            ("processing", "failed", 0, None),
            ("pending", "processing", 40, BANK),
            ("pending", "completed", 40, BANK),
            ("completed", "completed", 40, BANK),
        ],
    )
    def test_money_that_does_not_come_loses_its_links(
        self, was: str, becomes: str, linked: int, account: UUID | None
    ) -> None:
        before = payment(status=was, completions=(), linked=40, money_account_id=BANK)
        after = holds.held_to(RECEIVABLE, before, replace(before, status=becomes))
        assert (after.linked, after.money_account_id) == (linked, account)

    @pytest.mark.parametrize("becomes", ["failed", "pending"])
    def test_money_that_comes_back_keeps_its_links(self, becomes: str) -> None:
        before = payment(linked=40, money_account_id=BANK)
        spans = (Span(None, date(2025, 3, 20)),)
        changed = replace(before, status=becomes, completions=spans)
        assert holds.held_to(RECEIVABLE, before, changed) is changed

    @pytest.mark.parametrize(
        ("spans", "times"),
        [
            ((Span(),), 0),
            ((Span(None, date(2025, 3, 20)),), 1),
            # It came back on the 20th, and again from the 25th it is here.
            ((Span(None, date(2025, 3, 20)), Span(date(2025, 3, 25))), 1),
            # Completed again on the day on which it came back, it stayed.
            ((Span(None, date(2025, 3, 20)), Span(date(2025, 3, 20))), 0),
        ],
    )
    def test_money_that_stays_does_not_come_back(self, spans: tuple[Span, ...], times: int) -> None:
        assert holds.times_returned(payment(completions=spans)) == times

    @pytest.mark.parametrize(
        ("side", "change", "left"),
        [
            (RECEIVABLE, {"total": 70}, 68),
            (RECEIVABLE, {"fee": 30}, 70),
            (PAYABLE, {"total": 70}, 72),
            (RECEIVABLE, {"fee": 200}, 0),
        ],
    )
    def test_a_payment_shrinks_to_its_linked_amount_at_most(
        self, side: Side, change: dict[str, Any], left: int
    ) -> None:
        before = payment(linked=80, money_account_id=BANK)
        refusal = refused(holds.held_to, side, before, replace(before, **change))
        assert code(refusal) == (RuleViolation, "link_exceeds_remaining")
        assert refusal.detail == {"linked_amount_cents": 80, "amount_cents": left}
        after = replace(before, total=82)
        assert holds.held_to(RECEIVABLE, before, after) is after

    @pytest.mark.parametrize("money", [payment, refund_payment])
    def test_matched_money_names_no_other_bank_account(self, money: Any) -> None:
        before = money(linked=80, money_account_id=BANK)
        refusal = refused(holds.held_to, RECEIVABLE, before, replace(before, bank=CARD))
        assert code(refusal) == (RuleViolation, "bank_account_mismatch")
        assert refusal.detail == {"account_id": str(BANK)}
        for bank in (None, MoneyBank(UUID(int=2), BANK)):
            after = replace(before, bank=bank)
            assert holds.held_to(RECEIVABLE, before, after) is after
        elsewhere = replace(before, bank=CARD)  # It was named before the match.
        after = replace(elsewhere, method="cash")
        assert holds.held_to(RECEIVABLE, elsewhere, after) is after

    def test_a_refund_payment_is_held_alike(self) -> None:
        before = refund_payment(linked=102, money_account_id=BANK)
        refusal = refused(holds.held_to, RECEIVABLE, before, replace(before, fee=0))
        assert code(refusal) == (RuleViolation, "link_exceeds_remaining")
        gone = holds.held_to(RECEIVABLE, before, replace(before, status="cancelled"))
        assert (gone.linked, gone.money_account_id) == (0, None)
