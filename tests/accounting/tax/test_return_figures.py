"""The figures of a return by code and part, and the boxes of two countries."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.ledger import TaxPart
from accounting.tax import return_figures
from accounting.tax.cash_schemes import counted
from accounting.tax.codes import Direction, TaxCode, TaxCodes, Treatment
from accounting.tax.commands import Scheme
from accounting.tax.return_figures import CREDIT, DEBIT, BoxSource, CodedAmount, Figures
from accounting.tax.starting_codes import boxes_of
from tests.accounting.tax.test_codes import code_of, percent

SALES, PURCHASES = Direction.SALES, Direction.PURCHASES
NET, OUTPUT, INPUT = TaxPart.NET, TaxPart.OUTPUT, TaxPart.INPUT
RELIEF, RELIEF_NET = TaxPart.RELIEF, TaxPart.RELIEF_NET


def of(country: str, code: str, **facts: Any) -> TaxCode:
    direction = SALES if code.startswith("S") else PURCHASES
    made = code_of(code, percent("20"))
    return replace(made, direction=direction, boxes=boxes_of(country, code), **facts)


BRITISH = {code: of("GB", code) for code in ("S20", "SG", "P20", "PA20", "PG20")}
GERMAN = {code: of("DE", code) for code in ("S19", "P19", "PU19")}
HELD = {code: of("ES", code, treatment=Treatment.WITHHOLDING) for code in ("SW15", "PW15")}


def coded(code: TaxCode, part: TaxPart, amount: int, *, late: bool = False) -> CodedAmount:
    """Create an amount of the ledger; a debit is positive."""
    return CodedAmount(code.id, Decimal(20), part, max(amount, 0), max(-amount, 0), late)


def filled_in(country: str, known: dict[str, TaxCode], *amounts: tuple[str, TaxPart, int]) -> Any:
    rows = [coded(known[code], part, amount) for code, part, amount in amounts]
    found = return_figures.boxes(country, rows, TaxCodes(tuple(known.values())))
    return {box.number: box.amount for box in found if box.amount}


class TestByCode:
    def test_sales_and_their_tax_are_positive_and_credits_lower_them(self) -> None:
        code = BRITISH["S20"]
        rows = [
            coded(code, NET, -10_000),
            coded(code, OUTPUT, -2_000),
            coded(code, NET, 1_000, late=True),
        ]
        [shown] = return_figures.by_code(rows, TaxCodes((code,)))
        assert shown.parts == {NET: 9_000, OUTPUT: 2_000}

    def test_rates_of_one_code_stand_apart_and_sums_of_zero_are_omitted(self) -> None:
        code = BRITISH["S20"]
        rows = [coded(code, NET, -1), replace(coded(code, NET, -2), rate=Decimal(15))]
        shown = return_figures.by_code(rows, TaxCodes((code,)))
        assert [(each.rate, each.parts) for each in shown] == [(15, {NET: 2}), (20, {NET: 1})]
        rows = [coded(code, NET, -5), coded(code, NET, 5)]
        assert return_figures.by_code(rows, TaxCodes((code,))) == ()


class TestBoxesOfGreatBritain:
    @pytest.mark.parametrize(
        ("amounts", "boxes"),
        [
            (
                [("S20", NET, -10_000), ("S20", OUTPUT, -2_000)],
                {"1": 2_000, "3": 2_000, "5": 2_000, "6": 10_000},
            ),
            ([("P20", NET, 6_000), ("P20", INPUT, 1_200)], {"4": 1_200, "5": 1_200, "7": 6_000}),
            (
                [("PA20", NET, 500), ("PA20", OUTPUT, -100), ("PA20", INPUT, 100)],
                {"1": 100, "3": 100, "4": 100, "6": 500, "7": 500},
            ),
            (
                [("PG20", NET, 500), ("PG20", OUTPUT, -100), ("PG20", INPUT, 100)],
                {"2": 100, "3": 100, "4": 100, "7": 500, "9": 500},
            ),
            ([("SG", NET, -300)], {"6": 300, "8": 300}),
            # Relief of a sale is reclaimed, and owed again when it is reversed; no net changes.
            ([("S20", RELIEF, 10), ("S20", RELIEF_NET, 50)], {"4": 10, "5": 10}),
            ([("S20", RELIEF, -10), ("S20", RELIEF_NET, -50)], {"1": 10, "3": 10, "5": 10}),
            ([("P20", RELIEF, -10), ("P20", RELIEF_NET, -50)], {"4": -10, "5": 10}),
        ],
    )
    def test_each_part_has_its_box(
        self, amounts: list[tuple[str, TaxPart, int]], boxes: dict[str, int]
    ) -> None:
        assert filled_in("GB", BRITISH, *amounts) == boxes

    def test_boxes_of_great_britain_are_always_nine(self) -> None:
        found = return_figures.boxes("GB", (), TaxCodes(()))
        assert [box.number for box in found] == list("123456789")

    @pytest.mark.parametrize(("net", "whole"), [(12_345, 12_300), (-12_345, -12_300)])
    def test_nets_are_in_whole_pounds(self, net: int, whole: int) -> None:
        assert filled_in("GB", BRITISH, ("P20", NET, net))["7"] == whole

    def test_relief_stands_behind_two_boxes_by_its_side(self) -> None:
        code = BRITISH["S20"]
        rows = [CodedAmount(code.id, Decimal(20), RELIEF, 10, 4)]
        figures = return_figures.drawn_up("GB", rows, TaxCodes((code,)), (), (None, None))
        assert figures.behind("4") == (BoxSource(code.id, RELIEF, DEBIT),)
        assert figures.behind("1") == (BoxSource(code.id, RELIEF, CREDIT),)
        assert figures.behind("10") is None


class TestBoxesOfGermany:
    def test_bases_are_in_whole_euros_and_the_form_works_out_their_tax(self) -> None:
        amounts = [("S19", NET, -10_050), ("S19", OUTPUT, -1_910), ("P19", INPUT, 111)]
        assert filled_in("DE", GERMAN, *amounts) == {"66": 111, "81": 10_000, "83": 1_900 - 111}

    def test_relief_lowers_the_base_and_the_tax(self) -> None:
        amounts = [("S19", NET, -10_000), ("S19", RELIEF_NET, 4_000), ("P19", RELIEF, -30)]
        assert filled_in("DE", GERMAN, *amounts) == {"66": -30, "81": 6_000, "83": 1_140 + 30}

    def test_tax_that_is_assessed_has_its_own(self) -> None:
        amounts = [("PU19", NET, 100), ("PU19", OUTPUT, -19), ("PU19", INPUT, 19)]
        assert filled_in("DE", GERMAN, *amounts) == {"46": 100, "47": 19, "67": 19}


class TestFigures:
    def figures(self, *amounts: tuple[TaxCode, TaxPart, int]) -> Figures:
        rows = [coded(*each) for each in amounts]
        codes = TaxCodes(tuple({code.id: code for code, _, _ in amounts}.values()))
        return return_figures.drawn_up(None, rows, codes, (), (None, None))

    def test_tax_due_is_output_tax_less_input_tax_and_relief(self) -> None:
        found = self.figures(
            (BRITISH["S20"], OUTPUT, -2_000),
            (BRITISH["P20"], INPUT, 940),
            (BRITISH["S20"], RELIEF, 100),
            (BRITISH["P20"], RELIEF, -30),
        )
        assert found.tax_due == 2_000 - 940 - 100 + 30

    def test_withheld_tax_is_reported_by_direction(self) -> None:
        withheld = TaxPart.WITHHELD
        found = self.figures((HELD["SW15"], withheld, 150), (HELD["PW15"], withheld, -70))
        assert (found.withheld(SALES), found.withheld(PURCHASES)) == (150, 70)

    @given(
        st.lists(
            st.tuples(
                st.sampled_from([*BRITISH.values()]),
                st.sampled_from([NET, OUTPUT, INPUT, RELIEF]),
                st.integers(-(10**6), 10**6),
            ),
            max_size=12,
        )
    )
    def test_tax_due_is_the_movement_of_the_tax_accounts(
        self, amounts: list[tuple[TaxCode, TaxPart, int]]
    ) -> None:
        moved = sum(amount for _, part, amount in amounts if part is not NET)
        assert self.figures(*amounts).tax_due == -moved


class TestCounted:
    CODES = TaxCodes(
        (
            BRITISH["S20"],
            BRITISH["P20"],
            replace(BRITISH["PA20"], treatment=Treatment.REVERSE_CHARGE),
        )
    )

    def settled(self, country: str, scheme: Scheme) -> set[str]:
        wanted = counted(country, scheme, self.CODES)
        known = {each.id: each.code for each in self.CODES.codes}
        assert {*wanted.when_posted, *wanted.when_settled} == {*known}
        return {known[each] for each in wanted.when_settled}

    def test_on_accrual_all_counts_when_it_is_posted(self) -> None:
        assert self.settled("GB", Scheme.ACCRUAL) == set()

    @pytest.mark.parametrize(
        ("country", "codes"), [("GB", {"S20", "P20"}), ("DE", {"S20"}), ("NL", {"S20", "P20"})]
    )
    def test_on_cash_a_country_covers_its_sides(self, country: str, codes: set[str]) -> None:
        assert self.settled(country, Scheme.CASH) == codes
