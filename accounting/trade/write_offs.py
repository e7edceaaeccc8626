"""Write-offs of open documents, and their reversal."""

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final
from uuid import UUID

from accounting.absent import or_else
from accounting.books.accounts import AccountReference, BookAccounts, named_or
from accounting.books.businesses import Context, refuse_locked
from accounting.books.foreign import share_of
from accounting.books.ledger import (
    Days,
    Part,
    PostedEntry,
    Split,
    TaxPart,
    after_lock,
    days,
    negative,
)
from accounting.books.numbers import Number
from accounting.books.time_zones import stored_day
from accounting.errors import Conflict
from accounting.money import capped
from accounting.trade import documents
from accounting.trade.allocation import refuse_more_than_left, refuse_not_open
from accounting.trade.commands import WriteOffDocument
from accounting.trade.documents import Document, LineShares
from accounting.trade.parties import Party
from accounting.trade.remaining_by_line import over_lines, parts_left, record_credited_lines
from accounting.trade.sides import Side

CHARGED: Final = frozenset({TaxPart.OUTPUT, TaxPart.INPUT})


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOff:
    """A write-off as it is stored; live while it has no `reversed_at`.

    `split` lists the parts of the document that it settled; `relieved` the tax that it reverses,
    and the net of that tax; and `lines` these amounts by line. It is dated no earlier than
    `document_date`, the day the document opened.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    document_id: UUID
    document_number: Number
    document_date: date
    party: Party
    external_id: str | None
    amount: int
    account_id: UUID
    write_off_at: datetime
    reversed_at: datetime | None
    split: Split
    written_off_on: date | None = None
    reversed_on: date | None = None
    tax_relief: bool = False
    relieved: Split = ()
    lines: LineShares = ()
    memo: str | None = None
    tags: tuple[tuple[str, str], ...] = ()
    posted: tuple[PostedEntry, ...] = ()


def account_references(command: WriteOffDocument) -> frozenset[AccountReference]:
    """Return the account that is written off to, so that it can be loaded first."""
    return frozenset() if command.account is None else frozenset({command.account})


def write_off(
    side: Side,
    document: Document,
    command: WriteOffDocument,
    accounts: BookAccounts,
    context: Context,
) -> tuple[Document, WriteOff]:
    """Write off an amount of an open document, by default all that is left of it.

    Of 1000 with 300 paid, that is 700. Raises the side's API error for a document that is not open;
    Conflict `period_locked` or `account_archived`; RuleViolation `allocation_exceeds_outstanding`,
    `reference_not_found` or `control_account`.
    """
    refuse_not_open(side, document)
    at = command.write_off_at or context.now
    day = context.day_of(at)
    if command.write_off_at is not None:
        refuse_locked(context, day)
    amount = or_else(command.amount, documents.left(document))
    refuse_more_than_left(side, document, amount)
    accounts = accounts.of(document.currency, context.currency)
    account_id = named_or(accounts.roles[side.written_off], command.account, accounts)
    split = documents.share_out(document, amount)
    relieved, lines = _relieved(document, split, account_id, relief=command.tax_relief)
    written_off = WriteOff(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        document_id=document.id,
        document_number=document.number,
        document_date=documents.opened_on(document),
        party=document.party,
        external_id=command.external_id,
        amount=amount,
        account_id=account_id,
        write_off_at=at,
        written_off_on=day,
        reversed_at=None,
        split=split,
        tax_relief=command.tax_relief,
        relieved=relieved,
        lines=lines,
        memo=command.memo,
        tags=command.tags,
    )
    begin, _ = written_off_days(written_off)
    on = after_lock(begin, context.lock_date)
    settled = documents.settle(document, amount, split, on, "written_off")
    return replace(record_credited_lines(settled, lines), updated_at=context.now), written_off


def reverse(
    document: Document, written_off: WriteOff, context: Context
) -> tuple[Document, WriteOff]:
    """Reverse a write-off: the amount is outstanding again.

    Raises Conflict `invalid_state_transition` if it is reversed already.
    """
    if written_off.reversed_at is not None:
        raise Conflict.of_state("The write-off is already reversed.", "reversed")
    split = negative(written_off.split)
    owed = documents.settle(document, -written_off.amount, split, by="written_off")
    taken_back = replace(
        written_off,
        reversed_at=context.now,
        reversed_on=context.today,
        updated_at=context.now,
    )
    whole = record_credited_lines(owed, written_off.lines, -1)
    return replace(whole, updated_at=context.now), taken_back


def _relieved(
    document: Document, split: Split, account_id: UUID, *, relief: bool
) -> tuple[Split, LineShares]:
    """Return the tax that a write-off reverses, by part on its accounts, and by line.

    Withheld tax is always reversed: nothing is withheld from an amount that is written off. Charged
    tax is reversed if `relief` is true, with its net on the account that is written off to. Neither
    is more than credits and refunds have left. Of 120 with 60 paid, 60 takes 50 and 10.
    """
    left = parts_left(document)
    settled = documents.on_own_accounts(document, split)
    # Where a line is below zero, credits may leave less than zero of a code: it has no relief.
    charged = {
        (part.tax.code_id, part.tax.rate)
        for part, _ in settled
        if part.tax and part.tax.part in CHARGED and left[part] >= 0
    }
    taken, relieved = [], []
    for part, share in settled:
        mark = part.tax
        if mark is None:
            continue
        own = part if mark.part is TaxPart.WITHHELD else None
        if relief and mark.part in CHARGED:
            own = Part(part.account_id, replace(mark, part=TaxPart.RELIEF))
        if relief and mark.part is TaxPart.NET and (mark.code_id, mark.rate) in charged:
            own = Part(account_id, replace(mark, part=TaxPart.RELIEF_NET))
        if own is not None:
            back = capped(share, left[part])
            taken.append((part, back))
            relieved.append((own, share_of(share, back)))
    return tuple(relieved), over_lines(document, tuple(taken))


def tax_taken_back(relieved: Split) -> int:
    """Return the tax that is reversed with relief: of 50 net and 10 tax, 10."""
    return sum(
        amount
        for part, amount in relieved
        if part.tax is not None and part.tax.part is TaxPart.RELIEF
    )


def refuse_elsewhere(side: Side, document: Document, known: WriteOff) -> None:
    """Refuse an external id that a write-off of another document has.

    Raises Conflict `duplicate_external_id`.
    """
    if known.document_id != document.id:
        raise Conflict(
            "duplicate_external_id",
            f"A write-off of another {side.words.document} has this external_id.",
            external_id=known.external_id,
            id=str(known.id),
            **{side.names.document_id: str(known.document_id)},
        )


def written_off_on(written_off: WriteOff) -> date:
    """Return the day of a write-off."""
    return stored_day(written_off.written_off_on, written_off.write_off_at)


def written_off_days(written_off: WriteOff) -> Days:
    """Return the days on which the write-off was in effect."""
    begin = written_off_on(written_off)
    end = stored_day(written_off.reversed_on, written_off.reversed_at)
    return days(begin, end, written_off.document_date)
