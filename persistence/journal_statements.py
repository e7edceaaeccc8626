"""The journal's statements: entries with their lines, what was posted for a document, the list."""

from uuid import UUID

from sqlalchemy import ARRAY, Date, Text, Uuid, and_, any_, cast, func, literal_column, or_, select
from sqlalchemy.sql.elements import ColumnElement

from persistence.filters import any_part, created_filters
from persistence.pages import SKIPPED, Filter, Listing
from persistence.statements import compiled, given
from persistence.store import among, in_business
from persistence.tables import account, journal_entry, journal_line

_reversal = journal_entry.alias("reversal")
_REVERSED_BY = (
    select(_reversal.c.id)
    .where(
        _reversal.c.business_id == journal_entry.c.business_id,
        _reversal.c.reversal_of_id == journal_entry.c.id,
    )
    .scalar_subquery()
)
SHOWN = (
    "id",
    "created_at",
    "sequence_number",
    "entry_date",
    "posted_at",
    "reference",
    "description",
    "currency",
    "total",
    "created_by",
    "source_type",
    "source_id",
    "reversal_of_id",
)
COLUMNS = (*(journal_entry.c[name] for name in SHOWN), _REVERSED_BY.label("reversed_by_id"))
BY_ID = compiled(select(*COLUMNS).where(in_business(journal_entry), among(journal_entry.c.id)))

_ON_ACCOUNT = and_(
    account.c.business_id == journal_line.c.business_id, account.c.id == journal_line.c.account_id
)
LINES = compiled(
    select(
        journal_line.c.id,
        journal_line.c.entry_id,
        journal_line.c.line_number,
        journal_line.c.account_id,
        account.c.code.label("account_code"),
        account.c.name.label("account_name"),
        account.c.account_type,
        journal_line.c.debit,
        journal_line.c.credit,
        journal_line.c.description,
    )
    .select_from(journal_line.join(account, _ON_ACCOUNT))
    .where(in_business(journal_line), among(journal_line.c.entry_id))
    .order_by(journal_line.c.entry_id, journal_line.c.line_number)
)

_POSTED_LINES = (
    select(
        func.json_agg(
            func.json_build_array(
                journal_line.c.account_id,
                journal_line.c.debit - journal_line.c.credit,
                journal_line.c.settles_id,
                journal_line.c.split,
                journal_line.c.description,
            ).op("ORDER BY")(journal_line.c.line_number)
        )
    )
    .where(
        journal_line.c.business_id == journal_entry.c.business_id,
        journal_line.c.entry_id == journal_entry.c.id,
    )
    .scalar_subquery()
)
POSTED = compiled(
    select(
        journal_entry.c.id,
        journal_entry.c.source_id,
        journal_entry.c.source_type,
        journal_entry.c.entry_date,
        journal_entry.c.stream,
        journal_entry.c.description,
        journal_entry.c.reference,
        journal_entry.c.reversal_of_id,
        _REVERSED_BY.is_not(None).label("reversed"),
        _POSTED_LINES.label("lines"),
    )
    .where(
        in_business(journal_entry),
        journal_entry.c.source_id == any_(given("sources", ARRAY(Uuid()))),
    )
    .order_by(journal_entry.c.created_at, journal_entry.c.id)
)


def account_named(name: str) -> ColumnElement[UUID]:
    """The account a caller names: tried as an id, then as a code, then as an external id."""
    wanted = given(name, Text)
    by_id = cast(account.c.id, Text) == wanted
    by_code = account.c.code == wanted
    chosen = select(account.c.id).where(
        in_business(account), or_(by_id, by_code, account.c.external_id == wanted)
    )
    return (
        chosen.order_by(by_id.desc(), by_code.desc()).limit(literal_column("1")).scalar_subquery()
    )


def _touches(name: str) -> Filter:
    line = (
        select(journal_line.c.id)
        .where(
            journal_line.c.business_id == journal_entry.c.business_id,
            journal_line.c.entry_id == journal_entry.c.id,
            journal_line.c.account_id == account_named(name),
        )
        .exists()
    )
    return Filter(line)


LISTING = Listing(
    source=journal_entry,
    key=journal_entry.c.id,
    scope=in_business(journal_entry),
    columns=COLUMNS,
    filters={
        **created_filters(journal_entry, updated=journal_entry.c.created_at),
        "account": _touches("account"),
        "account_id": _touches("account_id"),
        "created_by": Filter(journal_entry.c.created_by == given("created_by", Text)),
        "date_from": Filter(journal_entry.c.entry_date >= given("date_from", Date)),
        "date_to": Filter(journal_entry.c.entry_date <= given("date_to", Date)),
        # Every entry in the journal is posted and approved; drafts are kept elsewhere.
        "is_posted": Filter(literal_column("false"), lambda posted: SKIPPED if posted else posted),
        "status": Filter(
            literal_column("false"), lambda status: SKIPPED if status == "approved" else status
        ),
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

REACTIVATE = """
UPDATE account SET archived_at = NULL, version = version + 1, updated_at = %(now)s
WHERE business_id = %(business_id)s AND id = ANY(%(ids)s) AND archived_at IS NOT NULL
"""
