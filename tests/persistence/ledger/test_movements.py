"""Posted amounts of periods on either basis agree with the lines.

They are added up from months, days and later postings.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounting.books.ledger import Entry, Line, Part, Split
from accounting.books.periods import EVER, Period
from accounting.books.report_filter import AccountMovement, Basis, ReportFilter
from persistence.books import Books
from persistence.engine.ids import new_id
from persistence.engine.pages import PageRequest
from persistence.ledger.rebuild import rebuild
from tests.api_server import ApiServer
from tests.partner import Partner
from tests.persistence.integrity.book_faults import tamper
from tests.persistence.integrity.traded_business import traded
from tests.persistence.ledger.journal_writer import NOW, JournalWriter

DAYS = st.dates(date(2025, 10, 20), date(2026, 3, 10))
SPANS = st.lists(st.one_of(st.just(EVER), st.builds(Period, DAYS, DAYS)), min_size=1, max_size=4)
CUTS = st.builds(
    ReportFilter,
    basis=st.sampled_from(Basis),
    known_at=st.one_of(st.none(), st.integers(-1, 5).map(lambda n: NOW + timedelta(minutes=n))),
)
ByAccount = dict[UUID, tuple[AccountMovement, ...]]


@dataclass(frozen=True)
class Settlement:
    """An entry with a line that settles a document; its shares are by place of their account."""

    on: date
    shares: tuple[tuple[int, int], ...]
    in_cash: bool


@st.composite
def settlings(draw: st.DrawFn) -> Settlement:
    places = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True))
    amounts = st.integers(-(10**9), 10**9).filter(bool)
    shares = tuple((place, draw(amounts)) for place in places)
    rest = (5, 7) if sum(amount for _, amount in shares) == 0 else None
    return Settlement(draw(DAYS), (*shares, rest) if rest else shares, draw(st.booleans()))


HISTORIES = st.lists(st.lists(settlings(), min_size=1, max_size=5), max_size=5)


def entry_of(settling: Settlement, accounts: Sequence[UUID]) -> Entry:
    split: Split = tuple((Part(accounts[place]), amount) for place, amount in settling.shares)
    amount = sum(share for _, share in split)
    return Entry(
        entry_date=settling.on,
        stream="test",
        lines=(Line(accounts[0], amount, new_id(), split), Line(accounts[1], -amount)),
        description="An entry",
        source_type="manual",
        source_id=new_id(),
        in_cash=settling.in_cash,
    )


def counted(entry: Entry, basis: Basis) -> list[tuple[UUID, int]]:
    """Return the amounts of an entry on a basis, by a method independent of the product."""
    if basis is Basis.ACCRUAL:
        return [(line.account_id, line.amount) for line in entry.lines]
    if not entry.in_cash:
        return []
    settling, other = entry.lines
    parts = [(part.account_id, amount) for part, amount in settling.split]
    return [*parts, (other.account_id, other.amount)]


def expected(
    posted: list[tuple[datetime, Entry]], spans: Sequence[Period], cut: ReportFilter
) -> ByAccount:
    sums: dict[UUID, list[list[int]]] = defaultdict(lambda: [[0, 0] for _ in spans])
    for moment, entry in posted:
        if cut.known_at is not None and moment > cut.known_at:
            continue
        for place, span in enumerate(spans):
            if span.first <= entry.entry_date <= span.last:
                for account, amount in counted(entry, cut.basis):
                    sums[account][place][amount < 0] += abs(amount)
    moved = {
        account: tuple(AccountMovement(*sides) for sides in places)
        for account, places in sums.items()
    }
    return {account: places for account, places in moved.items() if any(map(_moved, places))}


def _moved(movement: AccountMovement) -> bool:
    return movement != AccountMovement()


class TestAnyHistory:
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(HISTORIES, SPANS, CUTS)
    def test_movements_are_the_sums_of_the_lines(
        self,
        own_server: ApiServer,
        partner: Partner,
        history: list[list[Settlement]],
        spans: list[Period],
        cut: ReportFilter,
    ) -> None:
        journal = JournalWriter(own_server, partner.business())
        posted: list[tuple[datetime, Entry]] = []
        for minute, batch in enumerate(history):
            journal.now = NOW + timedelta(minutes=minute)
            entries = [entry_of(each, journal.accounts) for each in batch]
            posted += [(journal.now, entry) for entry in entries]
            journal.run(lambda pool, entries=entries: journal.adding(pool, entries))

        async def read(books: Books) -> ByAccount:
            return dict(await books.movements.by_account(spans, cut))

        found = journal.read(read)
        assert found == expected(posted, spans, cut)
        for place in range(len(spans)):
            assert sum(moved[place].debits - moved[place].credits for moved in found.values()) == 0
        assert journal.roll_ups_hold()


class TestRebuilding:
    def test_months_of_both_bases_are_rebuilt(
        self, own_server: ApiServer, journal: JournalWriter
    ) -> None:
        settling = Settlement(date(2026, 1, 5), ((2, 900), (3, 100)), in_cash=True)
        journal.run(lambda pool: journal.adding(pool, [entry_of(settling, journal.accounts)] * 4))
        tamper(
            own_server,
            "UPDATE account_month SET cash_debits = cash_debits + 7 WHERE business_id = %s",
            journal.business.id,
        )
        assert not journal.roll_ups_hold()
        journal.run(lambda pool: rebuild(pool, UUID(journal.business.id)))
        assert journal.roll_ups_hold()


SPAN = Period(date(2025, 2, 20), date(2026, 12, 5))


@pytest.fixture(scope="module")
def shop(own_server: ApiServer, partner: Partner) -> JournalWriter:
    return JournalWriter(own_server, traded(partner.business()))


def of_tag(tag: str | None) -> dict[str, Any]:
    """Return the filter of a list for a tag, or for no tag."""
    return {"untagged": True} if tag is None else {"tag": tag}


class TestExplained:
    """The list of an account adds up to its figure, under each filter."""

    @pytest.mark.parametrize("basis", Basis)
    @pytest.mark.parametrize("tag", ["fair", "online", "returned", "nobody's", None, ...])
    @pytest.mark.parametrize("part", [None, 0.3, 1])
    def test_by_its_lines(
        self, shop: JournalWriter, basis: Basis, tag: Any, part: float | None
    ) -> None:
        filters = {} if tag is ... else of_tag(tag)
        known_at = moment_of(shop, part)
        if known_at is not None:
            filters["known_at"] = known_at
        cut = ReportFilter(
            basis=basis,
            tag=filters.get("tag"),
            untagged="untagged" in filters,
            known_at=known_at,
        )
        asked = {**filters, "date_from": SPAN.first, "date_to": SPAN.last}

        async def both(books: Books) -> tuple[ByAccount, ByAccount]:
            books.pin_snapshot()
            moved = dict(await books.movements.by_account([SPAN], cut))
            listed = {}
            for state in await books.accounts.chart(EVER):
                wanted = PageRequest(page_size=1_000, filters=asked)
                lines = await books.account_entries.page(state.id, wanted, basis)
                debits = sum(each.debit for each in lines.rows)
                listed[state.id] = (
                    AccountMovement(debits, sum(each.credit for each in lines.rows)),
                )
            return moved, {id_: each for id_, each in listed.items() if any(map(_moved, each))}

        moved, listed = shop.read(both)
        assert moved == listed
        assert bool(moved) == (tag != "nobody's")


def moment_of(journal: JournalWriter, part: float | None) -> datetime | None:
    """Return the time up to which a part of all entries was posted."""
    if part is None:
        return None
    [(moment,)] = journal.api_server.query(
        "SELECT percentile_disc(%s) WITHIN GROUP (ORDER BY posted_at) FROM journal_entry"
        " WHERE business_id = %s",
        part,
        journal.business.id,
    )
    found: datetime = moment
    return found
