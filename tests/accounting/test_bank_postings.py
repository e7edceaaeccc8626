"""What payouts and bank lines post, and what a payout leaves on the clearing account."""

from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.bank import bank_postings, payouts
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.payouts import listed
from tests.accounting.clearing import Till
from tests.accounting.trade import ROLES, account_id, amounts, day, moment, posted_after, written


class TestPayout:
    def test_the_worked_example(self) -> None:
        till = Till("20")
        items = till.card(1_000_000), till.give_back(50_000)
        made = till.pay_out(920_000, *items, fee_cents=30_000)
        assert till.paid_out(made) == [("20", {"1100": 920_000, "6100": 30_000, "1150": -950_000})]
        assert till.balances().get("1150", 0) == 0

    def test_a_fee_that_came_with_the_items_is_posted_once(self) -> None:
        till = Till("20")
        made = till.pay_out(960, till.card(1_000, fee=10), fee_cents=40)
        assert till.paid_out(made) == [("20", {"1100": 960, "6100": 30, "1150": -990})]
        assert (till.balances()["6100"], till.balances().get("1150", 0)) == (40, 0)

    def test_a_fee_below_that_of_the_items_takes_the_rest_back(self) -> None:
        till = Till("20")
        made = till.pay_out(995, till.card(1_000, fee=10), fee_cents=5)
        assert till.paid_out(made) == [("20", {"1100": 995, "6100": -5, "1150": -990})]
        assert (till.balances()["6100"], till.balances().get("1150", 0)) == (5, 0)

    def test_refunds_that_nobody_told_of_are_returns(self) -> None:
        till = Till("20")
        made = till.pay_out(900, till.card(1_000), additional_refunds_amount_cents=100)
        assert till.paid_out(made) == [("20", {"1100": 900, "4100": 100, "1150": -1_000})]

    def test_less_than_nothing_takes_money_from_the_bank(self) -> None:
        till = Till("20")
        made = till.pay_out(-80, till.give_back(70), fee_cents=10)
        assert till.paid_out(made) == [("20", {"6100": 10, "1100": -80, "1150": 70})]
        assert till.balances().get("1150", 0) == 0

    def test_a_payout_of_nothing_posts_only_its_fee(self) -> None:
        till = Till("20")
        assert till.paid_out(till.pay_out(0)) == []
        assert till.paid_out(till.pay_out(0, fee_cents=3)) == [("20", {"6100": 3, "1150": -3})]

    def test_only_a_paid_one_posts(self) -> None:
        till = Till("20")
        for status in ("pending", "processing", "failed", "cancelled"):
            assert till.paid_out(till.pay_out(100, status=status)) == []

    def test_one_that_fails_is_mirrored_today_and_paid_again_it_is_posted_anew(self) -> None:
        till = Till("20")
        made = till.pay_out(97, till.card(100, fee=3), external_id="x")
        till.today = "22"
        till.update(made, status="failed")
        till.today = "25"
        till.update(made, status="paid")
        whole = {"1100": 97, "1150": -97}
        back = {"1100": -97, "1150": 97}
        assert till.paid_out(made) == [("20", whole), ("22", back), ("25", whole)]
        first, second, _ = till.payouts[made].posted
        assert second.reversal_of_id == first.id

    def test_one_that_is_deleted_is_mirrored_under_the_name_it_had(self) -> None:
        till = Till("20")
        made = till.pay_out(100, external_id="x")
        till.today = "25"
        till.delete(made)
        entry, reversal = till.payouts[made].posted
        assert (reversal.reversal_of_id, reversal.entry_date) == (entry.id, day("25"))
        assert [each.reference for each in (entry, reversal)] == ["x", "x"]
        assert reversal.description == "Reversal of payout from stripe"

    def test_a_new_amount_corrects_its_day_and_a_new_day_moves_it(self) -> None:
        till = Till("20")
        made = till.pay_out(100)
        till.today = "25"
        till.update(made, paid_out_amount_cents=90)
        till.update(made, completed_at=moment("18"))
        assert till.paid_out(made) == [
            ("20", {"1100": 100, "1150": -100}),
            ("20", {"1100": -10, "1150": 10}),
            ("18", {"1100": 90, "1150": -90}),
            ("20", {"1100": -90, "1150": 90}),
        ]

    def test_a_correction_inside_the_lock_comes_the_day_after_it(self) -> None:
        till = Till("20")
        made = till.pay_out(100, completed_at=moment("5"))
        till.lock = "10"
        till.update(made, paid_out_amount_cents=90)
        assert till.paid_out(made)[1:] == [("11", {"1100": -10, "1150": 10})]

    def test_the_fee_of_what_bounces_is_the_payouts_own_from_then_on(self) -> None:
        till = Till("20")
        made = till.pay_out(97, payment := till.card(100, fee=3))
        till.today = "24"
        till.move(payment, "failed")
        assert till.paid_out(made)[1:] == [("24", {"6100": 3, "1150": -3})]
        assert till.balances() == {"1100": 97, "1150": -100, "6100": 3}

    def test_it_stands_on_the_account_of_the_bank_that_shows_it(self) -> None:
        till = Till("20")
        made = till.pay_out(100)
        linked = replace(till.payouts[made], linked=40, money_account_id=account_id("1101"))
        till.keep_payout(linked)
        assert till.paid_out(made)[1:] == [("20", {"1101": 100, "1100": -100})]


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
    """Whatever items bounce and come back, what is left is what the payout says of itself."""

    @settings(max_examples=150, deadline=None)
    @given(
        fees=FEES,
        paid_out=st.integers(-500, 500),
        fee=st.none() | st.integers(0, 100),
        additional=st.integers(0, 50),
        moves=MOVES,
    )
    def test_keeps_the_variance_with_the_opposite_sign(
        self,
        fees: list[int],
        paid_out: int,
        fee: int | None,
        additional: int,
        moves: list[tuple[str, int | str]],
    ) -> None:
        till, counted = Till("2"), dict[date, int]()
        items = [till.card(100 + n, each) for n, each in enumerate(fees[:3])]
        items += [till.give_back(20, each) for each in fees[3:]]
        till.today = "3"
        own = {"fee_cents": fee, "additional_refunds_amount_cents": additional}
        made = till.pay_out(paid_out, *items, **own)
        counted[day("3")] = left_of(till, made)
        for number, (what, which) in enumerate(moves, start=4):
            till.today = str(number)
            before = listed(till.payouts[made])
            played(till, made, items, what, which)
            if listed(till.payouts[made]) != before:
                counted.clear()  # Another list is another payout, from its first day on.
            counted[day(str(number))] = left_of(till, made)
        first = min(counted)
        for on in (first + timedelta(n) for n in range((max(counted) - first).days + 1)):
            assert till.on_clearing(made, on) == counted[on]


def played(till: Till, made: UUID, items: list[UUID], what: str, which: int | str) -> None:
    """Let something happen, as far as nobody refuses it."""
    payout = till.payouts[made]
    standing = [each.money_id for each in listed(payout)]
    if what == "status":
        live = which in payouts.LIVE and payout.status not in payouts.LIVE
        money = till.money()
        if not live or all(money[each].status == "completed" for each in standing):
            till.update(made, status=which)
        return
    item = items[int(which)]
    if what == "leaves":
        till.update(made, **till.named(each for each in standing if each != item))
    elif what == "joins" and till.money()[item].status == "completed":
        till.update(made, **till.named([*standing, item]))
    elif what == "item" and item in till.payments:
        status = till.payments[item].status
        till.move(item, "failed" if status == "completed" else "completed")


def left_of(till: Till, made: UUID) -> int:
    """What a payout and its items should leave on the clearing account at this moment."""
    payout, money = till.payouts[made], till.money()
    items = [money[each.money_id] for each in listed(payout)]
    if payout.status == "paid":
        return -payouts.variance(payout)
    gross, refunded = payouts.sums(items)
    return gross - refunded - sum(each.fee for each in items if each.status == "completed")


class TestBankTransaction:
    @pytest.mark.parametrize(
        ("direction", "posted"),
        [("debit", {"6300": 12, "1100": -12}), ("credit", {"1100": 12, "6300": -12})],
    )
    def test_what_is_categorized_is_posted_on_its_day(
        self, direction: str, posted: dict[str, int]
    ) -> None:
        line = transaction(direction=direction)
        [entry] = bank_postings.entries_for(line, ROLES, None)
        assert (written(entry.entry_date), amounts(entry)) == ("7", posted)
        assert (entry.source_type, entry.source_id) == ("bank_transaction", line.id)

    def test_nothing_is_posted_without_a_category(self) -> None:
        line = transaction(categorized=0, category_account_id=None)
        assert bank_postings.entries_for(line, ROLES, None) == []

    def test_what_is_taken_back_is_mirrored(self) -> None:
        line, ids = transaction(), iter(UUID(int=n) for n in range(1, 9))
        entries = bank_postings.entries_for(line, ROLES, None)
        posted = posted_after((), entries, lambda: next(ids))
        back = replace(line, categorized=0, category_account_id=None, posted=posted)
        [reversal] = bank_postings.entries_for(back, ROLES, None)
        assert reversal.reversal_of_id == posted[0].id
        assert Counter(amounts(reversal)) == Counter({"1100": 12, "6300": -12})


def transaction(**facts: object) -> BankTransaction:
    """A line of 12 of the seventh, posted to bank charges."""
    given_facts: dict[str, object] = {
        "id": UUID(int=77),
        "version": 1,
        "created_at": moment("8"),
        "updated_at": moment("8"),
        "bank_account_id": UUID(int=78),
        "account_id": account_id("1100"),
        "external_id": "line-1",
        "booked_on": day("7"),
        "amount": 12,
        "direction": "debit",
        "currency": "GBP",
        "imported_at": moment("8"),
        "source_format": "json",
        "categorized": 12,
        "category_account_id": account_id("6300"),
        **facts,
    }
    return BankTransaction(**given_facts)
