"""The amount of a payout, and the accounts of a processor's other items."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from accounting.bank import payouts
from accounting.bank.commands import OtherItemGiven, SavePayout
from accounting.bank.payouts import FeeStep, Payout, account_references, other_items, total
from accounting.books.ledger import Span
from accounting.errors import ValidationError
from accounting.tax.codes import Rate, TaxCodes
from tests.accounting.bank.card_sales import CardSales
from tests.accounting.samples import REFERENCED, code_of, day, moment, named, refused
from tests.accounting.tax.test_codes import code_of as tax_code


def worked_example() -> Payout:
    """Create a payout: payments of 1,000,000 less refunds of 50,000 and a fee of 30,000."""
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


class TestFeesAndSums:
    def test_count_what_stands_completed(self, trade: CardSales) -> None:
        items = [trade.card(100), trade.card(50), trade.card(7, status="pending")]
        items.append(trade.give_back(20))
        trade.change(items[1], status="failed")
        money = trade.money()
        assert payouts.sums(money[each] for each in items) == (100, 20)

    def test_come_with_an_item_and_go_back_when_it_bounces(self, trade: CardSales) -> None:
        payment = trade.on("5").card(100, fee=3)
        trade.on("9").change(payment, status="failed")
        fees = payouts.fees_of([trade.payments[payment]])
        assert fees == (FeeStep(day("5"), 3), FeeStep(day("9"), -3))

    def test_fees_of_a_day_are_added(self, trade: CardSales) -> None:
        items = trade.on("5").card(100, fee=3), trade.card(100, fee=4), trade.give_back(20, fee=1)
        assert payouts.fees_of(trade.money()[each] for each in items) == (FeeStep(day("5"), 8),)

    def test_fees_that_begin_and_end_on_a_day_cancel_out(self, trade: CardSales) -> None:
        payment = trade.on("5").card(100, fee=3)
        trade.change(payment, status="failed")
        assert payouts.fees_of([trade.payments[payment]]) == ()

    def test_new_fees_of_an_item_replace_its_old_fees(self) -> None:
        steps = (FeeStep(day("5"), 8), FeeStep(day("6"), 2))
        was, now = [FeeStep(day("5"), 3)], [FeeStep(day("5"), 3), FeeStep(day("9"), -3)]
        changed = payouts.with_other_fees(steps, was, now)
        assert changed == (*steps, FeeStep(day("9"), -3))
        assert sum(step.amount for step in changed) == 7


class TestDays:
    def test_a_payout_is_paid_from_its_own_day_on(self) -> None:
        spans = (Span(None, day("12")), Span(day("15")))
        payout = replace(
            worked_example(), completed_at=moment("10"), completed_on=None, completions=spans
        )
        assert payouts.paid_days(payout) == [(day("10"), day("12")), (day("15"), None)]
        assert payouts.paid_days(replace(payout, completed_at=None, completions=())) == []

    def test_fees_posted_before_a_span_count_from_its_first_day(self) -> None:
        steps = (FeeStep(day("5"), 8), FeeStep(day("11"), -3), FeeStep(day("14"), 3))
        payout = replace(worked_example(), fee_steps=steps)
        first = payouts.fees_during(payout, (day("10"), day("12")))
        assert list(first) == [(day("10"), 8), (day("11"), -3)]
        last = payouts.fees_during(payout, (day("15"), None))
        assert list(last) == [(day("15"), amount) for amount in (8, -3, 3)]
        assert payouts.item_fees(payout) == 8


def given(kind: str, amount: int, **facts: Any) -> OtherItemGiven:
    return OtherItemGiven(kind=kind, amount=amount, **facts)


class TestOtherItems:
    @pytest.mark.parametrize(
        ("kind", "amount", "named_code", "code"),
        [
            ("chargeback", -5, None, "6150"),
            ("chargeback_reversal", 5, None, "6150"),
            ("dispute_fee", -5, None, "6100"),
            ("dispute_fee", 5, None, "6100"),
            ("reserve_hold", -5, None, "1160"),
            ("reserve_release", 5, None, "1160"),
            ("adjustment", 5, None, "4500"),
            ("adjustment", -5, None, "6000"),
            ("adjustment", -5, "4500", "4500"),
        ],
    )
    def test_each_goes_to_its_account(
        self, kind: str, amount: int, named_code: str | None, code: str
    ) -> None:
        item = given(kind, amount, account=named(named_code))
        [made] = other_items([item], REFERENCED, day("5"))
        assert (made.kind, made.amount, code_of(made.account_id)) == (kind, amount, code)

    @pytest.mark.parametrize(
        ("kind", "amount", "code", "field", "fault"),
        [
            ("chargeback", 5, None, "amount_cents", "must be below 0"),
            ("reserve_release", -5, None, "amount_cents", "must be above 0"),
            ("dispute_fee", 0, None, "amount_cents", "must not be 0"),
            ("chargeback", -5, "6000", "account", "is allowed only"),
        ],
    )
    def test_an_impossible_item_is_refused_with_its_field(
        self, kind: str, amount: int, code: str | None, field: str, fault: str
    ) -> None:
        items = [given("adjustment", 1), given(kind, amount, account=named(code))]
        refusal = refused(other_items, items, REFERENCED, day("5"))
        assert isinstance(refusal, ValidationError)
        told = f"{fault} in an item of type {'adjustment' if code else kind}"
        assert refusal.detail["field_errors"] == {f"other_items.1.{field}": [told]}

    @pytest.mark.parametrize(
        ("code", "refusal"),
        [("1200", "control_account"), ("1150", "same_account"), ("9999", "reference_not_found")],
    )
    def test_an_adjustment_goes_to_a_usable_account(self, code: str, refusal: str) -> None:
        item = given("adjustment", 5, account=named(code))
        assert refused(other_items, [item], REFERENCED, day("5")).code == refusal

    def test_incoming_and_outgoing_items_are_taxed_separately(self) -> None:
        codes = TaxCodes((tax_code("S20", Rate(Decimal(20), Decimal(100))),))
        amounts = {"chargeback_reversal": 10, "chargeback": -88}
        items = [given(kind, amount, tax_code="S20") for kind, amount in amounts.items()]
        made = other_items(items, replace(REFERENCED, codes=codes), day("5"))
        assert [each.tax and each.tax.total for each in made] == [2, 15]

    def test_accounts_are_loaded_first(self) -> None:
        items = (given("adjustment", 5, account=named("4500")), given("chargeback", -5))
        command = SavePayout(processor="stripe", paid_out=1, other_items=items)
        assert account_references(command) == {named("4500")}
        assert account_references(SavePayout(processor="stripe", paid_out=1)) == frozenset()


class TestPayout:
    def test_other_items_count_in_expected_amount_and_variance(self, trade: CardSales) -> None:
        items = given("chargeback", -50), given("reserve_hold", -100), given("dispute_fee", -15)
        made = trade.pay_out(830, trade.card(1_000), fee=10, other_items=items)
        payout = trade.payouts[made]
        assert total(payout.other_items) == -165
        assert (payouts.expected_net(payout), payouts.variance(payout)) == (825, 5)
        assert payouts.net_amount(payout) == 820
        assert trade.paid_out(made) == [
            ("20", {"1100": 830, "6150": 50, "1160": 100, "6100": 25, "1150": -1_005})
        ]
        assert trade.balances()["1150"] == -5

    def test_fees_that_came_back_are_below_zero(self, trade: CardSales) -> None:
        made = trade.pay_out(1_005, trade.card(1_000), fee=-5)
        assert payouts.variance(trade.payouts[made]) == 0
        assert trade.paid_out(made) == [("20", {"1100": 1_005, "6100": -5, "1150": -1_000})]

    def test_a_new_list_corrects_its_day_and_none_keeps_the_old_one(self, trade: CardSales) -> None:
        items = (given("chargeback", -50),)
        made = trade.pay_out(950, trade.card(1_000), fee=0, other_items=items, external_id="x")
        assert trade.on("25").update(made, memo="m").payout.other_items != ()
        trade.update(made, other_items=(given("reserve_hold", -50),))
        assert trade.paid_out(made)[1:] == [("20", {"1160": 50, "6150": -50})]
        trade.delete(made)
        assert trade.balances() == {"1150": 1_000, "2100": -1_000}
        assert moment("25") == trade.payouts[made].deleted_at
