"""The German return (Umsatzsteuer-Voranmeldung): boxes of other rates, and box 83.

The form computes the tax of a base in whole euros: 900.00 in box 81 are 171.00 of tax. A base at
the rates of July to December 2020, 16 and 5 %, has boxes of its own, with its tax beside it.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from accounting.books.ledger import TaxPart

SUM: Final = "83"

# The boxes of bases whose tax the form computes, with its rates in percent.
RATES: Final[Mapping[str, int]] = {"81": 19, "86": 7, "89": 19, "93": 7}
# The rates of July to December 2020, with the boxes of a base at these rates, and of its tax.
_OTHERS: Final = frozenset({Decimal(16), Decimal(5)})
_OTHER_RATES: Final = {
    "81": ("35", "36"),
    "86": ("35", "36"),
    "89": ("95", "98"),
    "93": ("95", "98"),
}

# The boxes of tax that the sum adds, and those that it subtracts: 62 is import VAT paid to customs.
_OWED: Final = frozenset({"36", "47", "53", "65", "69", "74", "79", "80", "85", "96", "98"})
_RECOVERED: Final = frozenset({"59", "61", "62", "63", "64", "66", "67"})

Boxes = Mapping[TaxPart, tuple[str, ...]]

DEPEND_ON_RATE: Final = frozenset(
    {*RATES, *(box for pair in _OTHER_RATES.values() for box in pair)}
)
"""The boxes that have amounts of a code at some rates only."""


def at_rate(boxes: Boxes, part: TaxPart, rate: Decimal) -> tuple[str, ...]:
    """Return the boxes of a part of a code at a rate.

    The net of S19 is in 81 at 19 %. At 16 % it is in 35, and the tax in 36.
    """
    found = boxes.get(part, ())
    nets = boxes.get(TaxPart.NET, ())
    if part is TaxPart.NET:
        return tuple(_OTHER_RATES[box][0] if _is_other(box, rate) else box for box in nets)
    if part is TaxPart.OUTPUT and not found:
        return tuple(_OTHER_RATES[box][1] for box in nets if _is_other(box, rate))
    return found


def _is_other(box: str, rate: Decimal) -> bool:
    return box in RATES and rate in _OTHERS


def is_computed(boxes: Boxes, part: TaxPart, rate: Decimal) -> bool:
    """Return whether the form computes the tax of a part from its base."""
    nets = boxes.get(TaxPart.NET, ())
    computed = (box in RATES and not _is_other(box, rate) for box in nets)
    return part is TaxPart.OUTPUT and any(computed)


def sign_in_sum(boxes: Boxes, part: TaxPart, rate: Decimal) -> int:
    """Return 1 if box 83 adds the tax of a part, -1 if it subtracts it, else 0."""
    numbers = at_rate(boxes, part, rate)
    if is_computed(boxes, part, rate) or not _OWED.isdisjoint(numbers):
        return 1
    return 0 if _RECOVERED.isdisjoint(numbers) else -1


def computed(amounts: Mapping[str, int]) -> int:
    """Return the tax that the form computes from its bases in whole euros, in cents."""
    return sum(amounts.get(box, 0) * rate // 100 for box, rate in RATES.items())


def summed(amounts: Mapping[str, int]) -> int:
    """Return box 83 in cents: all tax owed less all tax recovered."""
    owed = sum(amounts.get(box, 0) for box in _OWED)
    return computed(amounts) + owed - sum(amounts.get(box, 0) for box in _RECOVERED)
