"""Tax amounts by code and by rate: inclusive, blocked, withheld and self-assessed."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.ledger import TaxMark, TaxPart
from accounting.tax.codes import Direction, TaxCode, Treatment
from accounting.tax.taxed_amounts import (
    DayCode,
    GivenTax,
    Gross,
    HeldTax,
    Tax,
    TaxableAmount,
    TaxAccounts,
    TaxedAmount,
    TaxInstruction,
    held_taxes,
    net_and_taxes,
    tax,
)
from tests.accounting.samples import ROLES, account_id
from tests.accounting.tax.test_codes import TODAY, code_of, percent, rate_on

OUTPUT, INPUT, COST = account_id("2200"), account_id("1300"), account_id("6000")
ACCOUNTS = TaxAccounts(OUTPUT, OUTPUT)


def bought(name: str, treatment: Treatment = Treatment.STANDARD) -> TaxCode:
    code = code_of(name, direction=Direction.PURCHASES, treatment=treatment)
    return replace(code, tax_account_id=INPUT)


S20 = DayCode(code_of("S20"), Decimal(20))
S5 = DayCode(code_of("S5"), Decimal(5))
ZERO = DayCode(code_of("S0", treatment=Treatment.ZERO), Decimal(0))
HALF = DayCode(bought("P20"), Decimal(20), Decimal(50))
ABROAD = DayCode(bought("PR20", Treatment.REVERSE_CHARGE), Decimal(20))
KEPT_BACK = DayCode(
    replace(code_of("W15", treatment=Treatment.WITHHOLDING), tax_account_id=account_id("1310")),
    Decimal(15),
)


def taxed(
    *items: tuple[int, TaxInstruction], inclusive: bool = False, discount: int = 0
) -> list[TaxedAmount]:
    """Tax some amounts; a discount reduces the first."""
    taxable = [
        TaxableAmount(
            amount=amount, account_id=COST, taxing=taxing, discount=0 if place else discount
        )
        for place, (amount, taxing) in enumerate(items)
    ]
    return tax(taxable, ACCOUNTS, inclusive=inclusive)


def by(code: DayCode) -> TaxInstruction:
    return TaxInstruction(code=code)


def amounts(taxes: Sequence[Tax]) -> list[tuple[int, UUID, TaxPart | None]]:
    return [(t.amount, t.account_id, None if t.mark is None else t.mark.part) for t in taxes]


class TestCharged:
    def test_charged_tax_is_rounded_once_for_each_code_and_spread(self) -> None:
        lines = taxed((33, by(S20)), (33, by(S20)), (34, by(S20)), (33, by(S5)))
        assert [sum(t.amount for t in line.taxes) for line in lines] == [7, 6, 7, 2]
        assert lines[0].taxes[0].mark == TaxMark(S20.code.id, Decimal(20), TaxPart.OUTPUT)

    def test_tax_needs_a_rate_and_a_mark_a_code(self) -> None:
        rate_alone, no_tax = taxed((1_000, TaxInstruction(rate=Decimal("17.5"))), (5_000, by(ZERO)))
        assert rate_alone.taxes == (Tax(175, OUTPUT),)
        assert (no_tax.subtotal, no_tax.taxes) == (5_000, ())

    def test_given_tax_stands_as_given_also_without_a_net(self) -> None:
        given = GivenTax(200, INPUT, replace(HALF, recoverable=Decimal(100)))
        [line] = taxed((0, TaxInstruction(code=HALF, given=(given,))))
        assert (line.subtotal, amounts(line.taxes)) == (0, [(200, INPUT, TaxPart.INPUT)])


class TestInclusive:
    def test_tax_is_taken_out_of_what_is_charged(self) -> None:
        [line] = taxed((603, by(S20)), inclusive=True)
        assert (line.subtotal, line.taxes[0].amount) == (502, 101)

    def test_a_discount_is_net_before_less_net_after(self) -> None:
        [line] = taxed((12_000, by(S20)), inclusive=True, discount=1_200)
        assert (line.subtotal, line.discount, line.taxes[0].amount) == (10_000, 1_000, 1_800)

    @given(st.lists(st.tuples(st.integers(0, 9_999), st.sampled_from((S20, S5, ZERO))), min_size=1))
    def test_net_and_tax_come_to_what_was_charged(self, lines: list[tuple[int, DayCode]]) -> None:
        made = taxed(*((amount, by(code)) for amount, code in lines), inclusive=True)
        for (amount, _), line in zip(lines, made, strict=True):
            assert line.subtotal - line.discount + sum(t.amount for t in line.taxes) == amount
            assert line.subtotal >= 0


class TestBlocked:
    def test_tax_that_is_not_recoverable_is_cost_on_the_account_of_the_line(self) -> None:
        [line] = taxed((1_000, by(HALF)))
        blocked = (100, COST, TaxPart.BLOCKED)
        assert amounts(line.taxes) == [(100, INPUT, TaxPart.INPUT), blocked]

    def test_blocked_tax_is_split_once_for_each_code(self) -> None:
        lines = taxed((15, by(HALF)), (15, by(HALF)), (15, by(HALF)))
        assert [[t.amount for t in line.taxes] for line in lines] == [[2, 1], [2, 1], [1, 2]]


class TestSelfAssessed:
    def test_self_assessed_tax_is_owed_and_recovered_outside_the_total(self) -> None:
        [line] = taxed((1_000, by(ABROAD)))
        assert (line.subtotal, line.taxes) == (1_000, ())
        assert amounts(line.self_assessed) == [
            (-200, OUTPUT, TaxPart.OUTPUT),
            (200, INPUT, TaxPart.INPUT),
        ]

    def test_self_assessed_tax_that_is_not_recoverable_is_cost(self) -> None:
        [line] = taxed((1_000, by(replace(ABROAD, recoverable=Decimal(25)))))
        assert amounts(line.self_assessed)[1:] == [
            (50, INPUT, TaxPart.INPUT),
            (150, COST, TaxPart.BLOCKED),
        ]

    def test_a_seller_owes_no_self_assessed_tax(self) -> None:
        code = code_of("SR", treatment=Treatment.REVERSE_CHARGE)
        [line] = taxed((1_000, by(DayCode(code, Decimal(20)))))
        assert (line.taxes, line.self_assessed) == ((), ())


class TestWithheld:
    @pytest.mark.parametrize("rate", [15, Decimal("7.5")])
    def test_withheld_tax_is_a_part_of_the_net(self, rate: Decimal | int) -> None:
        held = replace(KEPT_BACK, rate=Decimal(rate))
        [line] = taxed((1_000, TaxInstruction(code=S20, withholding=held)))
        expected = (int(10 * rate), account_id("1310"), TaxPart.WITHHELD)
        assert amounts(line.withheld) == [expected]
        assert line.taxes[0].amount == 200


CHARGES, INPUT = account_id("6300"), account_id("1300")
BOUGHT = code_of("BOUGHT", percent("20"), direction=Direction.PURCHASES, tax_account_id=INPUT)
REVERSED = code_of(
    "PA20",
    percent("20"),
    direction=Direction.PURCHASES,
    treatment=Treatment.REVERSE_CHARGE,
    tax_account_id=INPUT,
)


def on_day(code: object) -> DayCode:
    held = rate_on(code, TODAY)  # type: ignore[arg-type]
    assert held is not None
    return DayCode(code, held.rate)  # type: ignore[arg-type]


def held(amount: int, code: object) -> HeldTax:
    [found] = held_taxes([Gross(amount, CHARGES, on_day(code))], ROLES)
    assert found is not None
    return found


class TestHeldTaxes:
    def test_tax_is_taken_out_of_the_amount(self) -> None:
        found = held(1_200, BOUGHT)
        assert found.total == 200
        laid_out = list(net_and_taxes(1_200, CHARGES, found))
        assert [(account, amount) for account, amount, _ in laid_out] == [
            (CHARGES, 1_000),
            (INPUT, 200),
        ]
        assert [mark.part for *_, mark in laid_out if mark] == [TaxPart.NET, TaxPart.INPUT]

    def test_parts_of_one_code_are_rounded_together(self) -> None:
        parts = [Gross(33, CHARGES, on_day(BOUGHT)) for _ in range(3)]
        assert [each.total for each in held_taxes(parts, ROLES) if each] == [6, 6, 5]

    def test_self_assessed_tax_is_not_in_the_amount(self) -> None:
        found = held(1_000, REVERSED)
        assert (found.total, [each.amount for each in found.self_assessed]) == (0, [-200, 200])

    def test_without_a_code_there_is_none(self) -> None:
        assert held_taxes([Gross(5, CHARGES)], ROLES) == [None]
        assert list(net_and_taxes(5, CHARGES, None)) == [(CHARGES, 5, None)]
