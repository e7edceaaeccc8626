"""What holds money that moved: the payout that it came in, and the bank lines it is linked to."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from accounting.errors import Conflict, RuleViolation
from accounting.trade import holds
from accounting.trade.payments import Payment
from accounting.trade.refunds import RefundPayment
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from tests.accounting.bank.card_sales import CardSales
from tests.accounting.samples import refused
from tests.accounting.trade.business import BOTH_SIDES, Trade

BANK = UUID(int=1100)
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
    @pytest.mark.parametrize(("side", "moves"), [(RECEIVABLE, 98), (PAYABLE, -102)])
    def test_a_payment_moves_its_total_and_its_fee(self, side: Side, moves: int) -> None:
        assert holds.on_money_account(side, payment()) == moves

    @pytest.mark.parametrize(("side", "moves"), [(RECEIVABLE, -102), (PAYABLE, 98)])
    def test_a_refund_payment_goes_the_other_way(self, side: Side, moves: int) -> None:
        assert holds.on_money_account(side, refund_payment()) == moves

    @BOTH_SIDES
    def test_the_amount_on_the_money_account_is_the_posted_amount(self, side: Side) -> None:
        trade = Trade("5", side=side)
        made = trade.payments[trade.pay(100, fee=2)]
        assert trade.balances()["1100"] == holds.on_money_account(side, made)


class TestInAPayout:
    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"total": 90}, "total_amount_cents"),
            ({"fee": 3}, "processing_fee_cents"),
            ({"method": "paypal"}, "payment_method"),
            ({"processor": "adyen"}, "payment_processor"),
        ],
    )
    def test_a_payment_stays_as_the_payout_counted_it(
        self, change: dict[str, Any], field: str
    ) -> None:
        before = payment(payout_id=PAYOUT)
        refusal = refused(holds.held_to, RECEIVABLE, before, replace(before, **change))
        assert code(refusal) == (Conflict, "in_payout")
        assert refusal.detail == {"payout_id": str(PAYOUT), "fields": [field]}

    @pytest.mark.parametrize("change", [{"status": "failed"}, {"note": "Late"}])
    def test_a_payment_may_bounce_and_be_described(self, change: dict[str, Any]) -> None:
        before = payment(payout_id=PAYOUT)
        after = replace(before, **change)
        assert holds.held_to(RECEIVABLE, before, after) is after

    def test_a_refund_payment_is_not_cancelled(self) -> None:
        before = refund_payment(payout_id=PAYOUT)
        refusal = refused(holds.held_to, RECEIVABLE, before, replace(before, status="cancelled"))
        assert code(refusal) == (Conflict, "in_payout")
        assert refusal.detail["fields"] == ["status"]

    def test_a_payment_in_no_payout_can_change(self) -> None:
        before = payment()
        after = replace(before, total=1, fee=0, method="cash", processor=None, status="failed")
        assert holds.held_to(RECEIVABLE, before, after) is after


class TestLinked:
    @pytest.mark.parametrize(
        ("was", "becomes"),
        [
            ("completed", "failed"),
            ("completed", "pending"),
            ("pending", "cancelled"),
            ("processing", "failed"),
        ],
    )
    def test_money_that_does_not_come_loses_its_links(self, was: str, becomes: str) -> None:
        before = payment(status=was, linked=98, money_account_id=BANK)
        after = holds.held_to(RECEIVABLE, before, replace(before, status=becomes))
        assert (after.linked, after.money_account_id) == (0, None)

    @pytest.mark.parametrize(
        ("was", "becomes"),
        [("pending", "processing"), ("pending", "completed"), ("completed", "completed")],
    )
    def test_money_on_its_way_keeps_them(self, was: str, becomes: str) -> None:
        before = payment(status=was, linked=40, money_account_id=BANK)
        after = holds.held_to(RECEIVABLE, before, replace(before, status=becomes))
        assert (after.linked, after.money_account_id) == (40, BANK)

    @pytest.mark.parametrize(
        ("side", "change", "left"),
        [
            (RECEIVABLE, {"total": 70}, 68),
            (RECEIVABLE, {"fee": 30}, 70),
            (PAYABLE, {"total": 70}, 72),
            (RECEIVABLE, {"fee": 200}, 0),
        ],
    )
    def test_no_less_is_left_of_it_than_is_linked(
        self, side: Side, change: dict[str, Any], left: int
    ) -> None:
        before = payment(linked=80, money_account_id=BANK)
        refusal = refused(holds.held_to, side, before, replace(before, **change))
        assert code(refusal) == (RuleViolation, "link_exceeds_remaining")
        assert refusal.detail == {"linked_amount_cents": 80, "amount_cents": left}

    def test_a_payment_can_shrink_to_its_linked_amount(self) -> None:
        before = payment(linked=80, money_account_id=BANK)
        after = replace(before, total=82)
        assert holds.held_to(RECEIVABLE, before, after) is after

    def test_a_refund_payment_is_held_alike(self) -> None:
        before = refund_payment(linked=102, money_account_id=BANK)
        refusal = refused(holds.held_to, RECEIVABLE, before, replace(before, fee=0))
        assert code(refusal) == (RuleViolation, "link_exceeds_remaining")
        gone = holds.held_to(RECEIVABLE, before, replace(before, status="cancelled"))
        assert (gone.linked, gone.money_account_id) == (0, None)
