"""Postings of payouts, and their rest on the clearing account."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.absent import ABSENT
from accounting.bank import payouts
from accounting.bank.payouts import listed
from tests.accounting.bank.card_sales import CardSales
from tests.accounting.samples import account_id, day, moment


class TestPayout:
    def test_the_worked_example(self, trade: CardSales) -> None:
        items = trade.card(1_000_000), trade.give_back(50_000)
        made = trade.pay_out(920_000, *items, fee=30_000)
        assert trade.paid_out(made) == [("20", {"1100": 920_000, "6100": 30_000, "1150": -950_000})]
        assert trade.balances().get("1150", 0) == 0

    @pytest.mark.parametrize(("paid_out", "fee", "posted"), [(960, 40, 30), (995, 5, -5)])
    def test_a_fee_that_came_with_the_items_is_posted_once(
        self, trade: CardSales, paid_out: int, fee: int, posted: int
    ) -> None:
        made = trade.pay_out(paid_out, trade.card(1_000, fee=10), fee=fee)
        entry = {"1100": paid_out, "6100": posted, "1150": -990}
        assert trade.paid_out(made) == [("20", entry)]
        assert (trade.balances()["6100"], trade.balances().get("1150", 0)) == (fee, 0)

    def test_refunds_that_nobody_told_of_are_returns(self, trade: CardSales) -> None:
        made = trade.pay_out(900, trade.card(1_000), additional_refunds=100)
        assert trade.paid_out(made) == [("20", {"1100": 900, "4100": 100, "1150": -1_000})]

    def test_less_than_nothing_takes_money_from_the_bank(self, trade: CardSales) -> None:
        made = trade.pay_out(-80, trade.give_back(70), fee=10)
        assert trade.paid_out(made) == [("20", {"6100": 10, "1100": -80, "1150": 70})]
        assert trade.balances().get("1150", 0) == 0

    def test_a_payout_of_nothing_posts_only_its_fee(self, trade: CardSales) -> None:
        assert trade.paid_out(trade.pay_out(0)) == []
        assert trade.paid_out(trade.pay_out(0, fee=3)) == [("20", {"6100": 3, "1150": -3})]

    def test_only_a_paid_one_posts(self, trade: CardSales) -> None:
        for status in ("pending", "processing", "failed", "cancelled"):
            assert trade.paid_out(trade.pay_out(100, status=status)) == []

    def test_a_failed_payout_is_reversed_today_and_posted_once_paid(self, trade: CardSales) -> None:
        made = trade.pay_out(97, trade.card(100, fee=3), external_id="x")
        trade.on("22").update(made, status="failed")
        trade.on("25").update(made, status="paid")
        whole = {"1100": 97, "1150": -97}
        back = {"1100": -97, "1150": 97}
        assert trade.paid_out(made) == [("20", whole), ("22", back), ("25", whole)]
        first, second, _ = trade.payouts[made].posted
        assert second.reversal_of_id == first.id

    def test_a_deleted_payout_is_reversed_with_its_former_reference(self, trade: CardSales) -> None:
        made = trade.pay_out(100, external_id="x")
        trade.on("25").delete(made)
        entry, reversal = trade.payouts[made].posted
        assert (reversal.reversal_of_id, reversal.entry_date) == (entry.id, day("25"))
        assert [each.reference for each in (entry, reversal)] == ["x", "x"]
        assert reversal.description == "Reversal of payout from stripe"

    def test_a_new_amount_corrects_its_day_and_a_new_day_moves_it(self, trade: CardSales) -> None:
        made = trade.pay_out(100)
        trade.on("25").update(made, paid_out=90)
        trade.update(made, completed_at=moment("18"))
        assert trade.paid_out(made) == [
            ("20", {"1100": 100, "1150": -100}),
            ("20", {"1100": -10, "1150": 10}),
            ("18", {"1100": 90, "1150": -90}),
            ("20", {"1100": -90, "1150": 90}),
        ]

    def test_a_correction_inside_the_lock_comes_the_day_after_it(self, trade: CardSales) -> None:
        made = trade.pay_out(100, completed_at=moment("5"))
        trade.lock = "10"
        trade.update(made, paid_out=90)
        assert trade.paid_out(made)[1:] == [("11", {"1100": -10, "1150": 10})]

    def test_the_fee_of_a_failed_item_becomes_a_fee_of_the_payout(self, trade: CardSales) -> None:
        made = trade.pay_out(97, payment := trade.card(100, fee=3))
        trade.on("24").move(payment, "failed")
        assert trade.paid_out(made)[1:] == [("24", {"6100": 3, "1150": -3})]
        assert trade.balances() == {"1100": 97, "1150": -100, "6100": 3}

    def test_a_payout_is_posted_on_the_account_of_its_bank_line(self, trade: CardSales) -> None:
        made = trade.pay_out(100)
        linked = replace(trade.payouts[made], linked=40, money_account_id=account_id("1101"))
        trade.keep_payout(linked)
        assert trade.paid_out(made)[1:] == [("20", {"1101": 100, "1100": -100})]


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("item"), st.integers(0, 4)),
        st.tuples(st.just("status"), st.sampled_from(["paid", "failed", "pending", "cancelled"])),
        st.tuples(st.just("leaves"), st.integers(0, 4)),
        st.tuples(st.just("joins"), st.integers(0, 4)),
    ),
    max_size=12,
)
FEES = st.lists(st.integers(0, 30), min_size=5, max_size=5)


class TestClearing:
    """The clearing account holds what the payout reports, whatever items bounce and return."""

    @settings(max_examples=150, deadline=None)
    @given(
        fees=FEES,
        paid_out=st.integers(-500, 500),
        given_facts=st.fixed_dictionaries(
            {
                "fee": st.just(ABSENT) | st.integers(0, 100),
                "additional_refunds": st.integers(0, 50),
            }
        ),
        moves=MOVES,
    )
    def test_keeps_the_variance_with_the_opposite_sign(
        self, fees: list[int], paid_out: int, given_facts: Any, moves: list[tuple[str, int | str]]
    ) -> None:
        trade, counted = CardSales("2"), dict[date, int]()
        items = [trade.card(100 + n, each) for n, each in enumerate(fees[:3])]
        items += [trade.give_back(20, each) for each in fees[3:]]
        made = trade.on("3").pay_out(paid_out, *items, **given_facts)
        counted[day("3")] = left_of(trade, made)
        for number, (what, which) in enumerate(moves, start=4):
            trade.today = str(number)
            before = listed(trade.payouts[made])
            play(trade, made, items, what, which)
            if listed(trade.payouts[made]) != before:
                counted.clear()  # Another list makes another payout, from its first day on.
            counted[day(str(number))] = left_of(trade, made)
        first = min(counted)
        for on in (first + timedelta(n) for n in range((max(counted) - first).days + 1)):
            assert trade.on_clearing(made, on) == counted[on]


def play(trade: CardSales, made: UUID, items: list[UUID], what: str, which: int | str) -> None:
    """Make one change of a payout or its items, unless a rule refuses it."""
    payout = trade.payouts[made]
    standing = [each.money_id for each in listed(payout)]
    if what == "status":
        live = which in payouts.LIVE and payout.status not in payouts.LIVE
        money = trade.money()
        if not live or all(money[each].status == "completed" for each in standing):
            trade.update(made, status=which)
        return
    item = items[int(which)]
    if what == "leaves":
        trade.update(made, **trade.listing(each for each in standing if each != item))
    elif what == "joins" and trade.money()[item].status == "completed":
        trade.update(made, **trade.listing([*standing, item]))
    elif what == "item" and item in trade.payments:
        status = trade.payments[item].status
        trade.move(item, "failed" if status == "completed" else "completed")


def left_of(trade: CardSales, made: UUID) -> int:
    """Return the expected rest of a payout and its items on the clearing account."""
    payout, money = trade.payouts[made], trade.money()
    items = [money[each.money_id] for each in listed(payout)]
    if payout.status == "paid":
        return -payouts.variance(payout)
    gross, refunded = payouts.sums(items)
    return gross - refunded - sum(each.fee for each in items if each.status == "completed")
