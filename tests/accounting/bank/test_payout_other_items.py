"""What a processor takes and gives beside payments and refunds, and where that goes."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from accounting.bank import payouts
from accounting.bank.commands import OtherItemGiven, SavePayout
from accounting.bank.payouts import account_references, other_items, total
from accounting.errors import ValidationError
from accounting.tax.codes import Rate, TaxCodes
from tests.accounting.bank.card_sales import CardSales
from tests.accounting.samples import REFERENCED, code_of, day, moment, named, refused
from tests.accounting.tax.test_codes import code_of as tax_code


def given(kind: str, amount: int, **facts: Any) -> OtherItemGiven:
    return OtherItemGiven(kind=kind, amount=amount, **facts)


class TestOtherItems:
    @pytest.mark.parametrize(
        ("item", "code"),
        [
            (given("chargeback", -5), "6150"),
            (given("chargeback_reversal", 5), "6150"),
            (given("dispute_fee", -5), "6100"),
            (given("dispute_fee", 5), "6100"),
            (given("reserve_hold", -5), "1160"),
            (given("reserve_release", 5), "1160"),
            (given("adjustment", 5), "4500"),
            (given("adjustment", -5), "6000"),
            (given("adjustment", -5, account=named("4500")), "4500"),
        ],
    )
    def test_each_goes_to_its_account(self, item: OtherItemGiven, code: str) -> None:
        [made] = other_items([item], REFERENCED, day("5"))
        assert (made.kind, made.amount, code_of(made.account_id)) == (item.kind, item.amount, code)

    @pytest.mark.parametrize(
        ("item", "field", "fault"),
        [
            (
                given("chargeback", 5),
                "amount_cents",
                "must be below 0 in an item of type chargeback",
            ),
            (
                given("reserve_release", -5),
                "amount_cents",
                "must be above 0 in an item of type reserve_release",
            ),
            (
                given("dispute_fee", 0),
                "amount_cents",
                "must not be 0 in an item of type dispute_fee",
            ),
            (
                given("chargeback", -5, account=named("6000")),
                "account",
                "is allowed only in an item of type adjustment",
            ),
        ],
    )
    def test_an_impossible_item_is_refused_with_its_field(
        self, item: OtherItemGiven, field: str, fault: str
    ) -> None:
        good = given("adjustment", 1)
        refusal = refused(other_items, [good, item], REFERENCED, day("5"))
        assert isinstance(refusal, ValidationError)
        assert refusal.detail["field_errors"] == {f"other_items.1.{field}": [fault]}

    @pytest.mark.parametrize(
        ("code", "told"),
        [
            ("1200", "control_account"),
            ("1150", "same_account"),
            ("9999", "reference_not_found"),
        ],
    )
    def test_an_adjustment_goes_to_a_usable_account(self, code: str, told: str) -> None:
        item = given("adjustment", 5, account=named(code))
        assert refused(other_items, [item], REFERENCED, day("5")).code == told

    def test_incoming_and_outgoing_items_are_taxed_separately(self) -> None:
        codes = TaxCodes((tax_code("S20", Rate(Decimal(20), Decimal(100))),))
        items = [
            given(kind, amount, tax_code="S20")
            for kind, amount in (("chargeback_reversal", 10), ("chargeback", -88))
        ]
        made = other_items(items, replace(REFERENCED, codes=codes), day("5"))
        assert [each.tax and each.tax.total for each in made] == [2, 15]

    def test_accounts_are_loaded_first(self) -> None:
        items = (given("adjustment", 5, account=named("4500")), given("chargeback", -5))
        command = SavePayout(processor="stripe", paid_out=1, other_items=items)
        assert account_references(command) == {named("4500")}
        assert account_references(SavePayout(processor="stripe", paid_out=1)) == frozenset()


class TestPayout:
    def test_other_items_count_in_the_expected_amount_and_keep_the_variance(self) -> None:
        trade = CardSales("20")
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

    def test_fees_that_came_back_are_below_zero(self) -> None:
        trade = CardSales("20")
        made = trade.pay_out(1_005, trade.card(1_000), fee=-5)
        assert payouts.variance(trade.payouts[made]) == 0
        assert trade.paid_out(made) == [("20", {"1100": 1_005, "6100": -5, "1150": -1_000})]

    def test_a_new_list_corrects_its_day_and_none_keeps_the_old_one(self) -> None:
        trade = CardSales("20")
        made = trade.pay_out(
            950, trade.card(1_000), fee=0, other_items=(given("chargeback", -50),), external_id="x"
        )
        trade.today = "25"
        assert trade.update(made, memo="m").payout.other_items != ()
        trade.update(made, other_items=(given("reserve_hold", -50),))
        assert trade.paid_out(made)[1:] == [("20", {"1160": 50, "6150": -50})]
        trade.delete(made)
        assert trade.balances() == {"1150": 1_000, "2100": -1_000}
        assert moment("25") == trade.payouts[made].deleted_at
