"""Days of moments, and moments of days, in the time zones of businesses."""

import ast
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from accounting.books.businesses import COUNTRIES
from accounting.books.time_zones import (
    BY_COUNTRY,
    NAMES,
    day_of,
    days_later,
    of_country,
    start_of,
    stored_day,
)

ZONES = (
    *("UTC", "Europe/Amsterdam", "Asia/Kolkata", "Asia/Kathmandu", "America/St_Johns"),
    *("Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Kiritimati", "Pacific/Pago_Pago"),
)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class TestDayOf:
    @pytest.mark.parametrize(
        ("timezone", "last", "first"),
        [
            ("UTC", "2026-07-01T23:59:59.999999", "2026-07-02T00:00"),
            ("Europe/London", "2026-01-01T23:59", "2026-01-02T00:00"),
            ("Europe/London", "2026-07-01T22:59", "2026-07-01T23:00"),
            ("Europe/Amsterdam", "2026-01-01T22:59", "2026-01-01T23:00"),
            ("Europe/Amsterdam", "2026-07-01T21:59", "2026-07-01T22:00"),
            ("Asia/Kolkata", "2026-07-01T18:29", "2026-07-01T18:30"),
            ("Asia/Kathmandu", "2026-07-01T18:14", "2026-07-01T18:15"),
            ("Pacific/Kiritimati", "2026-07-01T09:59", "2026-07-01T10:00"),
            ("Pacific/Pago_Pago", "2026-07-02T10:59", "2026-07-02T11:00"),
            ("America/St_Johns", "2026-07-02T02:29", "2026-07-02T02:30"),
            ("America/St_Johns", "2026-01-02T03:29", "2026-01-02T03:30"),
        ],
    )
    def test_a_day_ends_at_midnight_of_its_zone(self, timezone: str, last: str, first: str) -> None:
        next_day = day_of(at(first), timezone)
        assert day_of(at(last), timezone) == next_day - timedelta(days=1)
        assert start_of(next_day, timezone) == at(first)

    def test_a_moment_late_in_utc_is_on_the_next_day_in_amsterdam(self) -> None:
        assert day_of(at("2026-07-01T23:30"), "Europe/Amsterdam") == date(2026, 7, 2)

    @pytest.mark.parametrize("timezone", ZONES)
    def test_days_begin_one_after_the_other(self, timezone: str) -> None:
        # 25 hours and 23 hours are among them, where clocks change.
        for number in range(366):
            day = date(2026, 1, 1) + timedelta(days=number)
            start = start_of(day, timezone)
            assert day_of(start, timezone) == day
            assert day_of(start - timedelta(microseconds=1), timezone) == day - timedelta(days=1)

    @pytest.mark.parametrize(
        ("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-07-01", 24)]
    )
    def test_a_day_has_its_hours(self, day: str, hours: int) -> None:
        first = date.fromisoformat(day)
        start, end = (
            start_of(each, "Europe/Amsterdam") for each in (first, first + timedelta(days=1))
        )
        assert end - start == timedelta(hours=hours)

    def test_every_zone_of_the_database_has_days(self) -> None:
        for timezone in NAMES:
            for day in (date(1900, 1, 1), date(2026, 7, 1), date(2199, 12, 31)):
                assert day_of(start_of(day, timezone), timezone) == day


class TestDaysLater:
    def test_a_term_ends_at_the_same_time_of_day(self) -> None:
        late = at("2026-10-01T21:30")  # 23:30 in Amsterdam.
        later = days_later(late, 30, "Europe/Amsterdam")
        assert later == at("2026-10-31T22:30")
        assert day_of(later, "Europe/Amsterdam") == date(2026, 10, 31)

    def test_in_utc_it_adds_days(self) -> None:
        assert days_later(at("2026-10-01T21:30"), 30, "UTC") == at("2026-10-31T21:30")


class TestStoredDay:
    def test_is_the_day_beside_the_moment(self) -> None:
        moment = at("2026-07-01T23:30")
        assert stored_day(date(2026, 7, 2), moment) == date(2026, 7, 2)

    def test_is_in_utc_in_records_of_before(self) -> None:
        assert stored_day(None, at("2026-07-01T23:30")) == date(2026, 7, 1)
        assert stored_day(None, None) is None

    def test_is_none_without_a_moment(self) -> None:
        assert stored_day(date(2026, 7, 2), None) is None


class TestNames:
    def test_each_country_has_a_zone_of_the_database(self) -> None:
        assert set(BY_COUNTRY) == set(COUNTRIES)
        assert set(BY_COUNTRY.values()) <= NAMES
        assert (of_country("NL"), of_country(None)) == ("Europe/Amsterdam", "UTC")

    def test_files_of_the_database_that_are_no_zones_are_not_among_them(self) -> None:
        assert NAMES.isdisjoint({"", "zones", "tzdata.zi", "Europe", "../zones", "europe/london"})


ROOT = Path(__file__).parents[3]
PACKAGES = ("accounting", "handlers", "persistence", "server", "jobs")
HOME = ROOT / "accounting/books/time_zones.py"
# `.date()` of a moment, a clock, a day that becomes a moment, and the same in SQL.
OF_TYPES = {"today", "utcnow", "combine", "fromtimestamp"}
CALLS = {"date", "astimezone", *OF_TYPES}
IN_SQL = re.compile(
    r"at time zone|func\.timezone\(|_at\)*::date|date_trunc\('day'|current_date", re.I
)
# No day of a business: who may call them, and why.
ELSEWHERE = {
    ("server/http/validation.py", "combine"),  # Headers on deprecation have a moment, in UTC.
    ("server/http/dispatch.py", "astimezone"),  # The moment of an answer, as text.
    ("server/http/csv_files.py", "astimezone"),
    ("server/contract/formats.py", "astimezone"),  # Moments are decoded to UTC.
    ("persistence/engine/idempotency.py", "astimezone"),
    ("persistence/archives/backups.py", "astimezone"),
    ("persistence/trade/document_settlements.py", "astimezone"),
    ("persistence/files/blobs.py", "fromtimestamp"),
}
SQL_ELSEWHERE = {
    "persistence/integrity/ledger_checks.py",  # The moment of a lock, as text.
    "persistence/trade/document_settlements.py",  # Days of records from before time zones.
    "persistence/integrity/trade_checks.py",  # The moments that a day may have, anywhere.
}


class TestOneFunction:
    """Days are made of moments, and moments of days, in one module."""

    def test_no_other_module_makes_a_day_of_a_moment(self) -> None:
        found = set()
        for path in self.modules():
            name = str(path.relative_to(ROOT))
            for node in ast.walk(ast.parse(path.read_text())):
                match node:
                    case ast.Call(func=ast.Attribute(value=of, attr=called)) if called in CALLS:
                        if called not in OF_TYPES or ast.unparse(of) in ("date", "datetime"):
                            found.add((name, called))
        assert found == ELSEWHERE

    def test_no_statement_makes_a_day_of_a_moment(self) -> None:
        found = {
            str(path.relative_to(ROOT))
            for path in self.modules()
            if IN_SQL.search(path.read_text())
        }
        assert found == SQL_ELSEWHERE

    def modules(self) -> list[Path]:
        every = (path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
        return [path for path in every if path != HOME]
