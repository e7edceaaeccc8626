from dataclasses import replace
from uuid import UUID

import pytest

from accounting.trade.refunds_by_payment import (
    RefundedDocument,
    RefundShare,
    SettledPart,
    refund_shares_of,
    spread_refunds,
)
from tests.accounting.samples import day
from tests.accounting.trade.business import Trade

FIRST, SECOND = UUID(int=1), UUID(int=2)
INVOICE = UUID(int=5)


def refund(number: int, amount: int, on: str = "20", of: UUID | None = INVOICE) -> RefundShare:
    return RefundShare(UUID(int=100 + number), of, day(on), f"RF-{number}", amount)


def amounts(shares_by_payment: dict[UUID, list[RefundShare]]) -> dict[int, list[tuple[int, int]]]:
    return {
        payment.int: [(each.refund_id.int - 100, each.amount) for each in given]
        for payment, given in shares_by_payment.items()
    }


class TestLayOver:
    def test_the_oldest_refund_lies_on_the_oldest_payment(self) -> None:
        payments = [SettledPart(FIRST, day("12"), 600), SettledPart(SECOND, day("10"), 400)]
        shares_by_payment = spread_refunds([refund(2, 500), refund(1, 300, on="19")], payments)
        assert amounts(shares_by_payment) == {2: [(1, 300), (2, 100)], 1: [(2, 400)]}

    def test_the_lower_id_of_a_day_is_the_older(self) -> None:
        payments = [SettledPart(SECOND, day("10"), 5), SettledPart(FIRST, day("10"), 5)]
        shares_by_payment = spread_refunds([refund(2, 4), refund(1, 4)], payments)
        assert amounts(shares_by_payment) == {1: [(1, 4), (2, 1)], 2: [(2, 3)]}

    def test_an_amount_refunded_beyond_the_payments_has_no_share(self) -> None:
        payments = [SettledPart(FIRST, day("10"), 100)]
        assert amounts(spread_refunds([refund(1, 300), refund(2, 9)], payments)) == {1: [(1, 100)]}
        assert spread_refunds([refund(1, 300)], []) == spread_refunds([], payments) == {}


class TestGivenBack:
    def test_a_payment_carries_its_share_and_refunds_of_its_rest(self, trade: Trade) -> None:
        invoice = trade.document(1_000)
        payment = trade.payments[trade.pay(900, (invoice, 600))]
        # The stored part of the payment itself is outdated, and ignored.
        paid = (SettledPart(FIRST, day("1"), 400), SettledPart(payment.id, day("1"), 1))
        refunds = (refund(1, 300, of=invoice), refund(2, 500, of=invoice))
        refunded = {invoice: RefundedDocument(refunds, paid)}
        unapplied = [refund(3, 50, on="15", of=None)]
        shares = refund_shares_of(payment, unapplied, refunded)
        assert shares == (unapplied[0], replace(refunds[1], amount=400))

    @pytest.mark.parametrize(("status", "refunds"), [("pending", 1), ("completed", 0)])
    def test_only_completed_money_of_refunded_invoices_carries_refunds(
        self, trade: Trade, status: str, refunds: int
    ) -> None:
        invoice = trade.document(1_000)
        payment = trade.payments[trade.pay(900, (invoice, 600), status=status)]
        refunded = {invoice: RefundedDocument((refund(1, 300, of=invoice),), ())}
        assert refund_shares_of(payment, (), refunded if refunds else {}) == ()
