"""Manual entries: drafts that are approved or rejected, and reversed once they are posted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any
from uuid import UUID

from accounting.books.accounts import Account, AccountReference, usable
from accounting.books.businesses import Context, refuse_locked
from accounting.books.commands import EntryLineGiven, WriteEntry
from accounting.books.foreign import currency_of, in_base
from accounting.books.ledger import TaxMark, TaxMarker, after_lock
from accounting.books.own_amounts import with_own_amount
from accounting.errors import Conflict, RuleViolation
from accounting.money import within_bounds

Named = Mapping[AccountReference, Account]

SOURCE = "manual"
STREAM = "manual"
UNTITLED = "Manual entry"
LONGEST_DESCRIPTION = 1000
NEXT_STATES = {"draft": ["approved", "rejected"]}
"""The next states of an entry; approved and rejected entries stay so."""


@dataclass(frozen=True, slots=True)
class ManualLine:
    """A line of a manual entry, a debit above zero, a credit below; its tags count in reports.

    `amount` is in base. A line in a foreign currency also has its own `currency_amount`.
    """

    id: UUID
    account_id: UUID
    amount: int
    description: str | None = None
    tax: TaxMark | None = None
    tags: tuple[str, ...] = ()
    currency: str | None = None
    currency_amount: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ManualEntry:
    """A manual entry as it was written; once approved it is posted under the same id.

    `source_id` is the entry itself, or for a reversal the original entry.
    """

    id: UUID
    version: int
    created_at: datetime
    entry_date: date
    reference: str | None
    description: str
    currency: str
    created_by: str
    status: str
    lines: tuple[ManualLine, ...]
    source_id: UUID
    source_type: str = SOURCE
    sequence_number: str | None = None
    reversal_of_id: UUID | None = None
    reversed_by_id: UUID | None = None

    @property
    def total(self) -> int:
        """The sum of its debits."""
        return sum(line.amount for line in self.lines if line.amount > 0)


def account_references(command: WriteEntry) -> frozenset[AccountReference]:
    """List the accounts that an entry names, so that they can be loaded first."""
    return frozenset(line.account for line in command.lines)


def accounts_on(lines: Iterable[ManualLine]) -> frozenset[AccountReference]:
    """List the accounts of lines."""
    return frozenset(AccountReference("id", line.account_id) for line in lines)


def any_is_marked(lines: Iterable[EntryLineGiven | ManualLine]) -> bool:
    """Return whether a line has a tax code, so that the codes must be loaded."""
    return any(
        (line.tax if isinstance(line, ManualLine) else line.tax_code) is not None for line in lines
    )


def write(command: WriteEntry, named: Named, codes: TaxMarker, context: Context) -> ManualEntry:
    """Create an entry: a draft, or an approved one if the command posts it immediately.

    An entry by a machine is always a draft, which a person approves. Debits of 100 balance credits
    of 60 and 40. No tax is computed: the lines are taken as they are given. Raises Conflict
    `account_archived`, `tax_code_archived` or `period_locked`; RuleViolation `entry_not_balanced`,
    `amount_too_large`, `reference_not_found`, `control_account`, `tax_code_mismatch`,
    `tax_rate_missing`, `currency_amount_required`, `currency_mismatch` or
    `currency_amount_invalid`.
    """
    id_ = context.identify()
    draft = ManualEntry(
        id=id_,
        version=0,
        created_at=context.now,
        currency=context.currency,
        created_by=command.author,
        status="draft",
        source_id=id_,
        **_contents(command, named, codes, context),
    )
    if not (command.post and command.author == "manual"):
        return draft
    refuse_locked(context, draft.entry_date)
    return replace(draft, status="approved")


def rewrite(
    entry: ManualEntry, command: WriteEntry, named: Named, codes: TaxMarker, context: Context
) -> ManualEntry:
    """Replace the contents of a draft; its author stays.

    Raises Conflict `invalid_state_transition`, and what `write` raises for accounts and codes.
    """
    _refuse_unless_draft(entry, "Only a draft can be replaced.")
    return replace(entry, **_contents(command, named, codes, context))


def approve(entry: ManualEntry, named: Named, codes: TaxMarker, context: Context) -> ManualEntry:
    """Approve a draft, which is posted on its own day.

    Its accounts and tax codes are checked again: one may have been archived since, or have another
    rate or a currency. Raises Conflict `invalid_state_transition`, `period_locked`,
    `account_archived` or `tax_code_archived`; RuleViolation `control_account`, `tax_code_mismatch`,
    `tax_rate_missing`, `currency_amount_required` or `currency_mismatch`.
    """
    _refuse_unless_draft(entry, "Only a draft can be approved.")
    for reference in sorted(accounts_on(entry.lines), key=str):
        usable(reference, named.get(reference))
    for place, line in enumerate(entry.lines):
        account = named[AccountReference("id", line.account_id)]
        with_own_amount(line, account, context.currency, f"lines.{place}")
    lines = tuple(
        replace(line, tax=_marked_again(line.tax, entry.entry_date, place, codes))
        for place, line in enumerate(entry.lines)
    )
    refuse_locked(context, entry.entry_date)
    return replace(entry, status="approved", version=entry.version + 1, lines=lines)


def reject(entry: ManualEntry) -> ManualEntry:
    """Reject a draft, for good.

    Raises Conflict `invalid_state_transition`.
    """
    _refuse_unless_draft(entry, "Only a draft can be rejected.")
    return replace(entry, status="rejected")


def reverse(entry: ManualEntry, on: date | None, context: Context) -> ManualEntry:
    """Create the reversal of a posted entry: a debit of 100 becomes a credit of 100.

    Its day is the given one, else today or the first day that is not locked; never before that of
    the entry. Raises Conflict `system_entry`, `invalid_state_transition`, `already_reversed` or
    `period_locked`.
    """
    refuse_reversing(entry)
    if on is not None:
        refuse_locked(context, on)
    wanted = after_lock(context.today, context.lock_date) if on is None else on
    description = f"Reversal of {entry.sequence_number}: {entry.description}"
    return replace(
        entry,
        id=context.identify(),
        version=0,
        created_at=context.now,
        entry_date=max(wanted, entry.entry_date),
        description=description[:LONGEST_DESCRIPTION],
        created_by="manual",
        lines=tuple(replace(negated(line), id=context.identify()) for line in entry.lines),
        sequence_number=None,
        reversal_of_id=entry.id,
    )


def negated(line: ManualLine) -> ManualLine:
    """Negate both amounts of a line: a debit of 90.00 for USD 100.00 becomes the credit."""
    own = line.currency_amount
    return replace(line, amount=-line.amount, currency_amount=None if own is None else -own)


def refuse_reversing(entry: ManualEntry) -> None:
    """Refuse to reverse an entry of a document, one that is not posted, or one that is reversed.

    Raises Conflict `system_entry`, `invalid_state_transition` or `already_reversed`.
    """
    if entry.source_type != SOURCE:
        raise Conflict(
            "system_entry",
            "The entry comes from a document. Change or cancel the document instead.",
            source_type=entry.source_type,
            source_id=str(entry.source_id),
        )
    if entry.status != "approved":
        raise _refused_move(entry, "Only a posted entry can be reversed.")
    if entry.reversed_by_id is not None:
        raise Conflict(
            "already_reversed",
            "The entry is already reversed.",
            reversed_by_id=str(entry.reversed_by_id),
        )


def _contents(
    command: WriteEntry, named: Named, codes: TaxMarker, context: Context
) -> dict[str, Any]:
    """Return the fields that are replaced when an entry is written: its day, texts and lines."""
    lines = tuple(
        replace(
            _line(line, place, named, context), tax=_marked(line, command.entry_date, place, codes)
        )
        for place, line in enumerate(command.lines)
    )
    _refuse_unbalanced(lines)
    return {
        "entry_date": command.entry_date,
        "reference": command.reference,
        "description": command.description or UNTITLED,
        "lines": lines,
    }


def _line(line: EntryLineGiven, place: int, named: Named, context: Context) -> ManualLine:
    account = usable(line.account, named.get(line.account))
    amount = with_own_amount(line, account, context.currency, f"lines.{place}")
    currency = currency_of(amount)
    return ManualLine(
        id=context.identify(),
        account_id=account.id,
        amount=in_base(amount),
        description=line.description,
        tags=line.tags,
        currency=currency,
        currency_amount=None if currency is None else int(amount),
    )


def _marked(line: EntryLineGiven, on: date, place: int, codes: TaxMarker) -> TaxMark | None:
    if line.tax_code is None:
        return None
    return codes.marked(line.tax_code, line.tax_part, on, f"lines.{place}")


def _marked_again(mark: TaxMark | None, on: date, place: int, codes: TaxMarker) -> TaxMark | None:
    if mark is None:
        return None
    return codes.marked(str(mark.code_id), mark.part, on, f"lines.{place}")


def _refuse_unbalanced(lines: Sequence[ManualLine]) -> None:
    debits = sum(line.amount for line in lines if line.amount > 0)
    credits_ = -sum(line.amount for line in lines if line.amount < 0)
    if debits != credits_:
        raise RuleViolation(
            "entry_not_balanced",
            "The total debits of an entry must equal its total credits.",
            total_debit=debits,
            total_credit=credits_,
        )
    within_bounds(debits)


def _refuse_unless_draft(entry: ManualEntry, message: str) -> None:
    if entry.status != "draft":
        raise _refused_move(entry, message)


def _refused_move(entry: ManualEntry, message: str) -> Conflict:
    return Conflict.of_state(message, entry.status, NEXT_STATES.get(entry.status, ()))


# Posting rules: a name for each event that posts an entry.


_EVENTS = {
    "invoice": "invoice_sent",
    "write_off": "invoice_written_off",
    "payment": "invoice_payment",
    "refund": "invoice_refund_agreed",
    "refund_payment": "invoice_refund_paid",
    "customer_credit": "customer_credit_sent",
    "bill": "bill_received",
    "bill_write_off": "bill_written_off",
    "bill_payment": "bill_payment",
    "vendor_credit": "vendor_credit_received",
    "vendor_refund": "vendor_refund_agreed",
    "vendor_refund_payment": "vendor_refund_payment",
    "payout": "payout_paid",
    "bank_transaction": "bank_line_categorized",
    "bank_transfer": "bank_transfer",
    "opening_balance": "opening_balance",
    "revaluation": "revaluation",
    "tax_return": "tax_return_settled",
    "manual": "manual_entry",
}
_STEPS = {
    ("payment", "fee"): "invoice_payment_fee",
    ("refund_payment", "fee"): "invoice_refund_fee",
    ("customer_credit", "applied"): "customer_credit_applied",
    ("bill_payment", "fee"): "bill_payment_fee",
    ("vendor_credit", "applied"): "vendor_credit_applied",
    ("revaluation", "mirror"): "revaluation_taken_back",
}
_ALIKE = {
    "self_assessed": "self_assessed_tax",
    "rounding": "bank_rounding",
    "exchange": "bank_exchange_difference",
}
_TAKEN_BACK = {
    "invoice_written_off": "invoice_write_off_reversed",
    "bill_written_off": "bill_write_off_reversed",
}

POSTING_RULES = frozenset(
    {*_EVENTS.values(), *_STEPS.values(), *_ALIKE.values(), *_TAKEN_BACK.values()}
)
"""The names of all posting rules."""


def posting_rule(source_type: str, stream: str, *, reverses: bool = False) -> str:
    """Return the name of the rule that posted an entry of a source, in one of its streams.

    Applying a credit is `customer_credit_applied`; what a payment settles later is posted by the
    rule of the payment. A reversal has the name of the reversed entry's rule; only the reversal of
    a write-off is an event of its own.
    """
    found = _ALIKE.get(stream) or _STEPS.get((source_type, _step(stream))) or _EVENTS[source_type]
    return _TAKEN_BACK.get(found, found) if reverses else found


def _step(stream: str) -> str:
    """Return the last word of a stream, such as of `claims USD 0 mirror`."""
    return stream.rpartition(" ")[2]
