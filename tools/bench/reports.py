"""`python -m tools.bench.reports`: time of reports in the database, as the books grow.

It fills three years with ten thousand, a hundred thousand and a million lines, each in its own
database. It runs the statements of the stores, as the server's role with row-level security,
planned as for a server. Exit 1 if the best time of a statement exceeds its limit, or if a report on
whole months reads more pages with more lines.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, Final

import psycopg
from psycopg.rows import dict_row

from access.principal import Caller, CallerKind
from accounting.books.chart import Role
from accounting.books.periods import Period
from accounting.books.report_filter import Basis, ReportFilter
from accounting.tax import cash_schemes
from accounting.tax.cash_schemes import CountedCodes
from accounting.tax.codes import TaxCodes
from accounting.tax.commands import Scheme
from accounting.tax.returns import JournalRange
from libraries.embedded.postgres import EmbeddedPostgres
from persistence.books import Books
from persistence.engine.caches import Caches
from persistence.engine.sql import Query
from persistence.engine.tenants import BusinessTenant
from persistence.tax.tax_codes import STORED, tax_code_of
from tools.bench import years
from tools.bench.__main__ import POSTGRES
from tools.bench.stage import Business, Stage, serving
from tools.bench.statements import Connection, be_server, prepared

YEAR = Period(date(2024, 1, 1), date(2024, 12, 31))
ODD_YEAR = Period(date(2024, 1, 16), date(2025, 1, 15))  # It has half a month at both ends.
QUARTER = Period(date(2024, 1, 1), date(2024, 3, 31))
ALL = Period(date(2022, 1, 1), years.LAST_DAY)
ENDED = datetime(2025, 7, 1, tzinfo=UTC)
SINCE = {"a week": 7, "a month": 30, "a year": 365}
# The highest growth of the pages read by reports on whole months, from the fewest lines to the
# most. Their time says little: planning and memory allocation take longer.
MOST_GROWN: Final = 2.0
FEW_PAGES: Final = 100  # Below this, another index level matters too much.
MOST_US: Final = 2.0  # Per line that was posted since.
ENOUGH = 10_000  # Lines posted since; with fewer, other work of the statement dominates.
WAITING = 2  # Batches posted last; their entries are not in the monthly balances yet.


@dataclass(frozen=True, slots=True)
class Question:
    """A report to measure: its statements, and the time in ms that all of them may take.

    With `since`, the time per line posted since then is measured. With `of_months`, the number of
    lines must not matter.
    """

    title: str
    queries: Sequence[Query]
    most_ms: float | None = None
    since: datetime | None = None
    of_months: bool = False


@dataclass(frozen=True, slots=True)
class TimedStatement:
    """The pages that the statements of a report read, and the ms that they took in each round."""

    question: Question
    pages: int
    times: Sequence[float]
    lines_since: int | None

    @property
    def ms(self) -> float:
        """The best time: the need of the database when the processors are otherwise idle."""
        return min(self.times)

    @property
    def us_a_line(self) -> float | None:
        """The time in us per line that was posted since `since`; None without such lines."""
        return None if not self.lines_since else 1_000 * self.ms / self.lines_since

    @property
    def is_late(self) -> bool:
        """Return whether it takes longer than its limit."""
        question, each = self.question, self.us_a_line
        if question.most_ms is not None and self.ms > question.most_ms:
            return True
        return each is not None and (self.lines_since or 0) >= ENOUGH and each > MOST_US

    def __str__(self) -> str:
        shown = f"{self.ms:.2f} ({median(self.times):.2f})"
        each = self.us_a_line
        if each is not None:
            shown += f"; {each:.2f} us"
        return f"**{shown}**" if self.is_late else shown


def questions(books: Books, roles: Mapping[Role, Any], codes: TaxCodes) -> Iterator[Question]:
    """Yield all reports to measure."""
    yield from questions_of_tax(books, roles, codes)
    movements, tags, owed = books.movements, books.tags, books.sales.owed
    filed = ENDED - timedelta(days=365)
    for basis in Basis:

        def moved(days: Period, basis: Basis = basis, **cut: Any) -> Sequence[Query]:
            return movements.by_account([days], ReportFilter(basis=basis, **cut)).queries

        overlap = tags.overlap(ALL, basis).queries
        said = f", {basis}"
        yield Question(f"a calendar year{said}", moved(YEAR), 50, of_months=True)
        yield Question(f"a year from 16 January{said}", moved(ODD_YEAR), 50)
        tagged = moved(ALL, tag=years.TAG)
        yield Question(f"three years of a tag of a tenth{said}", [*tagged, *overlap], 50)
        untagged = moved(ALL, untagged=True)
        yield Question(f"three years of what has none{said}", [*untagged, *overlap], 50)
        known = moved(QUARTER, known_at=filed)
        yield Question(f"a quarter as known a year ago{said}", known, 100)
        for name, days in SINCE.items():
            since = ENDED - timedelta(days=days)
            known = moved(ALL, known_at=since)
            yield Question(f"three years as known {name} ago{said}", known, since=since)
    for day, most in ((date(2025, 5, 31), 50), (date(2024, 7, 31), None)):
        yield Question(f"aging on {day}", owed.aging(day, roles).queries, most)


def questions_of_tax(
    books: Books, roles: Mapping[Role, Any], codes: TaxCodes
) -> Iterator[Question]:
    """Yield the reads of a VAT summary for each scheme."""
    store = books.tax_returns
    accounts = sorted({each.tax_account_id for each in codes.codes})
    for scheme in Scheme:
        counted = cash_schemes.counted("GB", scheme, codes)

        def summed(
            days: Period,
            known_at: datetime | None = None,
            scheme: Scheme = scheme,
            counted: CountedCodes = counted,
        ) -> Sequence[Query]:
            ends = {year: date(year, 12, 31) for year in range(days.first.year, days.last.year + 1)}
            slices = [
                JournalRange(
                    first=max(days.first, date(year, 1, 1)),
                    last=min(days.last, end),
                    scheme=scheme,
                )
                for year, end in ends.items()
            ]
            return store.added_up(slices, counted, roles, accounts, (), known_at).queries

        said = f", {scheme}"
        yield Question(f"tax of a calendar year{said}", summed(YEAR), 50, of_months=True)
        yield Question(f"tax of a year from 16 January{said}", summed(ODD_YEAR), 100)
        filed = ENDED - timedelta(days=365)
        known = summed(QUARTER, filed)
        yield Question(f"tax of a quarter as known a year ago{said}", known, 100)
        known = summed(ALL, filed)
        yield Question(f"tax of three years as known a year ago{said}", known, since=filed)


def asked(connection: Connection, business: Business, rounds: int) -> list[TimedStatement]:
    """Measure all reports of one business."""
    caller = Caller(CallerKind.PARTNER_KEY, business.partner_id)
    nobody: Any = None
    books = Books(nobody, BusinessTenant(caller, business.id), ENDED, Caches())
    be_server(connection, business.id)
    rows = connection.execute("SELECT role, id FROM account WHERE role IS NOT NULL")
    roles = {Role(row["role"]): row["id"] for row in rows}
    names = ", ".join(STORED)
    codes = TaxCodes(
        tuple(tax_code_of(row) for row in connection.execute(f"SELECT {names} FROM tax_code"))
    )
    return [timed(connection, each, rounds) for each in questions(books, roles, codes)]


def timed(connection: Connection, question: Question, rounds: int) -> TimedStatement:
    """Measure one report in several rounds; the time includes planning."""
    times, pages = [0.0] * rounds, 0
    for query in question.queries:
        with prepared(connection, query) as explain:
            for turn in range(-1, rounds):  # The first warms up.
                told = explain("ANALYZE, BUFFERS, TIMING OFF, ")
                if turn >= 0:
                    times[turn] += told["Planning Time"] + told["Execution Time"]
            pages += told["Plan"]["Shared Hit Blocks"] + told["Plan"]["Shared Read Blocks"]
    return TimedStatement(question, pages, times, _lines_since(connection, question.since))


def _lines_since(connection: Connection, since: datetime | None) -> int | None:
    if since is None:
        return None
    row = connection.execute(
        "SELECT sum(line_count)::int AS lines FROM journal_entry WHERE posted_at > %s", [since]
    ).fetchone()
    assert row is not None
    return int(row["lines"])


def planted(stage: Stage, lines: int) -> Business:
    """Create a business and fill it; the last entries are not in the monthly balances yet."""
    business = stage.open("books")
    with business.client() as api:
        years.plant(api, stage.database_url, business.id, lines)
        stage.settle()
        for _ in range(WAITING):
            years.make_batch(api, str(business.tenant().customers[0]))
    return business


def measure(chosen: argparse.Namespace, folder: Path) -> dict[int, list[TimedStatement]]:
    """Fill books of each size, and measure their reports."""
    found = {}
    with EmbeddedPostgres(folder / "postgres", POSTGRES) as postgres:
        for lines in chosen.lines:
            with ExitStack() as stack:
                stage = stack.enter_context(serving(postgres, f"l{lines}", folder / f"{lines}"))
                business = planted(stage, lines)
                opened = psycopg.connect(stage.database_url, autocommit=True, row_factory=dict_row)
                found[lines] = asked(stack.enter_context(opened), business, chosen.rounds)
    return found


def report(found: Mapping[int, Sequence[TimedStatement]]) -> bool:
    """Print the ms of each report; return whether all are within their limits."""
    head = ["ms at best (in the middle)", *(f"{lines:,} lines" for lines in found)]
    head += ["times", "pages, times", "most"]
    print(f"| {' | '.join(head)} |\n|---|{'--:|' * (len(head) - 1)}")
    fine = True
    for row in zip(*found.values(), strict=True):
        question, times = row[0].question, row[-1].ms / row[0].ms
        pages = row[-1].pages / row[0].pages
        grown = question.of_months and pages > MOST_GROWN and row[-1].pages > FEW_PAGES
        fine = fine and not grown and not any(each.is_late for each in row)
        most = f"{question.most_ms:.0f}" if question.most_ms else ""
        if question.since:
            most = f"{MOST_US} us a line"
        told = f"{times:.1f} | **{pages:.1f}**" if grown else f"{times:.1f} | {pages:.1f}"
        print(f"| {question.title} | {' | '.join(map(str, row))} | {told} | {most} |")
    return fine


def main() -> int:
    """Fill, measure, print, and return the exit status."""
    options = argparse.ArgumentParser(prog="python -m tools.bench.reports", description=__doc__)
    sizes = [10_000, 100_000, 1_000_000]
    options.add_argument("--lines", type=int, nargs="+", default=sizes, help="of each of the books")
    options.add_argument("--rounds", type=int, default=15)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return 0 if report(measure(chosen, Path(folder).resolve())) else 1


if __name__ == "__main__":
    sys.exit(main())
