"""The model's own arithmetic: shares, rounding and the sums of lines."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import floor

from tests.model.codes import Mark

CONTROLS = frozenset({"1200", "1250", "1260", "1270", "2000", "2100", "2250", "2300"})
ASSETS = frozenset({"1000", "1100", "1300", "1900"})
AT_BANKS = ASSETS | {"2200", "2400"}
"""The accounts that a bank account may have: current liabilities are credit cards."""
ACCOUNTS = ASSETS | {"1150", "2200", "2400", "4000", "4100", "4500", "5100", "6000", "6200"}
"""The accounts that a caller may name in a run of the model; bank accounts add others."""
Part = tuple[str, Mark | None]
"""An account, and the tax mark of an amount on it, if any."""


def half_up(value: Fraction) -> int:
    """Round to an integer, a half away from zero."""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP))


def shares(amount: int, weights: Sequence[int]) -> list[int]:
    """Divide an amount by weights: round down, then add units to the largest remainders.

    Weights below zero get amounts below zero: 530 over 1000, 210 and -150 is 500, 105 and -75. The
    shares of an amount below zero are the negated shares of its opposite: -3 over -1 and -1 is -2
    and -1.
    """
    if amount < 0:
        return [-each for each in shares(-amount, weights)]
    whole = sum(weights)
    if whole == 0:
        return [0 for _ in weights]
    return rounded(amount, [Fraction(amount * weight, whole) for weight in weights])


def shares_by_rate(amount: int, weights: Sequence[int], rate: Fraction) -> list[int]:
    """Divide a rate of the sum of weights, such as their tax.

    Weights of both signs have each the rate of itself: 20 % of 10000.00 and -3333.33 is 2000.00 and
    -666.67, in all 1333.33.
    """
    if min(weights) >= 0 or max(weights) <= 0:
        return shares(amount, weights)
    return rounded(amount, [weight * rate for weight in weights])


def rounded(amount: int, exact: Sequence[Fraction]) -> list[int]:
    """Round shares down, then add units to the largest remainders, up to the amount."""
    given = [floor(each) for each in exact]
    order = sorted(range(len(exact)), key=lambda place: (given[place] - exact[place], place))
    for place in order[: amount - sum(given)]:
        given[place] += 1
    return given


def capped(amount: int, limit: int) -> int:
    """Return an amount, or the part of it up to a limit of its sign, else 0."""
    return max(0, min(amount, limit)) if amount > 0 else min(0, max(amount, limit))


def by_code(codes: Sequence[str], amounts: Sequence[int]) -> Counter[str]:
    """Sum amounts by account, in the order in which the accounts first appear."""
    held: Counter[str] = Counter()
    for code, amount in zip(codes, amounts, strict=True):
        held[code] += amount
    return held


def by_account(parts: Mapping[Part, int]) -> Counter[str]:
    """Sum parts by account."""
    return by_code([code for code, _ in parts], list(parts.values()))


def named(identifier: Mapping[str, str] | None, otherwise: str) -> str:
    """Return the account code that a body names, else the default."""
    return otherwise if identifier is None else identifier["code"]


def faults_of(code: str) -> set[str]:
    """Return the error codes of an account in a body; none if a body may name it."""
    if code in CONTROLS:
        return {"control_account"}
    return set() if code in ACCOUNTS else {"reference_not_found"}
