"""The CSV of the bank: a line of currencies, then a line for each day.

`eurofxref.csv` has one day, written as "30 October 2026", and a blank after each comma;
`eurofxref-hist.csv` has all days, written as 2026-10-30, and N/A for a currency without a rate on a
day. Each line ends with a comma.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Final

from libraries.rate_files.day_rates import MOST_DAYS, DayRates, Unreadable, parse_day, parse_rate

_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_NO_RATE: Final = frozenset({"", "N/A"})


def read(content: bytes, currencies: frozenset[str]) -> Iterator[DayRates]:
    """Yield the rates of each day; raises Unreadable."""
    try:
        head, *lines = content.decode("utf-8-sig").splitlines()
    except ValueError:  # Not UTF-8, or without a line.
        raise Unreadable("is neither CSV nor XML of the European Central Bank") from None
    first, *names = _cells(head)
    if first != "Date":
        raise Unreadable("is neither CSV nor XML of the European Central Bank")
    if len(set(names)) != len(names):
        raise Unreadable("has a currency in two columns")
    filled = [line for line in lines if line.strip()]
    if len(filled) > MOST_DAYS:
        raise Unreadable(f"has more than {MOST_DAYS} days")
    for line in filled:
        yield _read_line(line, names, currencies)


def _read_line(line: str, names: list[str], currencies: frozenset[str]) -> DayRates:
    told, *cells = _cells(line)
    day = _day(told)
    if len(cells) != len(names):
        raise Unreadable(f"has {len(cells)} rates for {len(names)} currencies on {day}")
    rates: dict[str, Decimal] = {
        name: parse_rate(text, name, day)
        for name, text in zip(names, cells, strict=True)
        if name in currencies and text not in _NO_RATE
    }
    return DayRates(day, rates)


def _cells(line: str) -> list[str]:
    """Split a line, without the empty cell after its last comma."""
    cells = [cell.strip() for cell in line.split(",")]
    return cells[:-1] if len(cells) > 1 and not cells[-1] else cells


def _day(text: str) -> date:
    """Parse a day in either form."""
    match text.split():
        case [number, month, year] if month in _MONTHS:
            return parse_day(f"{year}-{_MONTHS.index(month) + 1:02}-{number:0>2}")
    return parse_day(text)
