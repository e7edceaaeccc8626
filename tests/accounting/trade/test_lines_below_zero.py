"""Lines with a price below zero: deposits deducted, and corrections."""

from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.ledger import Split
from accounting.trade import documents
from accounting.trade.commands import TaxGiven
from accounting.trade.documents import LineItem
from accounting.trade.refunds import GivenBackLine
from tests.accounting.samples import named, refused
from tests.accounting.trade.business import Trade, line
from tests.accounting.trade.test_coded_documents import (
    amounts_of,
    buying,
    coded,
    credit_of_line,
    lines_of,
    selling,
)

DEPOSITS = named("2400")
HELD = {"withholding_code": "W15"}


@pytest.fixture
def trade() -> Trade:
    return selling()


def invoice(trade: Trade, price: int = 1_000, less: int = 300, **facts: Any) -> UUID:
    """Create an invoice of goods at 20 %, less a deposit that was invoiced before."""
    deposit = coded(-less, "S20", account=DEPOSITS)
    return trade.document(coded(price, "S20"), deposit, **facts)


def lines(trade: Trade, id_: UUID) -> tuple[LineItem, ...]:
    return trade.documents[id_].lines


def settled(trade: Trade, id_: UUID, amount: int) -> dict[str, int]:
    """Pay an amount and return what it settles, by account and part."""
    before = trade.documents[id_].settled
    trade.pay(amount, (id_, amount))
    now = amounts_of(trade.documents[id_].settled)
    held = amounts_of(before)
    return {name: now[name] - held.get(name, 0) for name in now}


class TestAmounts:
    def test_a_deposit_lowers_the_total_and_the_tax_of_its_code(self, trade: Trade) -> None:
        id_ = invoice(trade)
        made = trade.documents[id_]
        assert (made.subtotal, made.tax_total, made.total_amount) == (700, 140, 840)
        assert [each.tax_total for each in made.lines] == [200, -60]
        posted = {"1200": 840, "4000 net": -1_000, "2400 net": 300, "2200 output": -140}
        assert lines_of(trade, id_) == [posted]

    def test_each_line_has_the_tax_of_its_own_net(self, trade: Trade) -> None:
        # 20 % of 6666.67 is 1333.33: 2000.00 less 666.67, not 1999.99 less 666.66.
        id_ = invoice(trade, 1_000_000, 333_333)
        assert [each.tax_total for each in lines(trade, id_)] == [200_000, -66_667]
        equal = invoice(trade, 1_003, 1_002)
        assert [each.tax_total for each in lines(trade, equal)] == [201, -201]

    def test_prices_may_include_tax(self, trade: Trade) -> None:
        id_ = invoice(trade, 1_200, 360, amounts_include_tax=True)
        shown = [(each.subtotal, each.tax_total) for each in lines(trade, id_)]
        assert shown == [(1_000, 200), (-300, -60)]
        assert trade.documents[id_].total_amount == 840

    def test_a_discount_on_the_document_lowers_the_lines_above_zero(self, trade: Trade) -> None:
        id_ = invoice(trade, additional_discount=70)
        assert [each.net for each in lines(trade, id_)] == [930, -300]
        [posted] = lines_of(trade, id_)
        assert (posted["4200 net"], posted["2200 output"]) == (70, -126)
        [discount] = [e for e in trade.posted(id_)[0].lines if abs(e.amount) == 70]
        assert discount.amount == 70

    def test_blocked_and_self_assessed_tax_are_lowered_too(self) -> None:
        trade = buying()
        half = trade.document(coded(1_000, "PH"), coded(-300, "PH"))
        sums = {"2000": -770, "6000 net": 700, "1300 input": 35, "6000 blocked": 35}
        assert lines_of(trade, half) == [sums]
        owed = trade.document(coded(1_000, "PR60"), coded(-300, "PR60"))
        assessed = {"1300 input": 84, "6000 blocked": 56, "2200 output": -140}
        assert lines_of(trade, owed)[1] == assessed

    def test_tax_is_withheld_from_what_remains(self, trade: Trade) -> None:
        id_ = trade.document(coded(1_000, "S20", **HELD), coded(-300, "S20", **HELD))
        assert [each.withheld_total for each in lines(trade, id_)] == [150, -45]
        assert trade.documents[id_].total_amount == 840 - 105

    def test_a_decimal_price_may_be_below_zero(self, trade: Trade) -> None:
        id_ = trade.document(line(1_000), line(Decimal("-16.48"), 7))
        assert (lines(trade, id_)[1].subtotal, lines(trade, id_)[1].unit_price) == (-115, -16)


class TestRefusals:
    @pytest.mark.parametrize(
        ("given", "field", "amount"),
        [
            ([line(-1)], "lines.0", -1),
            ([coded(1_000, "S20"), coded(500, "S0"), coded(-1_001, "S20")], "lines.2", -1),
            ([coded(1_000, "S20"), coded(-1, "S0")], "lines.1", -1),
            ([coded(1_000, "S20"), line(-1)], "lines.1", -1),
            ([line(1_000, tax_rate=20), line(-1, tax_rate=19)], "lines.1", -1),
            ([line(1_000), line(-5, discount_amount=1)], "lines.1.discount_amount", -6),
            ([line(1_000), line(-5, taxes=(TaxGiven(1),))], "lines.1.sales_taxes", -5),
            ([line(1_000), line(5, discount_amount=6)], "lines.1", -1),
            (
                [line(1_000, taxes=(TaxGiven(50, tax_code="S20"),)), coded(-500, "S20")],
                "lines.1",
                -50,
            ),
            (
                [coded(1_000, "S20"), coded(500, "S20", **HELD), coded(-501, "S20", **HELD)],
                "lines.2",
                -1,
            ),
        ],
    )
    def test_lines_of_a_code_and_rate_are_not_below_zero(
        self, given: list[Any], field: str, amount: int
    ) -> None:
        refusal = refused(selling().document, *given)
        detail = {"field": field, "amount": amount}
        assert (refusal.code, refusal.detail) == ("negative_amount", detail)

    def test_a_discount_is_not_larger_than_what_remains(self) -> None:
        refusal = refused(invoice, selling(), additional_discount=701)
        assert refusal.detail == {"field": "additional_discount", "amount": -1}

    def test_a_draft_is_checked_again_on_the_day_on_which_it_opens(self) -> None:
        # 10 % is the rate of the code MOVES from the 7th on, and of no code before.
        trade = selling("8")
        draft = trade.document(coded(1_000, "MOVES"), line(-500, tax_rate=10), opened_at=None)
        assert refused(trade.open, draft, "5").code == "negative_amount"
        assert trade.documents[trade.open(draft, "8")].total_amount == 550


class TestSettlements:
    def test_a_payment_settles_signed_parts(self, trade: Trade) -> None:
        id_ = invoice(trade)
        half = {"4000 net": 500, "2400 net": -150, "2200 output": 70}
        assert settled(trade, id_, 420) == half
        assert settled(trade, id_, 420) == half
        assert trade.documents[id_].settled == tuple(documents.parts(trade.documents[id_]).items())

    def test_the_deposit_may_be_nearly_all(self, trade: Trade) -> None:
        id_ = invoice(trade, 1_000_000, 999_990)
        assert trade.documents[id_].total_amount == 12
        half = {"4000 net": 500_000, "2400 net": -499_995, "2200 output": 1}
        assert settled(trade, id_, 6) == half
        assert settled(trade, id_, 6) == half

    @given(st.integers(0, 2**32))
    def test_no_part_passes_zero_and_the_last_step_closes(self, seed: int) -> None:
        dice, trade = Random(seed), selling()
        prices = [dice.randint(1, 9_999) for _ in range(3)]
        codes = [dice.choice(("S20", "S21", "S0")) for _ in prices]
        sold = [coded(*each) for each in zip(prices, codes, strict=True)]
        less = [
            coded(-dice.randint(1, price), code, account=named(dice.choice(("2400", "4500"))))
            for price, code in zip(prices, codes, strict=True)
        ]
        id_ = trade.document(*sold, *less, amounts_include_tax=dice.random() < 0.3)
        whole = documents.parts(trade.documents[id_])
        while rest := documents.outstanding(trade.documents[id_]):
            step = dice.randint(1, rest)
            trade.pay(step, (id_, step))
            assert_within(trade.documents[id_].settled, whole)
        assert dict(trade.documents[id_].settled) == {p: n for p, n in whole.items() if n}


def assert_within(taken: Split, whole: Any) -> None:
    for part, amount in taken:
        assert min(0, whole[part]) <= amount <= max(0, whole[part])


class TestTotalOfZero:
    def test_is_paid_when_sent_and_its_lines_count_on_both_bases(self, trade: Trade) -> None:
        id_ = invoice(trade, 1_000, 1_000)
        made = trade.documents[id_]
        assert (made.total_amount, made.paid_on) == (0, made.opened_on)
        assert lines_of(trade, id_) == [{"4000 net": -1_000, "2400 net": 1_000, "2200 output": 0}]
        assert [entry.in_cash for entry in trade.posted(id_)] == [True]

    def test_a_later_deposit_makes_it_an_obligation(self, trade: Trade) -> None:
        id_ = invoice(trade, 1_000, 1_000)
        trade.replace(id_, coded(1_000, "S20"), coded(-900, "S20", account=DEPOSITS))
        taken_back = {"4000 net": 1_000, "2400 net": -1_000}
        claim = {"1200": 120, "4000 net": -1_000, "2400 net": 900, "2200 output": -20}
        later = [
            (entry.in_cash, posted)
            for entry, posted in zip(trade.posted(id_), lines_of(trade, id_), strict=True)
        ][1:]
        assert sorted(later, key=str) == [(False, claim), (True, taken_back)]

    def test_void_reverses_it(self, trade: Trade) -> None:
        id_ = invoice(trade, 1_000, 1_000)
        trade.void(id_)
        assert trade.balances() == {}
        assert trade.posted(id_)[-1].reversal_of_id == trade.posted(id_)[0].id

    def test_without_a_line_below_zero_it_posts_nothing(self, trade: Trade) -> None:
        assert trade.posted(trade.document(coded(100, "S20"), additional_discount=100)) == ()


class TestCredits:
    def test_a_line_above_zero_is_credited_with_its_own_tax(self, trade: Trade) -> None:
        id_ = invoice(trade)
        for net, tax in ((400, 80), (600, 120)):
            assert trade.credits[credit_of_line(trade, id_, net)].tax_total == tax

    def test_a_line_below_zero_is_not_credited_by_itself(self, trade: Trade) -> None:
        refusal = refused(credit_of_line, trade, invoice(trade), 1, 1)
        assert refusal.code == "credit_exceeds_source"
        assert (refusal.detail["left"], refusal.detail["tax_left"]) == (0, 0)

    def test_applied_to_its_source_it_settles_the_same_code_in_proportion(
        self, trade: Trade
    ) -> None:
        deposit = coded(-300, "S20", account=DEPOSITS)
        id_ = trade.document(coded(1_000, "S20"), deposit, coded(500, "S0"))
        credit_of_line(trade, id_, 350, to=[(id_, 420)])
        half = {"4000 net": 500, "2400 net": -150, "2200 output": 70}
        assert amounts_of(trade.documents[id_].settled) == half


class TestRefunds:
    def test_all_parts_are_given_back_in_proportion(self) -> None:
        trade = selling()
        id_ = invoice(trade)
        trade.pay(840, (id_, 840))
        refund = trade.refund(id_, 420)
        assert lines_of(trade, refund) == [{"2300": -420, "4100 net": 350, "2200 output": 70}]
        assert dict(trade.documents[id_].reduced) == {
            lines(trade, id_)[0].id: (500, 100),
            lines(trade, id_)[1].id: (-150, -30),
        }
        trade.refund(id_)
        assert dict(trade.documents[id_].reduced)[lines(trade, id_)[1].id] == (-300, -60)

    @pytest.mark.parametrize(("beside", "most"), [(0, 840), (500, 840)])
    def test_a_line_is_refunded_up_to_what_is_left_of_its_code(
        self, trade: Trade, beside: int, most: int
    ) -> None:
        id_ = trade.document(
            coded(1_000, "S20"), coded(-300, "S20"), *([coded(beside, "S0")] if beside else [])
        )
        trade.pay(840 + beside, (id_, 840 + beside))
        whole = lines(trade, id_)[0].id
        refusal = refused(trade.refund, id_, lines=(GivenBackLine(whole, most + 1),))
        detail = refusal.detail["refundable"], refusal.detail["amount"]
        assert (refusal.code, detail) == ("refund_exceeds_refundable", (most, most + 1))
        refund = trade.refund(id_, lines=(GivenBackLine(whole, most),))
        assert lines_of(trade, refund) == [{"2300": -840, "4100 net": 700, "2200 output": 140}]

    def test_a_line_below_zero_is_not_refunded_by_itself(self, trade: Trade) -> None:
        id_ = invoice(trade)
        trade.pay(840, (id_, 840))
        deposit = GivenBackLine(lines(trade, id_)[1].id, 1)
        assert refused(trade.refund, id_, lines=(deposit,)).detail["refundable"] == 0

    def test_nothing_is_left_after_a_credit_of_the_whole_line(self, trade: Trade) -> None:
        id_ = invoice(trade)
        trade.pay(840, (id_, 840))
        credit_of_line(trade, id_, 1_000)
        assert refused(trade.refund, id_, 1).detail["refundable"] == 0


class TestWriteOffs:
    def test_relief_takes_the_remaining_tax_back(self, trade: Trade) -> None:
        write_off = trade.write_off(invoice(trade), tax_relief=True)
        relieved = {"1200": -840, "6200 relief_net": 700, "2200 relief": 140}
        assert lines_of(trade, write_off) == [relieved]

    def test_there_is_no_relief_after_a_credit_of_the_whole_line(self, trade: Trade) -> None:
        id_ = invoice(trade)
        credit_of_line(trade, id_, 1_000)
        write_off = trade.write_off(id_, tax_relief=True)
        assert lines_of(trade, write_off) == [{"1200": -840, "6200": 840}]
