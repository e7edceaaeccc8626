"""The journal: entries are posted and read, and nothing else."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import ARRAY, Date, Text, Uuid, and_, any_, cast, func, literal_column, or_, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.accounts import Account, AccountReference
from accounting.ledger import Entry, Line, Posted
from accounting.numbers import Number, journal_series
from persistence.filters import any_part, created_filters
from persistence.identifiers import new_id
from persistence.pages import SKIPPED, Filter, Listing
from persistence.statements import Query, Row, compiled, given
from persistence.store import Store, among, in_business
from persistence.tables import account, journal_entry, journal_line
from persistence.wire import Answers


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryLine:
    """A posted line with the account it stands on; amounts in minor units."""

    id: UUID
    line_number: int
    account_id: UUID
    account_code: str
    account_name: str
    account_type: str
    debit: int
    credit: int
    description: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRecord:
    """A posted entry as it is shown; `lines` is empty in a list."""

    id: UUID
    created_at: datetime
    sequence_number: Number
    entry_date: date
    posted_at: datetime
    reference: Number
    description: str
    currency: str
    total: int
    created_by: str
    source_type: str
    source_id: UUID
    reversal_of_id: UUID | None
    reversed_by_id: UUID | None
    lines: tuple[EntryLine, ...] = ()

    @property
    def version(self) -> int:
        """A posted entry never changes."""
        return 1


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

_REACTIVATE = """
UPDATE account SET archived_at = NULL, version = version + 1, updated_at = %(now)s
WHERE business_id = %(business_id)s AND id = ANY(%(ids)s) AND archived_at IS NOT NULL
"""


class JournalStore(Store[EntryRecord]):
    """The journal of one business."""

    table: ClassVar = journal_entry
    noun: ClassVar = "journal_entry"
    rank: ClassVar = 9
    listing: ClassVar = LISTING

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}), Query(LINES, {"ids": list(ids)}))

    def assemble(self, answers: Answers) -> list[EntryRecord]:
        entries, lines = answers
        by_entry: dict[UUID, list[EntryLine]] = defaultdict(list)
        for line in lines:
            by_entry[line.pop("entry_id")].append(EntryLine(**line))
        return [EntryRecord(**entry, lines=tuple(by_entry[entry["id"]])) for entry in entries]

    def read(self, row: Row) -> EntryRecord:
        row.pop("sorted_by")
        return EntryRecord(**row)

    def posted_for(self, sources: Sequence[UUID]) -> Query:
        """The statement that reads what was posted for documents, oldest first."""
        return Query(POSTED, {"sources": list(sources)})

    def post(self, entry: Entry) -> None:
        """Stage an entry and its lines; it takes the next number of its year."""
        books, entry_id = self.books, new_id()
        head = {
            "id": entry_id,
            "created_at": books.now,
            "sequence_number": books.staging.take_number(journal_series(entry.entry_date)),
            "entry_date": entry.entry_date,
            "posted_at": books.now,
            "reference": entry.reference,
            "description": entry.description,
            "currency": books.business.base_currency,
            "total": sum(line.debit for line in entry.lines),
            "stream": entry.stream,
            "created_by": "system",
            "source_type": entry.source_type,
            "source_id": entry.source_id,
            "reversal_of_id": entry.reversal_of_id,
        }
        books.staging.insert(journal_entry, head)
        for place, line in enumerate(entry.lines, start=1):
            row = {
                "id": new_id(),
                "entry_id": entry_id,
                "line_number": place,
                "account_id": line.account_id,
                "entry_date": entry.entry_date,
                "debit": line.debit,
                "credit": line.credit,
                "description": line.description,
                "settles_id": line.settles,
                "split": line.split,
            }
            books.staging.insert(journal_line, row)

    async def staged(self) -> list[EntryRecord]:
        """Return the entries that wait to be posted, as they would be read."""
        inserted = self.books.staging.inserted
        lines = inserted.get("journal_line", [])
        references = {AccountReference("id", line["account_id"]) for line in lines}
        named = await self.books.accounts.named(references, hold=False)
        accounts = {account.id: account for account in named.values()}
        by_entry: dict[UUID, list[EntryLine]] = defaultdict(list)
        for line in lines:
            by_entry[line["entry_id"]].append(_staged_line(line, accounts[line["account_id"]]))
        return [
            EntryRecord(
                **{name: row[name] for name in SHOWN},
                reversed_by_id=None,
                lines=tuple(by_entry[row["id"]]),
            )
            for row in inserted.get("journal_entry", [])
        ]

    def reactivate_accounts(self) -> None:
        """Make archived accounts active again that this transaction posts to.

        It follows the lines, which have locked their accounts: an archiving that was faster is
        seen by then.
        """
        lines = self.books.staging.inserted.get("journal_line", [])
        if not lines:
            return
        ids = {line["account_id"] for line in lines}
        parameters = {
            "business_id": self.books.business_id,
            "ids": sorted(ids),
            "now": self.books.now,
        }
        self.books.staging.follow_with(Query(_REACTIVATE, parameters))


def posted_by_source(rows: list[Row]) -> dict[UUID, tuple[Posted, ...]]:
    """Make posted entries of the rows of `posted_for`, by the document they came from."""
    found: dict[UUID, list[Posted]] = defaultdict(list)
    for row in rows:
        lines = tuple(_line(*parts) for parts in row.pop("lines"))
        found[row["source_id"]].append(Posted(**row, lines=lines))
    return {source: tuple(entries) for source, entries in found.items()}


def _staged_line(row: Row, account: Account) -> EntryLine:
    return EntryLine(
        id=row["id"],
        line_number=row["line_number"],
        account_id=account.id,
        account_code=account.code,
        account_name=account.name,
        account_type=account.account_type,
        debit=row["debit"],
        credit=row["credit"],
        description=row["description"],
    )


def _line(
    account_id: str, amount: int, settles: str | None, split: list[Any], description: str | None
) -> Line:
    return Line(
        UUID(account_id),
        amount,
        UUID(settles) if settles else None,
        tuple((UUID(part), cents) for part, cents in split),
        description,
    )
