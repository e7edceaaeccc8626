"""Reader of the exchange rates that the European Central Bank publishes: bytes in, rates out.

The package knows neither HTTP, SQL nor the ledger. For any bytes the result is the rates of each
day, or `Unreadable`: a file comes from a network, and can be malicious.
"""

from collections.abc import Collection

from libraries.rate_files import archive, csv_rates, xml_rates
from libraries.rate_files.day_rates import MOST_BYTES, DayRates, Unreadable

__all__ = ["MOST_BYTES", "DayRates", "Unreadable", "read"]


def read(content: bytes, currencies: Collection[str]) -> list[DayRates]:
    """Return the rates of each day of a file, the oldest day first, of some currencies only.

    It is a file of the bank as it is published: CSV, a zip with one, or XML; of one day, of 90 days
    or of all. Days without a rate of these currencies are left out. Raises Unreadable for any other
    file, and for one with a rate that is none.
    """
    if len(content) > MOST_BYTES:
        raise Unreadable(f"has more than {MOST_BYTES} bytes")
    if archive.is_zip(content):
        content = archive.unpacked(content)
    reader = xml_rates if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") else csv_rates
    days: dict[str, DayRates] = {}
    for each in reader.read(content, frozenset(currencies)):
        if days.setdefault(each.day.isoformat(), each) is not each:
            raise Unreadable(f"has two lists of rates for {each.day}")
    found = [days[day] for day in sorted(days) if days[day].rates]
    if not found:
        raise Unreadable("has no exchange rates")
    return found
