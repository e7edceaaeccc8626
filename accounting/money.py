"""Amounts of money as integers of minor units: rounding, and splitting without losing a unit."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from math import lcm

from accounting.errors import RuleViolation

CURRENCIES = ("EUR", "GBP", "USD", "SEK", "NOK", "DKK", "ISK", "MYR", "SGD")
DECIMALS = {currency: 0 if currency == "ISK" else 2 for currency in CURRENCIES}
"""The decimals of each currency: an amount in minor units has no others."""

MAX_AMOUNT = 99_999_999_999_999

EXACT = Context(prec=60)
"""A context with enough digits for every product of an amount with a quantity or a rate."""


def round_half_away(value: Decimal) -> int:
    """Round to a whole unit, a half away from zero: 2.5 gives 3, -2.5 gives -3."""
    return int(value.quantize(Decimal(1), rounding=ROUND_HALF_UP))


def round_fraction(value: Fraction) -> int:
    """Round an exact fraction to a whole unit, a half away from zero: -5/2 gives -3."""
    whole, rest = divmod(abs(value.numerator), value.denominator)
    rounded = whole + (2 * rest >= value.denominator)
    return rounded if value > 0 else -rounded


def within_bounds(amount: int) -> int:
    """Return the amount, or raise an error if it is larger than any field of the contract can show.

    Raises RuleViolation `amount_too_large` beyond 99,999,999,999,999 minor units.
    """
    if abs(amount) > MAX_AMOUNT:
        raise RuleViolation(
            "amount_too_large", "An amount is larger than the books can hold.", limit=MAX_AMOUNT
        )
    return amount


def times(amount: int | Decimal, factor: Decimal) -> int:
    """Multiply an amount or a price by a quantity or a rate, and round to a whole unit.

    A price of 333 times 1.5 gives 500, and 16.48 times 7000 gives 115,360. Raises RuleViolation
    `amount_too_large` beyond the bounds.
    """
    product = EXACT.multiply(Decimal(amount), factor)
    if abs(product) > MAX_AMOUNT:
        return within_bounds(MAX_AMOUNT + 1)
    return round_half_away(product)


def included(amount: int, rate: Decimal) -> int:
    """Return the tax included in a gross amount at a rate in percent: 101 of 603 at 20."""
    share = EXACT.divide(EXACT.multiply(Decimal(amount), rate), 100 + rate)
    return round_half_away(share)


def capped(amount: int, *limits: int) -> int:
    """Return an amount, or the nearest limit of its sign: 500 by 300 is 300, -500 by -300 is -300.

    A limit of the other sign leaves 0, so that the amount never passes zero.
    """
    return max(0, min(amount, *limits)) if amount > 0 else min(0, max(amount, *limits))


def split(amount: int, weights: Sequence[int]) -> list[int]:
    """Split an amount over weights by largest remainder, ties to the first.

    The parts sum to the amount, and each is within one unit of its exact share. A weight below zero
    takes the opposite sign, as tax withheld from an amount does; if all weights are zero they count
    as equal. Splitting 3333 over 8333 and 1667 gives 2777 and 556, and 530 over 1000, 210 and -150
    gives 500, 105 and -75. Raises ValueError for an amount other than zero if there are no weights,
    or if weights that are not all zero sum to zero.
    """
    if not weights:
        if amount:
            raise ValueError("an amount cannot be split over nothing")
        return []
    if amount < 0:
        return [-part for part in split(-amount, weights)]
    total = sum(weights)
    if not any(weights):
        weights, total = [1] * len(weights), len(weights)
    elif total < 0:
        return split(amount, [-weight for weight in weights])
    elif total == 0:
        if amount:
            raise ValueError("an amount cannot be split over what comes to nothing")
        return [0] * len(weights)
    return _rounded(amount, [amount * weight for weight in weights], total)


def split_by_rate(amount: int, weights: Sequence[int], rate: Fraction) -> list[int]:
    """Split an amount that is a rate of the sum of some weights, such as the tax on them.

    Weights of one sign are split over as by `split`. Of both signs, each has its own rate of
    itself, rounded down before the missing units go to the largest remainders: 133333, a fifth of
    1000000 and -333333, is 200000 and -66667. The amount must be the rate of the sum, rounded.
    """
    if not weights or min(weights) >= 0 or max(weights) <= 0:
        return split(amount, weights)
    numerator, denominator = rate.as_integer_ratio()
    return _rounded(amount, [weight * numerator for weight in weights], denominator)


def round_together(amount: int, shares: Sequence[Fraction]) -> list[int]:
    """Round exact shares to whole units that sum to an amount: each down, then the largest up.

    Ties go to the first. Shares of 1/3, 1/3 and 1/3 that sum to 1 give 1, 0 and 0. The amount must
    be the sum of the shares, rounded.
    """
    denominator = lcm(*(each.denominator for each in shares))
    return _rounded(
        amount, [each.numerator * (denominator // each.denominator) for each in shares], denominator
    )


def _rounded(amount: int, shares: Sequence[int], denominator: int) -> list[int]:
    """Round shares, in parts of a unit, to whole units that sum to an amount."""
    exact = [divmod(share, denominator) for share in shares]
    parts = [whole for whole, _ in exact]
    largest_first = sorted(range(len(exact)), key=lambda place: -exact[place][1])
    for place in largest_first[: amount - sum(parts)]:
        parts[place] += 1
    return parts
