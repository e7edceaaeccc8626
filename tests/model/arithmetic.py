"""The arithmetic of the model, written a second time: shares, rounding and the sums of lines."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import floor

from tests.model.codes import Mark

CONTROLS = frozenset({"1200", "1250", "1260", "1270", "2000", "2100", "2250", "2300"})
ASSETS = frozenset({"1000", "1100", "1300", "1900"})
ACCOUNTS = ASSETS | {"1150", "2200", "2400", "4000", "4100", "4500", "5100", "6000", "6200"}
"""The accounts a caller may name in a run of the model; only bank accounts bring others."""
Part = tuple[str, Mark | None]
"""An account, and what an amount on it is for a return, if anything."""


def half_up(value: Fraction) -> int:
    """Round a half away from zero."""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP))


def shares(amount: int, weights: Sequence[int]) -> list[int]:
    """Share an amount out: everybody's whole part first, then units to the largest remainders.

    Weights below zero get amounts below zero: 530 over 1000, 210 and -150 is 500, 105 and -75. An
    amount below zero is shared out as one above it: -3 over -1 and -1 is -2 and -1.
    """
    if amount < 0:
        return [-each for each in shares(-amount, weights)]
    whole = sum(weights)
    if whole == 0:
        return [0 for _ in weights]
    exact = [Fraction(amount * weight, whole) for weight in weights]
    given = [floor(each) for each in exact]
    order = sorted(range(len(weights)), key=lambda place: (given[place] - exact[place], place))
    for place in order[: amount - sum(given)]:
        given[place] += 1
    return given


def by_code(codes: Sequence[str], amounts: Sequence[int]) -> Counter[str]:
    """Add amounts up by account, in the order in which the accounts first appear."""
    held: Counter[str] = Counter()
    for code, amount in zip(codes, amounts, strict=True):
        held[code] += amount
    return held


def by_account(parts: Mapping[Part, int]) -> Counter[str]:
    """Add parts up by account."""
    return by_code([code for code, _ in parts], list(parts.values()))


def named(identifier: Mapping[str, str] | None, otherwise: str) -> str:
    """The code of an account as a body names it."""
    return otherwise if identifier is None else identifier["code"]


def faults_of(code: str) -> set[str]:
    """Why an account of this code cannot be named, if it cannot."""
    if code in CONTROLS:
        return {"control_account"}
    return set() if code in ACCOUNTS else {"reference_not_found"}
