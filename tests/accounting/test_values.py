"""Values behave as frozen dataclasses do, but for the refusal at run time."""

import pytest

from accounting.values import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    amount: int
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Basket:
    prices: list[Price]


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
