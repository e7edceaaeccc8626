"""The journal: entries are posted and read, and nothing else."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, ClassVar
from uuid import UUID

from accounting.accounts import Account, AccountReference
from accounting.ledger import Entry, Line, Posted
from accounting.numbers import Number, journal_series
from persistence.identifiers import new_id
from persistence.journal_statements import BY_ID, LINES, LISTING, POSTED, REACTIVATE, SHOWN
from persistence.pages import Page, PageRequest
from persistence.statements import Query, Row
from persistence.store import Store
from persistence.tables import journal_entry, journal_line
from persistence.wire import Answers, Question


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


class JournalStore(Store[EntryRecord]):
    """The journal of one business."""

    table: ClassVar = journal_entry
    noun: ClassVar = "journal_entry"
    rank: ClassVar = 9

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}), Query(LINES, {"ids": list(ids)}))

    def assemble(self, answers: Answers) -> list[EntryRecord]:
        entries, lines = answers
        by_entry: dict[UUID, list[EntryLine]] = defaultdict(list)
        for line in lines:
            by_entry[line.pop("entry_id")].append(EntryLine(**line))
        return [EntryRecord(**entry, lines=tuple(by_entry[entry["id"]])) for entry in entries]

    def page(self, wanted: PageRequest) -> Question[Page[EntryRecord]]:
        """List one page, without lines."""
        return self.listed(LISTING, wanted, lambda row: EntryRecord(**row))

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
        self.books.staging.follow_with(Query(REACTIVATE, parameters))


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
