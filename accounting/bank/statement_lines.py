"""Statement lines as they are sent: their identity, and whether they are stored."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final, Literal
from uuid import UUID

from accounting.bank.bank_accounts import BankAccount
from accounting.bank.bank_transactions import BankTransaction
from accounting.books.businesses import Context
from accounting.books.periods import FIRST_YEAR, LAST_YEAR
from accounting.money import MAX_AMOUNT

LONGEST_ID: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A statement line as it was sent; its amount in minor units, above zero.

    `iban` is the account of the statement, if the statement names it.
    """

    booked_on: date
    amount: int
    direction: Literal["credit", "debit"]
    external_id: str | None = None
    currency: str | None = None
    description: str | None = None
    counterparty_name: str | None = None
    reference: str | None = None
    iban: str | None = None


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
class KeptLines:
    """The lines of a bank account that are stored already, by their identity.

    Its statements are closed up to a day, and accept no more lines.
    """

    ids: Mapping[str, UUID]
    closed_through: date | None = None


LineResult = BankTransaction | DuplicateLine | RejectedLine
"""The result for a line: it is stored, was stored already, or failed."""


def minor_units(amount: Decimal, exponent: int) -> int:
    """Return an amount, as banks write it, in minor units: 12.50 with two decimals gives 1250.

    Raises ValueError with a sentence if it is not above zero, is too large, or has more decimals
    than the currency.
    """
    units = amount.scaleb(exponent)
    if not 0 < units <= MAX_AMOUNT:
        raise ValueError("The amount is zero." if not units else "The amount is too large.")
    if units != units.to_integral_value():
        raise ValueError(f"The amount has more than {exponent} decimals.")
    return int(units)


def identities(lines: Sequence[Line | RejectedLine], *, unique_ids: bool) -> list[str]:
    """Return the identity of each line: the bank's id, else a digest of the line and a counter.

    Two equal lines without an id have the counters 1 and 2, so that the same file gives the same
    identities again. If the bank's ids are not unique, an id that occurs on different lines is
    extended by the digest of the line. The identity of a failed line is "".
    """
    digests = [_digest(line) if isinstance(line, Line) else "" for line in lines]
    shared = set() if unique_ids else _shared(lines, digests)
    seen: Counter[str] = Counter()
    known_by: list[str] = []
    for line, digest in zip(lines, digests, strict=True):
        if isinstance(line, RejectedLine):
            known_by.append("")
        elif line.external_id is None:
            seen[digest] += 1
            known_by.append(f"line-{digest}-{seen[digest]}")
        elif line.external_id in shared:
            known_by.append(_fitting(f"{line.external_id}-{digest[:12]}"))
        else:
            known_by.append(_fitting(line.external_id))
    return known_by


def sort_out(
    lines: Sequence[Line | RejectedLine],
    known_by: Sequence[str],
    kept: KeptLines,
    bank_account: BankAccount,
    source_format: str,
    context: Context,
) -> list[LineResult]:
    """Decide for each line whether it is stored, skipped or fails.

    A line fails with `bank_account_mismatch`, `currency_mismatch`, `validation_error` or
    `bank_reconciled`; the other lines are stored all the same.
    """
    ids = dict(kept.ids)
    fates: list[LineResult] = []
    for line, name in zip(lines, known_by, strict=True):
        if isinstance(line, RejectedLine):
            fates.append(line)
        elif (failed := _refused(line, bank_account)) is not None:
            fates.append(failed)
        elif name in ids:
            fates.append(DuplicateLine(ids[name]))
        elif kept.closed_through is not None and line.booked_on <= kept.closed_through:
            words = f"The statement of {kept.closed_through} is reconciled. Reopen it first."
            fates.append(RejectedLine("bank_reconciled", words))
        else:
            made = _transaction(line, name, bank_account, source_format, context)
            ids[name] = made.id
            fates.append(made)
    return fates


def _refused(line: Line, bank_account: BankAccount) -> RejectedLine | None:
    if line.iban is not None and bank_account.iban not in (None, line.iban):
        return RejectedLine(
            "bank_account_mismatch", f"The statement belongs to the account {line.iban}."
        )
    if line.currency not in (None, bank_account.currency):
        return RejectedLine(
            "currency_mismatch", f"The currency of the bank account is {bank_account.currency}."
        )
    if not FIRST_YEAR <= line.booked_on.year <= LAST_YEAR:
        years = f"{FIRST_YEAR} and {LAST_YEAR}"
        return RejectedLine("validation_error", f"The date must be between {years}.")
    return None


def _transaction(
    line: Line, name: str, bank_account: BankAccount, source_format: str, context: Context
) -> BankTransaction:
    return BankTransaction(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        bank_account_id=bank_account.id,
        account_id=bank_account.account_id,
        external_id=name,
        booked_on=line.booked_on,
        amount=line.amount,
        direction=line.direction,
        currency=bank_account.currency,
        description=line.description,
        counterparty_name=line.counterparty_name,
        reference=line.reference,
        imported_at=context.now,
        source_format=source_format,
    )


def _shared(lines: Sequence[Line | RejectedLine], digests: Sequence[str]) -> set[str]:
    """Return the ids that occur on different lines, such as a batch's id on each of its parts."""
    said: dict[str, set[str]] = defaultdict(set)
    for line, digest in zip(lines, digests, strict=True):
        if isinstance(line, Line) and line.external_id is not None:
            said[line.external_id].add(digest)
    return {name for name, contents in said.items() if len(contents) > 1}


def _digest(line: Line) -> str:
    """Hash the content of a line; spaces and case do not count, since banks change those."""
    texts = (line.description, line.counterparty_name, line.reference)
    facts = (line.booked_on.isoformat(), str(line.amount), line.direction)
    said = [*facts, *(" ".join((text or "").casefold().split()) for text in texts)]
    return hashlib.sha256("\x1f".join(said).encode()).hexdigest()[:32]


def _fitting(name: str) -> str:
    """Shorten a name that is too long to be stored; a hash keeps it distinct."""
    if len(name) <= LONGEST_ID:
        return name
    return f"{name[:200]}-{hashlib.sha256(name.encode()).hexdigest()[:32]}"
