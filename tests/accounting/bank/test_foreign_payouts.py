"""Payouts in a foreign currency, by the example of the design; the books are kept in GBP."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given as given_by
from hypothesis import settings
from hypothesis import strategies as st

from accounting.bank import bank_postings, payouts
from accounting.bank.bank_matches import MatchTarget
from accounting.bank.commands import OtherItemGiven
from accounting.bank.payouts import FeeStep
from accounting.books.exchange_rates import KnownRates
from accounting.books.foreign import ForeignAmount
from accounting.books.record_rates import GivenWorth
from tests.accounting.bank.card_sales import CardSales
from tests.accounting.bank.foreign import DOLLARS, OWN_ACCOUNTS, RATES, at, own, rate
from tests.accounting.bank.statements import line, match, posted_by
from tests.accounting.samples import ROLES, account_id, day, refusal_of, refused


@pytest.fixture
def trade() -> CardSales:
    return CardSales("12", rates=RATES)


def came(base: int) -> dict[str, Any]:
    return {"worth": GivenWorth(base_amount=base)}


def example(trade: CardSales) -> tuple[UUID, UUID, UUID]:
    """Create the payout of the design, and return it with its two items."""
    first = trade.card(10_000, fee=300, **at("0.90"))
    second = trade.card(5_000, fee=150, **at("0.96"))
    return trade.pay_out(14_550, first, second, **came(13_700)), first, second


def clearing(trade: CardSales) -> tuple[int, int]:
    """Return the own and the base balance of clearing."""
    lines = [each for entry in trade.entries() for each in entry.lines]
    on_it = [each for each in lines if each.account_id == account_id("1150")]
    return sum(e.currency_amount or 0 for e in on_it), sum(e.amount for e in on_it)


class TestExample:
    def test_items_leave_at_their_own_base(self, trade: CardSales) -> None:
        made, _, _ = example(trade)
        assert trade.paid_out(made) == [("12", {"1100": 13_700, "1150": -13_386, "4650": -314})]
        [entry] = trade.payouts[made].posted
        assert own(entry) == {
            "1100": ("USD", 14_550),
            "1150": ("USD", -14_550),
            "4650": (None, None),
        }
        assert clearing(trade) == (0, 0)

    def test_an_item_that_bounces_is_taken_out_on_its_day(self, trade: CardSales) -> None:
        made, _, second = example(trade)
        trade.on("20").move(second, "failed")
        assert trade.paid_out(made)[1:] == [("20", {"6100": 141, "1150": -52, "4650": -89})]
        assert clearing(trade) == (-5_000, -4_708)
        trade.on("24").move(second, "completed")
        assert trade.paid_out(made)[2:] == [("24", {"6100": -141, "1150": 52, "4650": 89})]
        assert clearing(trade) == (0, 0)

    def test_its_steps_have_net_and_fees_of_each_day(self, trade: CardSales) -> None:
        made, _, second = example(trade)
        trade.on("20").move(second, "failed")
        first, bounced = trade.payouts[made].fee_steps
        assert first == FeeStep(
            day("12"), ForeignAmount(450, 414, "USD"), ForeignAmount(14_550, 13_386, "USD")
        )
        assert bounced == FeeStep(
            day("20"), ForeignAmount(-150, -144, "USD"), ForeignAmount(-4_850, -4_656, "USD")
        )

    def test_taken_back_nothing_stays_but_the_items(self, trade: CardSales) -> None:
        made, _, second = example(trade)
        trade.on("20").move(second, "failed")
        trade.on("22").update(made, status="failed")
        amounts = [amount for _, entry in trade.paid_out(made) for amount in entry.items()]
        for code in ("1100", "1150", "4650", "6100"):
            assert sum(amount for each, amount in amounts if each == code) == 0

    def test_a_corrected_base_moves_only_exchange(self, trade: CardSales) -> None:
        made, _, _ = example(trade)
        trade.on("14").update(made, **came(13_800))
        assert trade.paid_out(made)[1:] == [("12", {"1100": 100, "4650": -100})]


class TestAmounts:
    def test_fees_refunds_and_other_items_convert_at_its_rate(self, trade: CardSales) -> None:
        payment = trade.card(10_000, **at("0.90"))
        items = (
            OtherItemGiven(kind="chargeback", amount=-1_000),
            OtherItemGiven(kind="reserve_hold", amount=-2_000),
        )
        facts = {"fee": 300, "additional_refunds": 500, "other_items": items}
        made = trade.pay_out(6_000, payment, **facts, worth=rate("0.95"))
        # What stays is the variance of -2.00, worth 1.90.
        expected = {"1100": 5_700, "6100": 285, "4100": 475, "6150": 950, "1160": 1_900}
        expected |= {"1150": -9_000 + 190, "4650": -500}
        assert trade.paid_out(made) == [("12", expected)]
        assert payouts.variance(trade.payouts[made]) == -200
        assert clearing(trade) == (200, 190)

    def test_without_a_rate_it_takes_the_tables(self, trade: CardSales) -> None:
        payment = trade.card(10_000, **at("0.90"))
        made = trade.pay_out(10_000, payment)
        assert trade.paid_out(made) == [("12", {"1100": 8_000, "7050": 1_000, "1150": -9_000})]

    def test_nothing_paid_out_has_a_rate_too(self, trade: CardSales) -> None:
        payment = trade.card(10_000, **at("0.90"))
        made = trade.pay_out(0, payment, fee=10_000)
        assert trade.paid_out(made) == [("12", {"6100": 8_000, "7050": 1_000, "1150": -9_000})]
        assert refused(trade.pay_out, 0, fee=1, currency="USD", **came(5)).code == (
            "exchange_rate_mismatch"
        )

    def test_a_refund_leaves_at_its_base(self, trade: CardSales) -> None:
        refund = trade.refund(trade.pay(4_000, **at("0.90")), 4_000)
        means: dict[str, Any] = {"method": "credit_card", "processor": "stripe", "fee": 100}
        back = trade.pay_refund(refund, **means, worth=rate("0.95"))
        made = trade.pay_out(-4_100, back, worth=rate("0.96"))
        assert trade.paid_out(made) == [("12", {"1150": 3_895, "7050": 41, "1100": -3_936})]
        assert clearing(trade) == (0, 0)

    def test_a_changed_amount_keeps_the_rate(self, trade: CardSales) -> None:
        made, _, _ = example(trade)
        payout = trade.update(made, paid_out=14_500).payout
        assert payout.worth is not None
        assert payout.worth.base_total == 13_653

    def test_a_dollar_account_takes_it(self, trade: CardSales) -> None:
        trade.own_accounts = OWN_ACCOUNTS
        made, _, _ = example(trade)
        assert trade.payouts[made].own_account_id == DOLLARS
        assert trade.paid_out(made)[0][1]["1121"] == 13_700

    def test_a_base_line_shows_it_with_a_difference(self, trade: CardSales) -> None:
        made, _, _ = example(trade)
        done = match(trade, line(13_650), MatchTarget(None, trade.payouts[made]))
        assert posted_by(done.transaction) == [("12", {"7050": 50, "1110": -50})]
        [entry] = bank_postings.entries_for(done.transaction, ROLES, None)
        assert [each.about for each in entry.lines if each.amount > 0] == [made]


class TestCurrency:
    def test_items_are_of_one_currency(self, trade: CardSales) -> None:
        dollars, pounds = trade.card(100, **at("0.9")), trade.card(100)
        code, detail = refusal_of(trade.pay_out, 200, dollars, pounds)
        assert (code, detail["currencies"]) == ("currency_mismatch", ["GBP", "USD"])
        assert refused(trade.pay_out, 90, dollars, currency="GBP").code == "currency_mismatch"
        made = trade.pay_out(100, dollars)
        refusal = refused(trade.update, made, payment_ids=(dollars, pounds))
        assert refusal.code == "currency_mismatch"

    def test_it_never_changes(self, trade: CardSales) -> None:
        made = trade.pay_out(100, trade.card(100, **at("0.9")))
        refusal = refused(trade.update, made, currency="SEK")
        assert (refusal.code, refusal.detail) == ("immutable_field", {"field": "currency"})


STEPS = st.lists(
    st.tuples(st.sampled_from(["item", "item", "paid", "failed", "list"]), st.integers(0, 3)),
    max_size=8,
)
RATE = st.sampled_from(["0.0001", "0.3333", "0.91234", "1", "77.7"])


class TestClearing:
    """Clearing holds the items' rest and the variance, own and base, whatever bounces."""

    @settings(max_examples=60, deadline=None)
    @given_by(
        amounts=st.lists(st.tuples(st.integers(1, 500), RATE), min_size=4, max_size=4),
        own_rate=RATE,
        paid_out=st.integers(-50, 900),
        steps=STEPS,
    )
    def test_any_history(
        self, amounts: Any, own_rate: str, paid_out: int, steps: list[tuple[str, int]]
    ) -> None:
        trade = CardSales("1", rates=KnownRates())
        items = [trade.card(total, fee=total // 9, **at(each)) for total, each in amounts]
        made = trade.on("2").pay_out(paid_out, *items, worth=rate(own_rate), currency="USD")
        for number, (what, which) in enumerate(steps, start=3):
            trade.today = str(number)
            if what == "item":
                status = trade.payments[items[which]].status
                trade.move(items[which], "failed" if status == "completed" else "completed")
            elif what == "list" and trade.payments[items[which]].status == "completed":
                left = tuple(each for each in items if each != items[which])
                trade.update(made, payment_ids=left)
                trade.update(made, payment_ids=tuple(items))
            elif what == "failed" or all(
                trade.payments[each].status == "completed" for each in items
            ):
                trade.update(made, status=what if what != "list" else "paid")
            check(trade, made, items)


def check(trade: CardSales, made: UUID, items: list[UUID]) -> None:
    payout = trade.payouts[made]
    payments = [trade.payments[each] for each in items]
    standing = [each for each in payments if each.status == "completed"]
    if payout.status == "paid":
        assert payout.worth is not None
        stays = payout.worth.converted(-payouts.variance(payout))
        assert isinstance(stays, ForeignAmount)
        assert clearing(trade) == (int(stays), stays.base)
    else:
        held = sum(each.total - each.fee for each in standing)
        assert clearing(trade)[0] == held
    for entry in trade.entries():
        assert sum(each.amount for each in entry.lines) == 0


class TestAllRatesOne:
    def test_the_books_are_those_of_a_base_business(self) -> None:
        def books(**facts: Any) -> dict[str, int]:
            trade = CardSales("12", rates=KnownRates())
            items = trade.card(1_000, fee=30, **facts), trade.card(500, fee=15, **facts)
            other = (OtherItemGiven(kind="dispute_fee", amount=-20),)
            made = trade.pay_out(1_400, *items, fee=50, other_items=other, **facts)
            trade.on("15").move(items[0], "failed")
            trade.on("16").update(made, status="failed")
            trade.on("17").move(items[0], "completed")
            trade.update(made, status="paid")
            return trade.balances()

        assert books(**at("1")) == books()
