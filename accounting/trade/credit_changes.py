"""Credits as they are made, sent, allocated and voided, and the documents they settle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from uuid import UUID

from accounting.absent import or_else
from accounting.books.accounts import AccountReference, BookAccounts, named_or
from accounting.books.chart import Roles
from accounting.books.context import Context, refuse_locked, refuse_other_currency
from accounting.books.numbers import Pending
from accounting.books.splits import added, negative, take
from accounting.errors import Conflict, RuleBroken
from accounting.money import within_bounds
from accounting.trade import credits
from accounting.trade.allocation import (
    Allocation,
    AllocationItem,
    AllocationSource,
    Documents,
    items_of,
    live,
    moved,
    rearrange,
    refuse_repeated,
)
from accounting.trade.commands import CreditLineGiven, ReplaceCredit, WriteCredit
from accounting.trade.credits import Credit, CreditLine
from accounting.trade.documents import Document
from accounting.trade.in_opening import refuse_in_opening
from accounting.trade.parties import Party, refuse_inactive, refuse_reference_mismatch
from accounting.trade.refunds import Refund
from accounting.trade.sides import Side


@dataclass(frozen=True, slots=True)
class Credited:
    """A credit as it is now, the documents it touches, and which of them its change moved."""

    credit: Credit
    documents: Mapping[UUID, Document]
    changed: tuple[Document, ...]


def account_references(command: WriteCredit) -> frozenset[AccountReference]:
    """List the accounts that a credit names, so that they can be loaded first."""
    return frozenset(line.account for line in command.lines if line.account is not None)


def create(
    side: Side,
    command: WriteCredit,
    party: Party,
    accounts: BookAccounts,
    loaded: Documents,
    context: Context,
) -> Credited:
    """Make a credit; with a moment it is sent, and may be allocated.

    Lines of 1000 with 200 tax and 500 come to 1700. Raises Malformed `validation_error`; Conflict
    `credit_not_sent`, `customer_archived`, `account_archived` or `period_locked`; RuleBroken
    `currency_mismatch`, `amount_too_large`, `reference_not_found`, `reference_mismatch`,
    `control_account`, `allocation_exceeds_total` or `allocation_exceeds_outstanding`; the side's
    refusals.
    """
    refuse_repeated(side, command.allocations)
    refuse_inactive(side, party)
    refuse_reference_mismatch(party, command.party.external_id)
    refuse_other_currency(command.currency, context)
    credit = _draft(side, command, party, accounts, context)
    if command.opened_at is not None:
        credit = _opened(side, credit, command.opened_at, context)
    return _allocated(side, None, credit, command.allocations, loaded, context)


def _draft(
    side: Side, command: WriteCredit, party: Party, accounts: BookAccounts, context: Context
) -> Credit:
    """Work out the lines of a credit and what they come to, and keep what is said of it."""
    lines = tuple(_line(side, line, accounts, context) for line in command.lines)
    tax_total = within_bounds(sum(line.tax_amount for line in lines))
    return Credit(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        party=party,
        external_id=command.external_id,
        number=command.number,
        state="draft",
        currency=context.currency,
        opened_at=None,
        voided_at=None,
        source_document_id=command.source_document_id,
        refund_id=None,
        lines=lines,
        tax_account_id=accounts.roles[side.tax],
        tax_total=tax_total,
        total_amount=within_bounds(sum(line.amount for line in lines) + tax_total),
        memo=command.memo,
        transaction_tags=command.transaction_tags,
        metadata=command.metadata,
    )


def replaced(
    side: Side, credit: Credit, command: ReplaceCredit, loaded: Documents, context: Context
) -> Credited:
    """Replace what a credit says: its descriptions, and its allocations where a list is given.

    A list replaces the live allocations, and unchanged items keep their date. A draft is sent by a
    date. Where nothing changes, the credit comes back as the same object. Raises Conflict
    `invalid_state_transition`, `credit_not_sent`, `customer_archived` or `period_locked`;
    RuleBroken `immutable_field`, `allocation_exceeds_total` or `allocation_exceeds_outstanding`;
    the side's refusals.
    """
    wanted = or_else(command.allocations, items_of(credit.allocations))
    refuse_repeated(side, wanted)
    if credit.state == "void":
        raise _refused_move(side, credit, "A void credit stays as it is.")
    written = replace(
        credit,
        memo=command.memo,
        transaction_tags=command.transaction_tags,
        metadata=command.metadata,
    )
    at = command.opened_at
    if at is not None and credit.state == "draft":
        written = _opened(side, written, at, context)
    elif at is not None and at != credit.opened_at:
        raise RuleBroken(
            "immutable_field",
            f"The {side.names.opened_at} of a credit does not change.",
            field=side.names.opened_at,
        )
    return _allocated(side, credit, written, wanted, loaded, context)


def void(side: Side, credit: Credit, voided_at: datetime | None, context: Context) -> Credit:
    """Take a sent credit back, at a given moment or now.

    Raises Conflict `invalid_state_transition`, `credit_of_refund`, `in_opening_balance`,
    `credit_applied` or `period_locked`.
    """
    if credit.state != "open":
        raise _refused_move(side, credit, f"Only a {side.opened_status} credit can be voided.")
    if credit.refund_id is not None:
        raise Conflict(
            "credit_of_refund",
            "The credit is a part of a refund and goes with it.",
            refund_id=str(credit.refund_id),
        )
    refuse_in_opening(credit.opening_id, "credit")
    used = credits.applied(credit)
    if used:
        documents = [str(each.document_id) for each in live(credit.allocations)]
        raise Conflict(
            "credit_applied",
            "The credit is applied. Take that back first.",
            applied_amount=used,
            **{f"{side.names.document_id}s": documents},
        )
    if voided_at is not None:
        refuse_locked(context, voided_at.date())
    at = voided_at or context.now
    return replace(credit, state="void", voided_at=at, updated_at=context.now)


def of_refund(
    side: Side,
    refund: Refund,
    amount: int,
    accounts: Roles,
    context: Context,
    *,
    on: date,
    number: Pending,
) -> Credit:
    """Make the credit that a part of a refund is kept as, sent on a day."""
    line = CreditLine(
        id=context.identify(),
        account_id=accounts[side.credit_line_default],
        amount=amount,
        tax_amount=0,
    )
    return Credit(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        party=refund.party,
        external_id=None,
        number=number,
        state="open",
        currency=context.currency,
        opened_at=datetime.combine(on, time(), UTC),
        voided_at=None,
        source_document_id=None,
        refund_id=refund.id,
        lines=(line,),
        tax_account_id=accounts[side.tax],
        tax_total=0,
        total_amount=amount,
    )


def withdraw(side: Side, credit: Credit, loaded: Documents, context: Context) -> Credited:
    """Take a credit back with the refund that keeps it; what it settled is owed again, today."""
    released = _allocated(side, credit, credit, [], loaded, context)
    voided = replace(released.credit, state="void", voided_at=context.now, updated_at=context.now)
    return Credited(voided, released.documents, released.changed)


def _allocated(
    side: Side,
    before: Credit | None,
    credit: Credit,
    wanted: Sequence[AllocationItem],
    loaded: Documents,
    context: Context,
) -> Credited:
    """Bring allocations and documents in line with what is wanted of the credit."""
    if wanted and credit.state != "open":
        raise Conflict(
            "credit_not_sent",
            f"Only a {side.opened_status} credit can be applied.",
            current_state=credit.state,
        )
    source = AllocationSource(
        party_id=credit.party.id,
        total=credit.total_amount,
        held=0,
        by="credited",
        applied=True,
        start=None if before is None else context.today,
        end=context.today,
        identify=context.identify,
        applied_on=lambda each: credits.applied_on(credit, each, context.lock_date),
    )
    allocations, after = rearrange(side, credit.allocations, wanted, loaded, source)
    settled = _with_own_splits(credit, allocations)
    if before is not None and settled == before:
        return Credited(before, loaded, ())
    changed = moved(after, loaded, context.now)
    return Credited(
        replace(settled, updated_at=context.now), {**after, **changed}, tuple(changed.values())
    )


def _with_own_splits(credit: Credit, allocations: Sequence[Allocation]) -> Credit:
    """Let what ended give its parts of the credit back, then let what begins take its own."""
    held = {each.id for each in live(credit.allocations)}
    ended = [each for each in allocations if each.id in held and each.end is not None]
    settled = added(credit.settled, *(negative(each.own_split) for each in ended))
    history = []
    for each in allocations:
        if not each.own_split:
            own_split = take(credits.parts(credit), settled, each.amount)
            settled = added(settled, own_split)
            history.append(replace(each, own_split=own_split))
        else:
            history.append(each)
    return replace(credit, allocations=tuple(history), settled=settled)


def _opened(side: Side, credit: Credit, at: datetime, context: Context) -> Credit:
    refuse_inactive(side, credit.party)
    refuse_locked(context, at.date())
    number = credit.number or Pending(side.credit_series)
    return replace(credit, state="open", opened_at=at, number=number)


def _line(
    side: Side, line: CreditLineGiven, accounts: BookAccounts, context: Context
) -> CreditLine:
    return CreditLine(
        id=context.identify(),
        account_id=named_or(accounts.roles[side.credit_line_default], line.account, accounts),
        amount=line.amount,
        tax_amount=line.tax_amount,
        memo=line.memo,
        tags=line.tags,
        metadata=line.metadata,
    )


def _refused_move(side: Side, credit: Credit, message: str) -> Conflict:
    allowed = [side.opened_status] if credit.state == "draft" else []
    return Conflict.of_state(message, credits.status(side, credit), allowed)
