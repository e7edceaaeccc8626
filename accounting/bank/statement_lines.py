"""Statement lines as they are sent: their import, and whether they are stored already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from accounting.bank.bank_accounts import BankAccount
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.line_identities import (
    Identity,
    IdentityBook,
    Line,
    StoredLine,
    facts_of,
)
from accounting.bank.statement_accounts import StatementChoice
from accounting.books.businesses import Context
from accounting.books.periods import FIRST_YEAR, LAST_YEAR
from accounting.money import MAX_AMOUNT


@dataclass(frozen=True, slots=True)
class RejectedLine:
    """A line that is not stored, and the reason."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class DuplicateLine:
    """A line that is stored already."""

    id: UUID


@dataclass(frozen=True, slots=True)
class OmittedLine:
    """A line that is left out on purpose: it moves nothing, or is of a statement left out."""


@dataclass(frozen=True, slots=True)
class KeptLines:
    """The lines of a bank account that are stored already, by their names.

    Its statements are closed up to a day; a line that comes later is in none of them. `corrected`
    are the stored lines that the request corrects, by the ids of the bank. Those in `with_history`
    were linked once, so that they cannot be deleted.
    """

    stored: Mapping[str, StoredLine]
    closed_through: date | None = None
    corrected: Mapping[str, BankTransaction] = field(default_factory=dict)
    with_history: frozenset[UUID] = frozenset()

    def comes_late(self, booked_on: date) -> bool:
        """Return whether the statement of a day is closed."""
        return self.closed_through is not None and booked_on <= self.closed_through


@dataclass(frozen=True, slots=True)
class DeletedLine:
    """A correction that removes a line; `line` is None if that line is not stored."""

    line: BankTransaction | None


@dataclass(frozen=True, slots=True)
class ImportTarget:
    """The bank account into which lines are imported, the statements of it, and their format."""

    bank_account: BankAccount
    statements: StatementChoice
    source_format: str


SentLine = Line | RejectedLine | OmittedLine
LineResult = BankTransaction | DeletedLine | DuplicateLine | OmittedLine | RejectedLine
"""The result for a line: it is stored (a new one has version 0), removes another one, was stored
already, is left out, or failed."""


def minor_units(amount: Decimal, exponent: int) -> int:
    """Return an amount, as banks write it, in minor units: 12.50 with two decimals gives 1250.

    Raises ValueError with a sentence if it is too large or has more decimals than the currency.
    """
    units = amount.scaleb(exponent)
    if units > MAX_AMOUNT:
        raise ValueError("The amount is too large.")
    if units != units.to_integral_value():
        raise ValueError(f"The amount has more than {exponent} decimals.")
    return int(units)


def sort_out(
    lines: Sequence[SentLine],
    known_by: Sequence[Identity | None],
    kept: KeptLines,
    target: ImportTarget,
    context: Context,
) -> list[LineResult]:
    """Decide for each line whether it is stored, skipped or fails.

    A line of a day whose statement is closed is marked `after_closing`. A line fails with
    `bank_account_mismatch`, `currency_mismatch` or `validation_error`, a correction of a line in a
    closed statement with `bank_reconciled`, one of a matched line with `bank_transaction_used_up`;
    the other lines are stored all the same.
    """
    book = IdentityBook(dict(kept.stored))
    superseded = _superseded(lines)
    line_results: list[LineResult] = []
    for place, (line, identity) in enumerate(zip(lines, known_by, strict=True)):
        if not isinstance(line, Line) or identity is None:
            assert not isinstance(line, Line), "a line has an identity"
            line_results.append(line)
        elif place in superseded or line.account in target.statements.left_out:
            line_results.append(OmittedLine())
        else:
            line_results.append(_result(line, identity, book, kept, target, context))
    return line_results


def _superseded(lines: Sequence[SentLine]) -> set[int]:
    """Return the places of the lines that a later line of the same request corrects."""
    corrected: set[str] = set()
    places: set[int] = set()
    for place, line in reversed(list(enumerate(lines))):
        if isinstance(line, Line):
            if line.external_id in corrected:
                places.add(place)
            if line.corrects is not None:
                corrected.add(line.corrects)
    return places


def _result(
    line: Line,
    identity: Identity,
    book: IdentityBook,
    kept: KeptLines,
    target: ImportTarget,
    context: Context,
) -> LineResult:
    old = kept.corrected.get(line.corrects or "")
    refused = _refused(line, target)
    if refused is not None:
        return refused
    repeated = None if line.deletes else book.repeated(identity, facts_of(line))
    if repeated is not None:
        return DuplicateLine(repeated)
    refused = None if old is None else _refused_by_books(line, old, kept)
    if refused is not None:
        return refused
    if line.corrects is not None and line.deletes:
        return DeletedLine(old)
    id = old.id if old else context.identify()
    name = book.add(identity, StoredLine(id, facts_of(line)))
    if old is not None:
        new = replace(old, external_id=name, updated_at=context.now, **_told(line))
    else:
        new = _stored(line, id, name, target, context)
    late, closed = kept.comes_late(line.booked_on), kept.closed_through
    return replace(new, after_closing=late, reconciled_through=closed)


def _refused_by_books(line: Line, old: BankTransaction, kept: KeptLines) -> RejectedLine | None:
    """Return the refusal of a correction of a stored line; None if the books allow it."""
    if kept.comes_late(old.booked_on) and not old.after_closing:
        words = f"The statement of {kept.closed_through} is reconciled. Reopen it first."
        return RejectedLine("bank_reconciled", words)
    if old.linked or old.categorized:
        words = f"The line {line.corrects} is matched or categorized. Undo that first."
        return RejectedLine("bank_transaction_used_up", words)
    if line.deletes and (old.posted or old.id in kept.with_history):
        words = f"The line {line.corrects} was matched or categorized once. It cannot be deleted."
        return RejectedLine("bank_transaction_used_up", words)
    return None


def _refused(line: Line, target: ImportTarget) -> RejectedLine | None:
    currency = target.bank_account.currency
    if line.account in target.statements.refused:
        return RejectedLine(
            "bank_account_mismatch", f"The statement belongs to the account {line.account}."
        )
    if line.currency not in (None, currency):
        return RejectedLine("currency_mismatch", f"The currency of the bank account is {currency}.")
    if not FIRST_YEAR <= line.booked_on.year <= LAST_YEAR:
        years = f"{FIRST_YEAR} and {LAST_YEAR}"
        return RejectedLine("validation_error", f"The date must be between {years}.")
    return None


def _stored(
    line: Line, id: UUID, name: str, target: ImportTarget, context: Context
) -> BankTransaction:
    bank_account = target.bank_account
    return BankTransaction(
        id=id,
        version=0,
        created_at=context.now,
        updated_at=context.now,
        bank_account_id=bank_account.id,
        account_id=bank_account.account_id,
        external_id=name,
        currency=bank_account.currency,
        imported_at=context.now,
        source_format=target.source_format,
        **_told(line),
    )


def _told(line: Line) -> dict[str, Any]:
    names = ("booked_on", "amount", "direction", "description", "counterparty_name", "reference")
    return {name: getattr(line, name) for name in names}
