"""The list of journal entries (posted and drafts), and its export line by line."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Boolean,
    Table,
    Text,
    Uuid,
    and_,
    cast,
    func,
    literal_column,
    not_,
    or_,
    select,
    union_all,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import CTE, FromClause, Select

from persistence.engine.joint_lists import JointListing
from persistence.engine.listings import (
    ORDERING,
    Filter,
    Listing,
    any_part,
    between,
    created_filters,
    equal,
    ordered,
)
from persistence.engine.sql import given, word
from persistence.ledger.journal_sql import (
    DRAFT_COLUMNS,
    DRAFT_LINE,
    DRAFT_LINES,
    POSTED_COLUMNS,
    POSTED_LINE,
    POSTED_LINES,
)
from persistence.ledger.split_rows import MARK_COLUMNS
from persistence.store import in_business
from persistence.tables import account, journal_draft, journal_entry, journal_line


def account_named(name: str) -> ColumnElement[UUID]:
    """Return a subquery for the account a caller names by id, else by code, else by external id."""
    wanted = given(name, Text)
    by_id = cast(account.c.id, Text) == func.lower(wanted)
    by_code = account.c.code == wanted
    chosen = select(account.c.id).where(
        in_business(account), or_(by_id, by_code, account.c.external_id == wanted)
    )
    return (
        chosen.order_by(by_id.desc(), by_code.desc()).limit(literal_column("1")).scalar_subquery()
    )


def _posted_touches(name: str) -> Filter:
    """Build a filter of entries with a line on an account.

    It searches only from the first to the last day with a line on the account. The cost for a
    rarely used account is that of these days, and an unused account costs nothing.
    """
    line = (
        select(journal_line.c.id)
        .where(
            in_business(journal_line),
            journal_line.c.entry_id == journal_entry.c.id,
            journal_line.c.account_id == account_named(name),
        )
        .exists()
    )
    first, last = (_day_of(end, name) for end in (func.min, func.max))
    return Filter(and_(line, journal_entry.c.entry_date.between(first, last)))


def _day_of(end: Callable[..., ColumnElement[Any]], name: str) -> ColumnElement[Any]:
    on = journal_line.alias("end")
    day = select(end(on.c.entry_date)).where(in_business(on))
    return day.where(on.c.account_id == account_named(name)).scalar_subquery()


def _draft_touches(name: str) -> Filter:
    line = func.jsonb_build_object(word("account_id"), account_named(name))
    return Filter(journal_draft.c.lines.contains(func.jsonb_build_array(line, type_=JSONB)))


def _dated(table: Table) -> dict[str, Filter]:
    """Return the filters that posted entries and drafts have in common."""
    return {
        **equal(table.c.created_by),
        **between(table.c.entry_date, "date_from", "date_to"),
    }


POSTED = Listing(
    source=journal_entry,
    key=journal_entry.c.id,
    scope=in_business(journal_entry),
    columns=POSTED_COLUMNS,
    filters={
        # Posting is the last change of an entry.
        **created_filters(journal_entry, updated=journal_entry.c.posted_at),
        **_dated(journal_entry),
        **equal(journal_entry.c.source_id),
        "account": _posted_touches("account"),
        "account_id": _posted_touches("account_id"),
        "is_posted": Filter(given("is_posted", Boolean)),
        "status": Filter(given("status", Text) == word("approved")),
        "search": any_part(
            "search",
            journal_entry.c.description,
            journal_entry.c.reference,
            journal_entry.c.sequence_number,
        ),
    },
    sorts={
        "entry_date": journal_entry.c.entry_date,
        "created_at": journal_entry.c.created_at,
        "sequence_number": journal_entry.c.sequence_number,
    },
    default_sort="-entry_date",
)
DRAFTS = Listing(
    source=journal_draft,
    key=journal_draft.c.id,
    scope=in_business(journal_draft),
    columns=DRAFT_COLUMNS,
    filters={
        **created_filters(journal_draft),
        **_dated(journal_draft),
        # A draft is its own source, as is the entry that it becomes.
        "source_id": Filter(journal_draft.c.id == given("source_id", Uuid)),
        "account": _draft_touches("account"),
        "account_id": _draft_touches("account_id"),
        "is_posted": Filter(not_(given("is_posted", Boolean))),
        **equal(journal_draft.c.status),
        "search": any_part("search", journal_draft.c.description, journal_draft.c.reference),
    },
    sorts={
        "entry_date": journal_draft.c.entry_date,
        "created_at": journal_draft.c.created_at,
        "sequence_number": journal_draft.c.listed_number,
    },
    default_sort="-entry_date",
)
LISTING = JointListing.of(POSTED, DRAFTS)

MOST_EXPORTED = 20_000
"""The maximum number of lines in one export file; an entry has at least two lines."""

_HEAD = (
    "id",
    "sequence_number",
    "entry_date",
    "status",
    "created_by",
    "source_type",
    "reference",
    "description",
    "currency",
    "posted_at",
    "reversal_of_id",
)
_LINE = ("line_number", "account_code", "account_name", "debit", "credit", *MARK_COLUMNS)
_POSTED_ENTRIES = journal_entry.join(
    POSTED_LINES,
    and_(
        in_business(journal_line),
        journal_line.c.entry_id == journal_entry.c.id,
    ),
)


def exported(names: frozenset[str], sort: str) -> Select[Any]:
    """Return the statement that reads the lines of a list's entries, in the order of the list.

    The parameter `limit` is the maximum number of lines.
    """
    limit = given("limit", BigInteger)
    chosen = LISTING.chosen(names, sort, within=limit, limit=limit)
    together = union_all(
        _lined(POSTED, _POSTED_ENTRIES, POSTED_LINE, chosen),
        _lined(DRAFTS, DRAFT_LINES, DRAFT_LINE, chosen),
    ).subquery("together")
    place = ordered(sort, together.c[ORDERING], together.c.id)
    columns = (each for each in together.c if each.name != ORDERING)
    return select(*columns).order_by(*place, together.c.line_number).limit(limit)


def _lined(
    part: Listing, source: FromClause, line: Sequence[ColumnElement[Any]], chosen: CTE
) -> Select[Any]:
    said = {each.name: each for each in line}
    return (
        select(
            *(each for each in part.columns if each.name in _HEAD),
            *(said[name] for name in _LINE),
            said["description"].label("line_description"),
            chosen.c[ORDERING],
        )
        .select_from(source.join(chosen, chosen.c.id == part.key))
        .where(part.scope)
    )
