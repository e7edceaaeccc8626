"""Tax by month agrees with the lines after any postings, on both schemes.

It is added up from months, days and single entries.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounting.books.ledger import Entry, Line, Part, TaxMark, TaxPart
from accounting.tax import cash_schemes
from accounting.tax.commands import Scheme
from accounting.tax.returns import JournalRange
from persistence.books import Books
from persistence.database import revisions
from persistence.engine.ids import new_id
from persistence.engine.sql import Query
from persistence.ledger.rebuild import rebuild
from tests.api_server import ApiServer
from tests.builders.journal_entries import ENTRIES, credit, debit
from tests.builders.reports import report
from tests.builders.tax_returns import drawn_up, read
from tests.builders.trade import Record
from tests.partner import Business, Partner
from tests.persistence.database.earlier_schema import migrate_to
from tests.persistence.integrity.book_faults import faults_in, tamper
from tests.persistence.integrity.traded_business import traded
from tests.persistence.ledger.journal_writer import NOW, JournalWriter

DAYS = st.dates(date(2025, 10, 20), date(2026, 3, 10))
# S20 is taxed at payment on cash; PA20, which a buyer assesses, is taxed at posting.
CODES = ("S20", "PA20")
# AGREED count once they are settled, SETTLING settle them, and OTHERS count themselves.
AGREED = ("invoice", "bill", "vendor_credit", "refund")
SETTLING = ("payment", "customer_credit", "bill_payment", "vendor_refund_payment")
OTHERS = ("manual", "bank_transaction", "payout")
GIVING_UP, OPENING = "write_off", "opening_balance"


@dataclass(frozen=True)
class Event:
    """An entry with amounts by tax code, of its own lines or of the document that it settles."""

    on: date
    source: str
    amounts: tuple[tuple[str, TaxPart, int], ...]

    @property
    def settles(self) -> bool:
        return self.source in (*SETTLING, GIVING_UP, OPENING)

    def counts(self, code: str, scheme: Scheme) -> bool:
        """Return whether amounts of a code count, by a method independent of the product."""
        if scheme is Scheme.CASH and code == "S20":
            return self.source in (*SETTLING, *OTHERS)
        return self.source in (*AGREED, *OTHERS)


@st.composite
def events(draw: st.DrawFn) -> Event:
    keys = st.tuples(st.sampled_from(CODES), st.sampled_from(TaxPart))
    amounts = st.integers(-(10**9), 10**9).filter(bool)
    shares = [
        (*key, draw(amounts)) for key in draw(st.lists(keys, min_size=1, max_size=3, unique=True))
    ]
    if sum(amount for *_, amount in shares) == 0:
        code, part, amount = shares[0]
        shares[0] = (code, part, 2 * amount)
    source = draw(st.sampled_from((*AGREED, *SETTLING, *OTHERS, GIVING_UP, OPENING)))
    return Event(draw(DAYS), source, tuple(shares))


HISTORIES = st.lists(st.lists(events(), min_size=1, max_size=5), max_size=6)
SLICES = st.lists(st.tuples(DAYS, DAYS, st.booleans()), min_size=1, max_size=3)
MOMENTS = (None, NOW, NOW + timedelta(minutes=2))
CUTS = [(scheme, moment) for scheme in Scheme for moment in MOMENTS]
Days = list[tuple[date, date, bool]]
Cut = tuple[Scheme, datetime | None]
Figures = tuple[dict[Any, tuple[int, int]], int]


@dataclass(frozen=True)
class Shop:
    """The journal of a business, with the ids of its tax codes and accounts by code."""

    journal: JournalWriter
    codes: dict[str, UUID]
    accounts: dict[str, UUID]

    @classmethod
    def of(cls, server: ApiServer, partner: Partner) -> "Shop":
        journal = JournalWriter(server, partner.business())
        query = "SELECT code, id FROM {} WHERE business_id = %s"
        codes, accounts = (
            dict(server.query(query.format(name), journal.business.id))
            for name in ("tax_code", "account")
        )
        return cls(journal, codes, accounts)

    def entry(self, event: Event) -> Entry:
        """Return the entry of an event; its line without a tax code is on a tax account."""
        marked = [
            (TaxMark(self.codes[code], Decimal(20), part), amount)
            for code, part, amount in event.amounts
        ]
        total = sum(amount for _, amount in marked)
        if event.settles:
            on = "3290" if event.source == OPENING else "1200"
            split = tuple((Part(self.accounts["4000"], mark), amount) for mark, amount in marked)
            lines = [Line(self.accounts[on], total, new_id(), split)]
        else:
            lines = [Line(self.accounts["4000"], amount, tax=mark) for mark, amount in marked]
        return Entry(
            entry_date=event.on,
            stream="test",
            lines=(*lines, Line(self.accounts["2200"], -total)),
            description="An entry",
            source_type=event.source,
            source_id=new_id(),
            in_cash=event.source not in (*AGREED, GIVING_UP),
        )

    def figures(self, days: Days) -> dict[Cut, Figures]:
        """Return the figures of some days on each scheme and at each time.

        They are by code, part and lateness, and for amounts without a code.
        """
        on = [self.accounts["2200"]]
        names = {id_: code for code, id_ in self.codes.items()}

        async def read(books: Books) -> dict[Cut, Figures]:
            roles, codes = await books.roles(), await books.tax_codes.all()
            found = {}
            for scheme, known_at in CUTS:
                slices = [
                    JournalRange(first=a, last=b, scheme=scheme, late=late) for a, b, late in days
                ]
                counted = cash_schemes.counted("GB", scheme, codes)
                coded, uncoded = await books.tax_returns.added_up(
                    slices, counted, roles, on, (), known_at
                )
                sums = {
                    (names[each.code_id], each.part, each.late): (each.debits, each.credits)
                    for each in coded
                }
                found[scheme, known_at] = sums, sum(each.amount for each in uncoded)
            return found

        return self.journal.read(read)


def expected(
    posted: list[tuple[datetime, Event]], days: Days, scheme: Scheme, known_at: datetime | None
) -> Figures:
    sums: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    uncoded = 0
    for moment, event in posted:
        for first, last, late in days:
            if not first <= event.on <= last or (known_at is not None and moment > known_at):
                continue
            for code, part, amount in event.amounts:
                if event.source != OPENING:
                    uncoded -= amount
                if event.counts(code, scheme):
                    sums[code, part, late][amount < 0] += abs(amount)
    return {key: (each[0], each[1]) for key, each in sums.items()}, uncoded


class TestAnyHistory:
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(HISTORIES, SLICES)
    def test_months_are_the_sums_of_the_lines(
        self,
        own_server: ApiServer,
        partner: Partner,
        history: list[list[Event]],
        days: Days,
    ) -> None:
        shop = Shop.of(own_server, partner)
        posted: list[tuple[datetime, Event]] = []
        for minute, batch in enumerate(history):
            shop.journal.now = NOW + timedelta(minutes=minute)
            posted += [(shop.journal.now, event) for event in batch]
            entries = [shop.entry(event) for event in batch]
            shop.journal.run(lambda pool, entries=entries: shop.journal.adding(pool, entries))
        wanted = {cut: expected(posted, days, *cut) for cut in CUTS}
        assert shop.figures(days) == wanted
        assert shop.journal.roll_ups_hold()
        shop.journal.run(lambda pool: rebuild(pool, UUID(shop.journal.business.id)))
        assert shop.figures(days) == wanted
        assert shop.journal.roll_ups_hold()


@pytest.fixture(scope="module")
def rolled(own_server: ApiServer, partner: Partner) -> JournalWriter:
    """A business that used every feature of the books, rolled up except for two entries.

    Its returns are not settled: the first months of tax, which a test adds again, knew no such
    entries.
    """
    journal = JournalWriter(own_server, traded(partner.business(), settle=False))
    journal.run(lambda pool: rebuild(pool, UUID(journal.business.id)))
    for net in (1_000, 2_000):
        lines = [credit("4000", net, tax_code="S20"), debit(str(journal.accounts[0]), net)]
        journal.business.made(ENTRIES, {"entry_date": "2025-11-05", "post": True, "lines": lines})
    return journal


_ONE = (
    "(month, tax_code_id, tax_part) = (SELECT month, tax_code_id, tax_part FROM tax_month"
    " WHERE business_id = %s AND debits > 0 ORDER BY 1, 2, 3 LIMIT 1)"
)
FAULTS = {
    "a month says more than was posted": (
        "UPDATE tax_month SET credits = credits + 1 WHERE business_id = %s AND credits > 0"
    ),
    "a month says more than was paid": (
        "UPDATE tax_month SET cash_debits = cash_debits + 1 WHERE business_id = %s"
    ),
    "a month is missing": f"DELETE FROM tax_month WHERE {_ONE}",
    "a month stands on another one's place": (
        f"UPDATE tax_month SET month = '2031-07-01' WHERE {_ONE}"
    ),
    "a month is of another rate": "UPDATE tax_month SET tax_rate = 19 WHERE business_id = %s",
    "more has no code than was posted without": (
        "UPDATE account_month SET uncoded = uncoded + 1 WHERE business_id = %s"
    ),
}


class TestMonthsAreProven:
    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_planted_fault_is_found_and_a_rebuilding_mends_it(
        self, own_server: ApiServer, kept: JournalWriter, fault: str
    ) -> None:
        tamper(own_server, FAULTS[fault], kept.business.id)
        assert faults_in(own_server, kept.business) == {"roll_ups"}
        kept.run(lambda pool: rebuild(pool, UUID(kept.business.id)))
        assert faults_in(own_server, kept.business) == set()


class TestPlan:
    @pytest.mark.parametrize("scheme", Scheme)
    def test_only_entries_that_are_not_rolled_up_are_read(
        self, own_server: ApiServer, rolled: JournalWriter, scheme: Scheme
    ) -> None:
        days = [JournalRange(first=date(2026, 1, 1), last=date(2026, 12, 31), scheme=scheme)]

        async def find(books: Books) -> Query:
            roles = await books.roles()
            counted = cash_schemes.counted("GB", scheme, await books.tax_codes.all())
            [query] = books.tax_returns.added_up(days, counted, roles, [], (), None).queries
            return query

        query = rolled.read(find)
        with psycopg.connect(own_server.database_url, autocommit=True) as connection:
            connection.execute("ANALYZE")
        rolled.check_plan(query.text, query.parameters)


ASKED = [
    {"start_date": start, "end_date": end}
    for start, end in (
        ("2025-01-01", "2025-12-31"),
        ("2025-02-20", "2026-12-05"),
        ("2025-01-10", "2025-01-20"),
        ("2025-10-01", "2025-12-31"),
    )
]


def all_figures(shop: Business, draft: Record) -> list[Record]:
    told = [
        report(shop, "reports/vat-summary", **days, basis=basis)
        for days in ASKED
        for basis in ("accrual", "cash")
    ]
    return [*told, read(shop, draft)]


class TestEarlierBooks:
    def test_figures_are_the_same_after_the_migration_that_adds_months(
        self, own_server: ApiServer, kept: JournalWriter
    ) -> None:
        shop = kept.business
        draft = drawn_up(shop, 4)
        told = all_figures(shop, draft)
        assert any(each["codes"] for each in told)
        tamper(own_server, "DELETE FROM tax_month WHERE business_id = %s", shop.id)
        tamper(own_server, "UPDATE account_month SET uncoded = 0 WHERE business_id = %s", shop.id)
        assert all_figures(shop, draft) != told
        for _ in range(2):  # A stopped one is run again.
            with psycopg.connect(own_server.database_url) as connection:
                connection.execute("UPDATE alembic_version SET version_num = '0030'")
            migrate_to(own_server.database_url, "0031")
            assert all_figures(shop, draft) == told
            assert faults_in(own_server, shop) == set()
        with psycopg.connect(own_server.database_url) as connection:
            connection.execute("UPDATE alembic_version SET version_num = %s", [revisions.HEAD])

    def test_figures_are_the_same_without_months(
        self, own_server: ApiServer, kept: JournalWriter
    ) -> None:
        shop = kept.business
        draft = drawn_up(shop, 4)
        told = all_figures(shop, draft)
        series = "UPDATE number_series SET rolled_up = 0 WHERE business_id = %s"
        tamper(own_server, f"{series} AND series LIKE 'JE-%%'", shop.id)
        for name in ("tax_month", "account_month"):
            tamper(own_server, f"DELETE FROM {name} WHERE business_id = %s", shop.id)
        assert all_figures(shop, draft) == told
        assert faults_in(own_server, shop) == set()
