"""The lines of one account, each with the account's running balance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Table, Text, Uuid, and_, literal_column, not_, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.books.ledger import TaxMark
from accounting.books.periods import month_start
from accounting.books.report_filter import Basis
from persistence.engine.joint_lists import JointListing
from persistence.engine.listings import MOMENT, SKIPPED, Filter, Listing, between, created_filters
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Fetch, Query, Row, compiled, given, word
from persistence.ledger.balances import MONTH_SUMS, UNROLLED
from persistence.ledger.split_rows import MARK_COLUMNS, mark_in
from persistence.ledger.tags import ANY_TAG
from persistence.scope import Scope
from persistence.store import among, in_business
from persistence.tables import cash_line, journal_entry, journal_line, tagged_line

_OF_ENTRY = (
    "sequence_number",
    "posted_at",
    "description",
    "reference",
    "source_type",
    "source_id",
    "created_at",
)
_OF_LINE = ("id", "entry_id", "entry_date", "debit", "credit")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountEntry:
    """A line of an account with its entry; `net` is debits less credits up to and including it."""

    id: UUID
    entry_id: UUID
    entry_date: date
    debit: int
    credit: int
    sequence_number: str
    posted_at: datetime
    description: str
    reference: str | None
    source_type: str
    source_id: UUID | None
    created_at: datetime
    tax: TaxMark | None
    net: int


def _of_entry(table: Table, condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that the entry of a line fulfils `condition`."""
    entry = select(journal_entry.c.id).where(
        in_business(journal_entry), journal_entry.c.id == table.c.entry_id, condition
    )
    return entry.exists()


def _tagged(table: Table, tag: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that the document of a line has a tag."""
    row = tagged_line.c
    found = select(row.line_id).where(
        in_business(tagged_line),
        row.tag == tag,
        row.account_id == table.c.account_id,
        row.entry_date == table.c.entry_date,
        row.line_id == table.c.id,
    )
    return found.exists()


def _listing(table: Table, *counted: ColumnElement[bool]) -> Listing:
    """Return the list of an account's lines in `table`, restricted by the conditions `counted`."""
    created = created_filters(journal_entry, updated=journal_entry.c.created_at)
    words: ColumnElement[Any] = table.c.get("description", literal_column("NULL::text"))
    marks = (table.c[name] for name in MARK_COLUMNS)
    return Listing(
        source=table,
        key=table.c.id,
        scope=and_(in_business(table), table.c.account_id == given("account_id", Uuid), *counted),
        columns=[*(table.c[name] for name in _OF_LINE), words.label("description"), *marks],
        filters={
            **{
                name: replace(each, condition=_of_entry(table, each.condition))
                for name, each in created.items()
            },
            **between(table.c.entry_date, "date_from", "date_to"),
            "tag": Filter(_tagged(table, given("tag", Text))),
            "untagged": Filter(not_(_tagged(table, word(ANY_TAG))), lambda asked: asked or SKIPPED),
            "known_at": Filter(
                _of_entry(table, journal_entry.c.posted_at <= given("known_at", MOMENT))
            ),
        },
        sorts={"entry_date": table.c.entry_date},
        default_sort="-entry_date",
    )


LISTINGS: Mapping[Basis, Listing] = {
    Basis.ACCRUAL: _listing(journal_line),
    Basis.CASH: JointListing.of(
        _listing(journal_line, journal_line.c.in_cash), _listing(cash_line)
    ),
}
ENTRIES = compiled(
    select(journal_entry.c.id, *(journal_entry.c[name] for name in _OF_ENTRY)).where(
        in_business(journal_entry), among(journal_entry.c.id)
    )
)

# The lines of an account on each basis.
_ROWS = """SELECT entry_date, id, debit, credit FROM <table>
    WHERE <table>.business_id = %(business_id)s AND account_id = %(account_id)s"""
_OF_LEDGER = _ROWS.replace("<table>", "journal_line")
_ROWS_OF = {
    Basis.ACCRUAL: _OF_LEDGER,
    Basis.CASH: f"{_OF_LEDGER} AND in_cash UNION ALL {_ROWS.replace('<table>', 'cash_line')}",
}

# The balance before the oldest line shown comes from whole months and the earlier days of its own
# month; from there the balance runs line by line. All pages therefore cost the same.
_NETS = """
WITH opening AS (
  SELECT coalesce(sum(net), 0) AS net
  FROM (
    SELECT {debits} - {credits} AS net FROM account_month
    WHERE account_month.business_id = %(business_id)s AND account_id = %(account_id)s
      AND month < %(month)s
    UNION ALL
    SELECT debit - credit FROM ({unrolled}) AS unrolled
    WHERE account_id = %(account_id)s AND entry_date < %(month)s
    UNION ALL
    SELECT debit - credit FROM ({rows}) AS line
    WHERE entry_date BETWEEN %(month)s AND %(first_date)s
      AND (entry_date, id) < (%(first_date)s, %(first_id)s)
  ) AS before
)
SELECT id, net::bigint
FROM (
  SELECT id, (SELECT net FROM opening) + sum(debit - credit) OVER (ORDER BY entry_date, id) AS net
  FROM ({rows}) AS line
  WHERE entry_date BETWEEN %(first_date)s AND %(last_date)s
    AND (entry_date, id) >= (%(first_date)s, %(first_id)s)
    AND (entry_date, id) <= (%(last_date)s, %(last_id)s)
) AS counted
WHERE id = ANY(%(ids)s::uuid[])
"""

# The number of all lines, from the roll-up.
_COUNT = """
SELECT coalesce(sum(lines), 0)::bigint AS total
FROM (
  SELECT {debit_count} + {credit_count} AS lines FROM account_month
  WHERE account_month.business_id = %(business_id)s AND account_id = %(account_id)s
  UNION ALL
  SELECT 1 FROM ({unrolled}) AS unrolled WHERE account_id = %(account_id)s
) AS counted
"""


def _of_basis(text: str, basis: Basis) -> str:
    debits, credits_, debit_count, credit_count = MONTH_SUMS[basis]
    return text.format(
        debits=debits,
        credits=credits_,
        debit_count=debit_count,
        credit_count=credit_count,
        unrolled=UNROLLED[basis],
        rows=_ROWS_OF[basis],
    )


NETS = {basis: _of_basis(_NETS, basis) for basis in Basis}
COUNTS = {basis: _of_basis(_COUNT, basis) for basis in Basis}


class AccountEntries:
    """The lines of the accounts of one business."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    async def page(
        self, account_id: UUID, wanted: PageRequest, basis: Basis = Basis.ACCRUAL
    ) -> Page[AccountEntry]:
        """List one page of an account's lines on a basis, by default the latest first.

        This takes two round trips: call `pin_snapshot` first.
        """
        scope = {"business_id": self.scope.business_id, "account_id": account_id}
        lines = await self._lines(scope, wanted, basis)
        if not lines.rows:
            return lines.of(_never)
        entries, nets = await self._around(scope, lines.rows, basis)
        return lines.of(lambda line: _entry(line, entries[line["entry_id"]], nets[line["id"]]))

    async def _lines(self, scope: Row, wanted: PageRequest, basis: Basis) -> Page[Row]:
        """Load one page of lines; the total comes from the roll-up unless there are filters."""
        session, listing = self.scope.session, LISTINGS[basis]
        if not wanted.count or wanted.filters:
            return await listing.fetch(session, wanted, scope, lambda row: row)
        page, total = await session.fetch(
            listing.fetch(session, replace(wanted, count=False), scope, lambda row: row),
            Fetch(session, (Query(COUNTS[basis], scope),), lambda answers: answers[0][0]["total"]),
        )
        return Page(page.rows, total, wanted, page.next_cursor)

    def _around(
        self, scope: Row, lines: Sequence[Row], basis: Basis
    ) -> Fetch[tuple[dict[UUID, Row], dict[UUID, int]]]:
        """Load the entries of lines, and the balance after each line."""
        first, *_, last = sorted((line["entry_date"], line["id"]) for line in [*lines, *lines])
        asked = {
            **scope,
            "month": month_start(first[0]),
            "first_date": first[0],
            "first_id": first[1],
            "last_date": last[0],
            "last_id": last[1],
            "ids": [line["id"] for line in lines],
        }
        entries = {
            "business_id": scope["business_id"],
            "ids": list({line["entry_id"] for line in lines}),
        }
        return Fetch(
            self.scope.session,
            (Query(ENTRIES, entries), Query(NETS[basis], asked)),
            lambda answers: (
                {row["id"]: row for row in answers[0]},
                {row["id"]: row["net"] for row in answers[1]},
            ),
        )


def _entry(line: Row, entry: Row, net: int) -> AccountEntry:
    facts = {name: entry[name] for name in _OF_ENTRY}
    own = {name: line[name] for name in _OF_LINE}
    words = line["description"] or entry["description"]
    return AccountEntry(**{**facts, **own, "description": words}, tax=mark_in(line), net=net)


def _never(_row: Any) -> AccountEntry:
    raise AssertionError("an empty page has no rows")
