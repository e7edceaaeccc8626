"""The XML of the bank: `eurofxref-daily.xml`, `eurofxref-hist-90d.xml` and `eurofxref-hist.xml`.

Each is an envelope with a `Cube` for each day (`time`), with a `Cube` for each currency (`currency`
and `rate`).
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final
from xml.parsers import expat

from libraries.rate_files.day_rates import MOST_DAYS, DayRates, Unreadable, parse_day, parse_rate

DEEPEST: Final = 10


def read(content: bytes, currencies: frozenset[str]) -> Iterator[DayRates]:
    """Yield the rates of each day; raises Unreadable.

    A document type declaration is refused: no other file is read, and no entity is expanded except
    the five of XML.
    """
    days = _Days(currencies)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = days.begin
    parser.EndElementHandler = days.end
    parser.StartDoctypeDeclHandler = _refuse_document_type
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError):
        raise Unreadable("is not well-formed XML") from None
    yield from days.found


def _refuse_document_type(*_: object) -> None:
    raise Unreadable("has a document type declaration, which is not allowed")


class _Days:
    """A handler of XML events, which collects the rates of each day."""

    def __init__(self, currencies: frozenset[str]) -> None:
        self.found: list[DayRates] = []
        self._currencies = currencies
        self._rates: dict[str, Decimal] = {}
        self._depth = 0

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise Unreadable("has elements that are nested too deeply")
        if name.rpartition(" ")[2] != "Cube":
            return
        if "time" in attributes:
            self._begin_day(attributes["time"])
        elif "currency" in attributes:
            self._add_rate(attributes["currency"], attributes.get("rate", ""))

    def end(self, _: str) -> None:
        self._depth -= 1

    def _begin_day(self, text: str) -> None:
        if len(self.found) == MOST_DAYS:
            raise Unreadable(f"has more than {MOST_DAYS} days")
        self._rates = {}
        self.found.append(DayRates(parse_day(text), self._rates))

    def _add_rate(self, currency: str, text: str) -> None:
        if not self.found:
            raise Unreadable("has a rate without a day")
        if currency in self._rates:
            raise Unreadable(f"has two rates of {currency} on {self.found[-1].day}")
        if currency in self._currencies and text not in ("", "N/A"):
            self._rates[currency] = parse_rate(text, currency, self.found[-1].day)
