"""The boxes of a country's return for each starting code, by country and code.

For Great Britain these are the boxes of the VAT return, for Germany the Kennzahlen of the
Umsatzsteuer-Voranmeldung. Other countries have none here: their return is by code and treatment.
"""

from collections.abc import Mapping
from typing import Final

from accounting.books.tax_marks import TaxPart

Boxes = Mapping[TaxPart, tuple[str, ...]]

NO_BOXES: Final[Boxes] = {}


def boxes_of(country: str, code: str) -> Boxes:
    """Return the boxes of a code: in Great Britain, S20 has its net in 6 and its tax in 1."""
    return _BOXES.get(country, {}).get(code, NO_BOXES)


def _boxes(net: str = "", output: str = "", input_: str = "") -> Boxes:
    parts = {TaxPart.NET: net, TaxPart.OUTPUT: output, TaxPart.INPUT: input_}
    return {part: tuple(numbers.split()) for part, numbers in parts.items() if numbers}


_SOLD = _boxes("6", "1")
_BOUGHT = _boxes("7", input_="4")
_ACQUIRED = _boxes("7 9", "2", "4")

_BOXES: Final[Mapping[str, Mapping[str, Boxes]]] = {
    "GB": {
        "S20": _SOLD,
        "S5": _SOLD,
        **dict.fromkeys(("S0", "SE", "SX", "SR", "SA"), _boxes("6")),
        "SG": _boxes("6 8"),
        "P20": _BOUGHT,
        "P5": _BOUGHT,
        **dict.fromkeys(("P0", "PE"), _boxes("7")),
        "PA20": _boxes("6 7", "1", "4"),
        **dict.fromkeys(("PR20", "PI20", "PI5"), _boxes("7", "1", "4")),
        "PG20": _ACQUIRED,
        "PG5": _ACQUIRED,
        "PG0": _boxes("7 9"),
    },
    # The tax of a net at 19 or 7 % has no Kennzahl: the form computes it.
    "DE": {
        "S19": _boxes("81"),
        "S7": _boxes("86"),
        "S0": _boxes("87"),
        "SE": _boxes("48"),
        "SX": _boxes("43"),
        "SG": _boxes("41"),
        "SU": _boxes("21"),
        "SA": _boxes("45"),
        "SR": _boxes("60"),
        "P19": _boxes(input_="66"),
        "P7": _boxes(input_="66"),
        "PG19": _boxes("89", input_="61"),
        "PG7": _boxes("93", input_="61"),
        "PG0": _boxes("90"),
        "PU19": _boxes("46", "47", "67"),
        "PA19": _boxes("84", "85", "67"),
        "PR19": _boxes("84", "85", "67"),
    },
}
