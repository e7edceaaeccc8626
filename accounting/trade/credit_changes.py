"""Credits as they are drawn up, sent, allocated and voided, and the documents they settle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Any
from uuid import UUID

from accounting.books.accounts import AccountReference, BookAccounts, account_reference, named_or
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
    items_given,
    items_of,
    live,
    moved,
    rearrange,
)
from accounting.trade.credits import Credit, CreditLine
from accounting.trade.documents import Document
from accounting.trade.parties import Party, refuse_inactive, refuse_reference_mismatch
from accounting.trade.refunds import Refund
from accounting.trade.sides import Side

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Credited:
    """A credit as it is now, the documents it touches, and which of them its change moved."""

    credit: Credit
    documents: Mapping[UUID, Document]
    changed: tuple[Document, ...]


def account_references(side: Side, body: Body) -> frozenset[AccountReference]:
    """List the accounts that a body names, so that they can be loaded first."""
    named = (item.get(side.credit_account_field) for item in body["line_items"])
    return frozenset(account_reference(each) for each in named if each is not None)


def draw_up(
    side: Side,
    body: Body,
    party: Party,
    accounts: BookAccounts,
    loaded: Documents,
    context: Context,
) -> Credited:
    """Make a credit from the body of a create; with a date it is sent, and may be allocated.

    Lines of 1000 with 200 tax and 500 come to 1700. Raises Malformed `validation_error`; Conflict
    `credit_not_sent`, `customer_archived`, `account_archived` or `period_locked`; RuleBroken
    `currency_mismatch`, `amount_too_large`, `reference_not_found`, `reference_mismatch`,
    `control_account`, `allocation_exceeds_total` or `allocation_exceeds_outstanding`; the side's
    refusals.
    """
    wanted = items_given(side, body.get("allocations") or (), "amount")
    refuse_inactive(side, party)
    refuse_reference_mismatch(party, body.get(side.party_external_id_field))
    refuse_other_currency(body.get("currency"), context)
    draft = _draft(side, body, party, accounts, context)
    at = body.get(side.opened_field)
    drawn = draft if at is None else _opened(side, draft, at, context)
    return _allocated(side, None, drawn, wanted, loaded, context)


def _draft(
    side: Side, body: Body, party: Party, accounts: BookAccounts, context: Context
) -> Credit:
    """Work out the lines of a credit and what they come to, and keep what is said of it."""
    lines = tuple(_line(side, item, accounts, context) for item in body["line_items"])
    tax_total = within_bounds(sum(line.tax_amount for line in lines))
    return Credit(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        party=party,
        external_id=body.get("external_id"),
        number=body.get(side.credit_number_field),
        state="draft",
        currency=context.currency,
        opened_at=None,
        voided_at=None,
        source_document_id=body.get(f"source_{side.document_id_field}"),
        refund_id=None,
        lines=lines,
        tax_account_id=accounts.roles[side.tax],
        tax_total=tax_total,
        total_amount=within_bounds(sum(line.amount for line in lines) + tax_total),
        **_described(body),
    )


def replaced(
    side: Side, credit: Credit, body: Body, loaded: Documents, context: Context
) -> Credited:
    """Replace what a credit says: its descriptions, and its allocations where a list is given.

    A list replaces the live allocations, and unchanged items keep their date. A draft is sent by a
    date. Where nothing changes, the credit comes back as the same object. Raises Conflict
    `invalid_state_transition`, `credit_not_sent`, `customer_archived` or `period_locked`;
    RuleBroken `immutable_field`, `allocation_exceeds_total` or `allocation_exceeds_outstanding`;
    the side's refusals.
    """
    given = body.get("allocations")
    wanted = items_of(credit.allocations) if given is None else items_given(side, given, "amount")
    if credit.state == "void":
        raise _refused_move(side, credit, "A void credit stays as it is.")
    redrawn = replace(credit, **_described(body))
    at = body.get(side.opened_field)
    if at is not None and credit.state == "draft":
        redrawn = _opened(side, redrawn, at, context)
    elif at is not None and at != credit.opened_at:
        raise RuleBroken(
            "immutable_field",
            f"The {side.opened_field} of a credit does not change.",
            field=side.opened_field,
        )
    return _allocated(side, credit, redrawn, wanted, loaded, context)


def void(side: Side, credit: Credit, voided_at: datetime | None, context: Context) -> Credit:
    """Take a sent credit back, at a given moment or now.

    Raises Conflict `invalid_state_transition`, `credit_of_refund`, `credit_applied` or
    `period_locked`.
    """
    if credit.state != "open":
        raise _refused_move(side, credit, f"Only a {side.opened_word} credit can be voided.")
    if credit.refund_id is not None:
        raise Conflict(
            "credit_of_refund",
            "The credit is a part of a refund and goes with it.",
            refund_id=str(credit.refund_id),
        )
    used = credits.applied(credit)
    if used:
        raise Conflict(
            "credit_applied", "The credit is applied. Take that back first.", applied_amount=used
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
            f"Only a {side.opened_word} credit can be applied.",
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


def _line(side: Side, item: Body, accounts: BookAccounts, context: Context) -> CreditLine:
    default = accounts.roles[side.credit_line_default]
    return CreditLine(
        id=context.identify(),
        account_id=named_or(default, item.get(side.credit_account_field), accounts),
        amount=item["amount"],
        tax_amount=item.get("tax_amount_cents") or 0,
        memo=item.get("memo"),
        tags=tuple(item.get("tags") or ()),
        metadata=item.get("metadata"),
    )


def _described(body: Body) -> dict[str, Any]:
    return {
        "memo": body.get("memo"),
        "transaction_tags": tuple(body.get("tags") or ()),
        "metadata": body.get("metadata"),
    }


def _refused_move(side: Side, credit: Credit, message: str) -> Conflict:
    allowed = [side.opened_word] if credit.state == "draft" else []
    return Conflict.of_state(message, credits.status(side, credit), allowed)
