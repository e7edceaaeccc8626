from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.errors import RuleViolation
from accounting.money import MAX_AMOUNT, round_half_away, split, times, within_bounds
from tests.accounting.samples import refusal_of

AMOUNTS = st.integers(-MAX_AMOUNT, MAX_AMOUNT)
WEIGHTS = st.lists(st.integers(0, MAX_AMOUNT), min_size=1, max_size=12)


class TestTimes:
    @pytest.mark.parametrize(
        ("exact", "whole"),
        [("2.5", 3), ("-2.5", -3), ("2.4999", 2), ("-0.5", -1), ("0.5", 1), ("3", 3)],
    )
    def test_a_half_goes_away_from_zero(self, exact: str, whole: int) -> None:
        assert round_half_away(Decimal(exact)) == whole

    def test_a_product_is_exact_before_it_is_rounded(self) -> None:
        assert times(333, Decimal("1.5")) == 500
        assert times(-333, Decimal("1.5")) == -500

    def test_many_digits_lose_nothing(self) -> None:
        assert times(99_999_999, Decimal("999999.999999")) == 99_999_998_999_900

    @pytest.mark.parametrize("factor", ["10", "1e40", "1.1"])
    def test_a_product_beyond_the_bounds_is_refused(self, factor: str) -> None:
        assert times(MAX_AMOUNT, Decimal(1)) == MAX_AMOUNT
        refusal = refusal_of(times, MAX_AMOUNT, Decimal(factor))
        assert refusal == ("amount_too_large", {"limit": MAX_AMOUNT})


class TestBounds:
    def test_an_amount_above_the_maximum_is_refused(self) -> None:
        assert within_bounds(MAX_AMOUNT) == MAX_AMOUNT
        assert within_bounds(-MAX_AMOUNT) == -MAX_AMOUNT
        with pytest.raises(RuleViolation, match="larger than the books"):
            within_bounds(MAX_AMOUNT + 1)


class TestSplit:
    def test_ties_go_to_the_first(self) -> None:
        assert split(2, [1, 1, 1]) == [1, 1, 0]
        assert split(-2, [1, 1, 1]) == [-1, -1, 0]

    def test_the_largest_remainder_takes_the_unit(self) -> None:
        assert split(10, [1, 1, 4]) == [2, 2, 6]
        assert split(3_333, [8_333, 1_667]) == [2_777, 556]

    def test_zero_weights_take_nothing_beside_others(self) -> None:
        assert split(5, [0, 2, 0]) == [0, 5, 0]
        assert split(5, [0, 0]) == [3, 2]

    @pytest.mark.parametrize(
        ("weights", "why"), [([], "over nothing"), ([5, -5], "comes to nothing")]
    )
    def test_weights_that_come_to_nothing_take_nothing(self, weights: list[int], why: str) -> None:
        assert split(0, weights) == [0] * len(weights)
        with pytest.raises(ValueError, match=why):
            split(1, weights)

    def test_a_weight_below_zero_takes_the_other_sign(self) -> None:
        assert split(530, [1_000, 210, -150]) == [500, 105, -75]
        assert split(1, [3, -1]) == [2, -1]
        assert split(-15, [-150, -50]) == split(-15, [150, 50]) == [-11, -4]

    @given(AMOUNTS, WEIGHTS)
    def test_parts_sum_to_the_whole_and_are_within_one_of_exact(
        self, amount: int, weights: list[int]
    ) -> None:
        parts = split(amount, weights)
        assert sum(parts) == amount
        total = sum(weights)
        if total:
            for part, weight in zip(parts, weights, strict=True):
                assert abs(part * total - amount * weight) < total
