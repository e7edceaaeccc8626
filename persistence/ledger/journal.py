"""The journal: posts and reads entries; manual entries are drafts until they are posted."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import ClassVar
from uuid import UUID

from accounting.books import ledger
from accounting.books.accounts import Account
from accounting.books.ledger import Entry, Line
from accounting.books.manual_entries import ManualEntry
from accounting.books.numbers import Number, journal_series
from accounting.errors import RuleViolation
from persistence.engine.ids import new_id
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row
from persistence.ledger.journal_lists import LISTING, MOST_EXPORTED, exported
from persistence.ledger.journal_records import (
    EntryLine,
    EntryRecord,
    draft_row,
    head_row,
    line_on,
    record_of,
    shown,
    written,
)
from persistence.ledger.journal_sql import BY_ID, DELETE_DRAFT, LINES, REACTIVATE, STORED
from persistence.ledger.line_digests import lines_digest
from persistence.ledger.split_rows import mark_columns, mark_in, split_rows
from persistence.store import Store, lock_statement, no_such_reference
from persistence.tables import cash_line, journal_draft, journal_entry, journal_line


class JournalStore(Store[EntryRecord]):
    """The journal of one business."""

    table: ClassVar = journal_entry
    noun: ClassVar = "journal_entry"
    rank: ClassVar = 14

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}), Query(LINES, {"ids": list(ids)}))

    def assemble(self, answers: Answers) -> list[EntryRecord]:
        entries, lines = answers
        by_entry: dict[UUID, list[EntryLine]] = defaultdict(list)
        for line in lines:
            tax = mark_in(line)
            tags = tuple(line.pop("tags") or ())
            by_entry[line.pop("entry_id")].append(EntryLine(**line, tax=tax, tags=tags))
        return [record_of(row, tuple(by_entry[row["id"]])) for row in entries]

    def referred_to(self, id: UUID) -> Fetch[EntryRecord]:
        """Load an entry that a request body names; raises RuleViolation `reference_not_found`."""

        def answer(answers: Answers) -> EntryRecord:
            for found in self.assemble(answers):
                return found
            raise no_such_reference(self.noun, id)

        return self.fetch(self.loading([id]), answer)

    def page(self, wanted: PageRequest) -> Fetch[Page[EntryRecord]]:
        """List one page of entries, without lines."""
        return self.listed(LISTING, wanted, record_of)

    def export(self, wanted: PageRequest) -> Fetch[list[Row]]:
        """Load the lines of all entries of a filtered list, each with the columns of its entry.

        Raises RuleViolation `export_too_large` above 20,000 lines.
        """

        def answer(answers: Answers) -> list[Row]:
            if len(answers[0]) > MOST_EXPORTED:
                raise RuleViolation(
                    "export_too_large",
                    "The export is too large. Narrow it, for example with date_from and date_to.",
                    limit=MOST_EXPORTED,
                )
            return answers[0]

        return self.fetch((LISTING.asked(wanted, exported, limit=MOST_EXPORTED + 1),), answer)

    def post(self, entry: Entry, currency: str) -> None:
        """Stage an entry and its lines; it takes the next number of its year."""
        entry_id = new_id()
        head = {
            "id": entry_id,
            "version": 1,
            "created_at": self.scope.now,
            "entry_date": entry.entry_date,
            "reference": entry.reference,
            "description": entry.description,
            "currency": currency,
            "total": sum(line.debit for line in entry.lines),
            "stream": entry.stream,
            "created_by": "system",
            "source_type": entry.source_type,
            "source_id": entry.source_id,
            "reversal_of_id": entry.reversal_of_id,
        }
        lines = [(new_id(), line) for line in entry.lines]
        self._stage(head, [(id_, line, _on_cash(entry, line)) for id_, line in lines])
        for id_, line in lines:
            self._stage_cash(entry, entry_id, id_, line)

    def keep(self, entry: ManualEntry, accounts: Mapping[UUID, Account]) -> EntryRecord:
        """Stage a manual entry as a draft, or post it if it is approved; return its record.

        `accounts` are the accounts on its lines, by id.
        """
        if entry.status != "approved":
            if (before := self.scope.loaded(entry.id)) is not None:
                self.scope.note_loaded([written(before)])
            self.scope.stage(journal_draft, entry, draft_row(entry, self.scope.now))
            return shown(entry, accounts, None, None)
        lines = [
            (
                line.id,
                Line(
                    line.account_id,
                    line.amount,
                    description=line.description,
                    tax=line.tax,
                    tags=line.tags,
                    currency=line.currency,
                    currency_amount=line.currency_amount,
                ),
                {"in_cash": True, "document_id": entry.source_id},
            )
            for line in entry.lines
        ]
        number = self._stage(head_row(entry), lines, by_hand=True)
        if entry.version:
            self._forget_draft(entry)
        return shown(entry, accounts, number, self.scope.now)

    def _forget_draft(self, entry: ManualEntry) -> None:
        """Stage the deletion of the draft of an entry that is posted under the same id.

        The draft is deleted first, so that the audit trail of this id is in the right order.
        """
        parameters = {"business_id": self.scope.business_id, "ids": [entry.id]}
        self.scope.staging.lead_with(Query(DELETE_DRAFT, parameters))
        self.scope.note_version(entry.id, entry.version)

    def _stage(
        self, head: Row, lines: Sequence[tuple[UUID, Line, Row]], *, by_hand: bool = False
    ) -> Number:
        """Stage the head and the lines of an entry; return the pending number.

        Each line comes with its id and its columns for the cash basis. Documents prove the lines of
        other entries than those by hand.
        """
        staging = self.scope.staging
        number = staging.take_number(journal_series(head["entry_date"]))
        posted = {
            "sequence_number": number,
            "posted_at": self.scope.now,
            "line_count": len(lines),
        }
        foreign = any(line.currency is not None for _, line, _ in lines)
        rows = [
            {
                "id": id_,
                "entry_id": head["id"],
                "line_number": place,
                "line_count": len(lines),
                "account_id": line.account_id,
                "entry_date": head["entry_date"],
                "debit": line.debit,
                "credit": line.credit,
                "description": line.description,
                "settles_id": line.settles,
                "split": split_rows(line.split),
                **mark_columns(line.tax),
                **on_cash,
                "tags": list(line.tags) or None,
                **_own_amount(line, foreign=foreign),
            }
            for place, (id_, line, on_cash) in enumerate(lines, start=1)
        ]
        posted["lines_digest"] = lines_digest(rows) if by_hand else None
        staging.insert(journal_entry, {**head, **posted})
        for row in rows:
            staging.insert(journal_line, row)
        return number

    def _stage_cash(self, entry: Entry, entry_id: UUID, line_id: UUID, line: Line) -> None:
        """Stage the lines that replace a line on the cash basis."""
        for part, amount in ledger.parts(entry, line):
            row = {
                "id": new_id(),
                "line_id": line_id,
                "entry_id": entry_id,
                "account_id": part.account_id,
                "entry_date": entry.entry_date,
                "debit": max(amount, 0),
                "credit": max(-amount, 0),
                "document_id": ledger.document_of(entry, line),
                **mark_columns(part.tax),
            }
            self.scope.staging.insert(cash_line, row)

    def staged_accounts(self) -> frozenset[UUID]:
        """Return the ids of the accounts on staged lines."""
        return frozenset(line["account_id"] for line in self.scope.staged_rows(journal_line))

    def staged(self, accounts: Mapping[UUID, Account]) -> list[EntryRecord]:
        """Return the staged entries as records; `accounts` are the accounts on their lines."""
        by_entry: dict[UUID, list[EntryLine]] = defaultdict(list)
        for line in self.scope.staged_rows(journal_line):
            by_entry[line["entry_id"]].append(
                line_on(
                    accounts[line["account_id"]],
                    id=line["id"],
                    line_number=line["line_number"],
                    amount=line["debit"] - line["credit"],
                    description=line["description"],
                    tax=mark_in({**line}),
                    tags=tuple(line["tags"] or ()),
                    currency=line.get("currency"),
                    currency_amount=line.get("currency_amount"),
                )
            )
        return [
            EntryRecord(
                **{name: row[name] for name in STORED},
                status="approved",
                reversed_by_id=None,
                lines=tuple(by_entry[row["id"]]),
            )
            for row in self.scope.staged_rows(journal_entry)
        ]

    def reactivate_accounts(self) -> None:
        """Stage the unarchiving of archived accounts to which this transaction posts.

        Archiving an account closes the gate of the business, so it never runs at the same time.
        """
        ids = sorted(self.staged_accounts())
        if not ids or not self.scope.facts["may_have_archived_accounts"]:
            return
        parameters = {
            "business_id": self.scope.business_id,
            "ids": ids,
            "now": self.scope.now,
        }
        changed = ("archived_at", "is_active")
        unseen = self.scope.unseen(Query(REACTIVATE, parameters), "unarchived", *changed)
        self.scope.staging.precede_numbers(*unseen)

    def _locking(self, ids: Sequence[UUID]) -> Query:
        """Return the statement that locks drafts; posted entries never change."""
        return Query(lock_statement(journal_draft), {"ids": list(ids)})


def _own_amount(line: Line, *, foreign: bool) -> Row:
    """Return the columns of the own amount of a line, which an entry in base does not have."""
    if not foreign:
        return {}
    return {"currency": line.currency, "currency_amount": line.currency_amount}


def _on_cash(entry: Entry, line: Line) -> Row:
    """Return the columns of a line for the cash basis."""
    return {
        "in_cash": ledger.stays(entry, line),
        "document_id": ledger.document_of(entry, line),
    }
