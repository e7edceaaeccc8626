"""The nine boxes of the British VAT return, computed from the model's own sums."""

from collections import Counter
from collections.abc import Mapping

from tests.model.books import Books
from tests.model.returns import Sums

OF_SALES = {"net": ("6",), "output": ("1",)}
OF_PURCHASES = {"net": ("7",), "input": ("4",)}
UNTAXED = {"net": ("6",)}
OWED = {"output": ("1",), "input": ("4",)}
OF_CODES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("S20", "S5"), OF_SALES),
    **dict.fromkeys(("S0", "SE", "SR"), UNTAXED),
    **dict.fromkeys(("P20", "P5"), OF_PURCHASES),
    "P0": {"net": ("7",)},
    "PA20": {"net": ("6", "7"), **OWED},
    "PI20": {"net": ("7",), **OWED},
    "PG5": {"net": ("7", "9"), "output": ("2",), "input": ("4",)},
}
"""The boxes of each code of a new British business; its own codes have none."""
IN_POUNDS = ("6", "7", "8", "9")


def boxes(books: Books, sums: Sums) -> dict[str, int] | None:
    """Return the amount of each box; none if tax was relieved, which depends on reversals."""
    if any(each.relieved for each in books.write_offs.values()):
        return None
    held: Counter[str] = Counter({str(box): 0 for box in range(1, 10)})
    for (code, _), parts in sums.items():
        for part, amount in parts.items():
            for box in OF_CODES.get(code, {}).get(part, ()):
                held[box] += amount
    held["3"] = held["1"] + held["2"]
    held["5"] = abs(held["3"] - held["4"])
    for box in IN_POUNDS:
        held[box] = abs(held[box]) // 100 * 100 * (1 if held[box] > 0 else -1)
    return dict(held)
