"""Amounts of a record in another currency than the books: each carries its worth in base.

Receivables and payables use these amounts as any other: they add up, compare and limit as amounts
in the record's own currency, and their base goes along. Only what takes a part of a foreign amount
needs the functions of this page.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from accounting.money import round_fraction, round_together, within_bounds

K = TypeVar("K", bound=Hashable)


class ForeignAmount(int):
    """An amount in a foreign currency and its base amount: USD 100.00 that are worth EUR 90.00.

    As a number it is the own amount. Sums and negations of foreign amounts carry the base along; a
    sum with a plain number is a plain own amount, except with 0, which changes nothing.
    """

    currency: str
    base: int

    def __new__(cls, own: int, base: int, currency: str) -> "ForeignAmount":
        """Create an amount; own and base in minor units."""
        made = super().__new__(cls, own)
        made.currency, made.base = currency, base
        return made

    def __bool__(self) -> bool:
        """Return whether the own or the base amount is other than 0."""
        return int(self) != 0 or self.base != 0

    def __eq__(self, other: object) -> bool:
        """Compare the own amounts, and the base of two foreign amounts."""
        if isinstance(other, ForeignAmount):
            same = self.currency == other.currency and self.base == other.base
            return same and int(self) == int(other)
        return int(self) == other

    def __ne__(self, other: object) -> bool:
        """Return whether the two differ."""
        return not self == other

    __hash__ = int.__hash__

    def __add__(self, other: int) -> int:
        """Add amounts: with another foreign amount, the bases too."""
        if isinstance(other, ForeignAmount):
            if other.currency != self.currency:
                raise ValueError(f"{self.currency} and {other.currency} are not added up")
            own = int(self) + int(other)
            return ForeignAmount(own, self.base + other.base, self.currency)
        return self if other == 0 else int(self) + other

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        """Subtract an amount."""
        return self + -other

    def __rsub__(self, other: int) -> int:
        """Subtract this amount from another."""
        return -self + other

    def __neg__(self) -> "ForeignAmount":
        """Negate both amounts."""
        return ForeignAmount(-int(self), -self.base, self.currency)

    def __abs__(self) -> "ForeignAmount":
        """Return both amounts with the sign that makes the own amount positive."""
        return -self if int(self) < 0 else self

    def __mul__(self, sign: int) -> int:
        """Multiply both amounts, which is meant for signs."""
        return ForeignAmount(int(self) * sign, self.base * sign, self.currency)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        """Show both amounts."""
        return f"{self.currency} {int(self)} = {self.base}"

    def __reduce__(self) -> tuple[type["ForeignAmount"], tuple[int, int, str]]:
        """Copy an amount with its base."""
        return ForeignAmount, (int(self), self.base, self.currency)


def in_base(amount: int) -> int:
    """Return the base amount: that of a foreign amount, else the amount itself."""
    return amount.base if isinstance(amount, ForeignAmount) else amount


def currency_of(amount: int) -> str | None:
    """Return the currency of a foreign amount; None if the amount is in base."""
    return amount.currency if isinstance(amount, ForeignAmount) else None


@dataclass(frozen=True, slots=True)
class Worth:
    """The worth of a foreign record: its exchange rate, and its total in base.

    The rate is exact, in minor units of the base currency for one of the own: 0.92 EUR for a USD is
    92/100, and 0.0067 EUR for an ISK, which has no decimals, 67/100. A draft may have a rate, but
    no base total yet.
    """

    currency: str
    rate: Fraction
    base_total: int | None = None

    @classmethod
    def of(cls, total: int, rate: Fraction, currency: str) -> "Worth":
        """Convert a total at a rate: USD 100.00 at 0.92 is EUR 92.00.

        Raises RuleViolation `amount_too_large`.
        """
        return cls(currency, rate, at_rate(total, rate))

    def whole(self, total: int) -> int:
        """Return a total of the record with its base."""
        assert self.base_total is not None, "a draft has no base amounts"
        return ForeignAmount(total, self.base_total, self.currency)

    def converted(self, amount: int) -> int:
        """Convert an amount of the record by itself."""
        return ForeignAmount(amount, at_rate(amount, self.rate), self.currency)


def with_base(total: int, worth: Worth | None) -> int:
    """Return the total of a record with its base; that of a base record is unchanged."""
    return total if worth is None else worth.whole(total)


def at_rate(amount: int, rate: Fraction) -> int:
    """Convert an amount at a rate in minor units, a half away from zero: 10000 at 92/100 is 9200.

    Raises RuleViolation `amount_too_large`.
    """
    return within_bounds(round_fraction(int(amount) * rate))


def share_of(whole: int, amount: int) -> int:
    """Return an amount of a whole with its share of the base, a half away from zero.

    Of USD 100.00 worth EUR 95.00, a fee of 2.00 is worth 1.90. Of a plain whole it is the amount.
    """
    if not isinstance(whole, ForeignAmount):
        return amount
    total = int(whole)
    base = round_fraction(Fraction(whole.base * int(amount), total)) if total else 0
    return ForeignAmount(int(amount), base, whole.currency)


def step(left: Mapping[K, int], taken: Iterable[tuple[K, int]]) -> tuple[tuple[K, int], ...]:
    """Return the amounts that a step takes of what is left, with their base.

    Each takes its share of the base that is left of its part, and all are rounded together: of USD
    0.03 worth EUR 0.01, three steps of 0.01 take 0.00, 0.01 and 0.00. So the base that is left
    never changes its sign, and is 0 once the own amount is. Amounts of what is not foreign are
    unchanged.
    """
    amounts = tuple(taken)
    if not any(isinstance(each, ForeignAmount) for each in left.values()):
        return amounts
    exact = [
        Fraction(in_base(left[key]) * int(amount), int(left[key]) or 1) for key, amount in amounts
    ]
    bases = round_together(round_fraction(sum(exact, Fraction(0))), exact)
    currency = next(each.currency for each in left.values() if isinstance(each, ForeignAmount))
    return tuple(
        (key, ForeignAmount(int(amount), base, currency))
        for (key, amount), base in zip(amounts, bases, strict=True)
    )
