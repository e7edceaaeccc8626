"""What a payout comes to, and which fees were posted with its items."""

from dataclasses import replace

import pytest

from accounting.bank import payouts
from accounting.bank.payouts import FeeStep, Payout
from accounting.books.ledger import Span
from tests.accounting.bank.card_sales import CardSales
from tests.accounting.samples import day, moment


def worked_example() -> Payout:
    """Payments of 1,000,000 less refunds of 50,000 and a fee of 30,000."""
    trade = CardSales("20")
    items = trade.card(1_000_000), trade.give_back(50_000)
    return trade.payouts[trade.pay_out(920_000, *items, fee=30_000)]


class TestArithmetic:
    def test_the_worked_example(self) -> None:
        payout = worked_example()
        assert (payout.gross_payments, payout.total_refunds) == (1_000_000, 50_000)
        assert payouts.expected_net(payout) == 920_000
        assert payouts.net_amount(payout) == 890_000
        assert payouts.variance(payout) == 0

    def test_additional_refunds_are_expected_less_and_are_no_refunds_of_its_items(self) -> None:
        payout = replace(worked_example(), additional_refunds=4_000, paid_out=915_000)
        assert payouts.expected_net(payout) == 916_000
        assert payouts.variance(payout) == -1_000
        assert payout.total_refunds == 50_000

    def test_less_than_nothing_may_be_paid_out(self) -> None:
        payout = replace(worked_example(), gross_payments=0, paid_out=-80_000)
        assert payouts.expected_net(payout) == -80_000
        assert (payouts.net_amount(payout), payouts.variance(payout)) == (-110_000, 0)


class TestReconciliationStatus:
    @pytest.mark.parametrize(
        ("paid_out", "linked", "status"),
        [
            (98, 0, "unreconciled"),
            (98, 97, "partially_reconciled"),
            (98, 98, "fully_reconciled"),
            (-98, 40, "partially_reconciled"),
            (-98, 98, "fully_reconciled"),
            (0, 0, "unreconciled"),
        ],
    )
    def test_says_how_much_bank_lines_show(self, paid_out: int, linked: int, status: str) -> None:
        payout = replace(worked_example(), paid_out=paid_out, linked=linked)
        assert payouts.reconciliation_status(payout) == status


class TestSums:
    def test_count_what_stands_completed(self) -> None:
        trade = CardSales("5")
        items = (
            trade.card(100),
            trade.card(50),
            trade.card(7, status="pending"),
            trade.give_back(20),
        )
        trade.change(items[1], status="failed")
        money = trade.money()
        assert payouts.sums(money[each] for each in items) == (100, 20)


class TestFeesOf:
    def test_come_with_an_item_and_go_back_when_it_bounces(self) -> None:
        trade = CardSales("5")
        payment = trade.card(100, fee=3)
        trade.today = "9"
        trade.change(payment, status="failed")
        fees = payouts.fees_of([trade.payments[payment]])
        assert fees == (FeeStep(day("5"), 3), FeeStep(day("9"), -3))

    def test_fees_of_a_day_are_added(self) -> None:
        trade = CardSales("5")
        items = trade.card(100, fee=3), trade.card(100, fee=4), trade.give_back(20, fee=1)
        assert payouts.fees_of(trade.money()[each] for each in items) == (FeeStep(day("5"), 8),)

    def test_fees_that_begin_and_end_on_a_day_cancel_out(self) -> None:
        trade = CardSales("5")
        payment = trade.card(100, fee=3)
        trade.change(payment, status="failed")
        assert payouts.fees_of([trade.payments[payment]]) == ()

    def test_new_fees_of_an_item_replace_its_old_fees(self) -> None:
        steps = (FeeStep(day("5"), 8), FeeStep(day("6"), 2))
        was, now = [FeeStep(day("5"), 3)], [FeeStep(day("5"), 3), FeeStep(day("9"), -3)]
        changed = payouts.with_other_fees(steps, was, now)
        assert changed == (*steps, FeeStep(day("9"), -3))
        assert sum(step.amount for step in changed) == 7


class TestDays:
    def test_a_payout_stands_paid_from_its_own_day_on(self) -> None:
        spans = (Span(None, day("12")), Span(day("15")))
        payout = replace(worked_example(), completed_at=moment("10"), completions=spans)
        assert payouts.paid_days(payout) == [(day("10"), day("12")), (day("15"), None)]

    def test_an_unpaid_payout_has_no_paid_days(self) -> None:
        payout = replace(worked_example(), completed_at=None, completions=())
        assert payouts.paid_days(payout) == []

    def test_fees_posted_before_a_span_count_from_its_first_day(self) -> None:
        steps = (FeeStep(day("5"), 8), FeeStep(day("11"), -3), FeeStep(day("14"), 3))
        payout = replace(worked_example(), fee_steps=steps)
        first, last = (day("10"), day("12")), (day("15"), None)
        assert list(payouts.fees_during(payout, first)) == [(day("10"), 8), (day("11"), -3)]
        assert list(payouts.fees_during(payout, last)) == [
            (day("15"), 8),
            (day("15"), -3),
            (day("15"), 3),
        ]
        assert payouts.item_fees(payout) == 8
