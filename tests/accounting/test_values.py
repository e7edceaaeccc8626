"""Values behave as frozen dataclasses do, but for the refusal at run time."""

from functools import cached_property

import pytest

from accounting.values import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    amount: int
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Basket:
    prices: list[Price]


@dataclass(frozen=True)
class Pair:
    one: int
    other: int

    @cached_property
    def total(self) -> int:
        return self.one + self.other


class TestValues:
    def test_equal_ones_are_one_key(self) -> None:
        assert {Price(amount=5): "five"}[Price(amount=5)] == "five"

    def test_one_that_may_change_is_no_key(self) -> None:
        with pytest.raises(TypeError, match="unhashable"):
            hash(Basket([]))

    def test_a_copy_has_the_changes_and_the_rest(self) -> None:
        price = Price(amount=5, notes=("net",))
        assert replace(price, amount=6) == Price(amount=6, notes=("net",))
        assert price == Price(amount=5, notes=("net",))

    def test_a_copy_works_out_anew_what_was_kept(self) -> None:
        pair = Pair(1, 2)
        assert (pair.total, replace(pair, one=5).total) == (3, 7)

    def test_only_mypy_refuses_an_assignment(self) -> None:
        price = Price(amount=5)
        # Where mypy no longer refused it, it would call this ignore unused.
        price.amount = 6  # type: ignore[misc]
        assert price == Price(amount=6)
