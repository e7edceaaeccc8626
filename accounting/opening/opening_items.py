"""What is open when books are opened: documents, credits and money in advance, as any others are.

What they stand for was sold, bought and taxed elsewhere: in these books they come from opening
balance equity, on the day of the opening.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from accounting.books.chart import Role, Roles
from accounting.books.context import Context, refuse_other_currency
from accounting.books.numbers import Number, Pending
from accounting.books.spans import Span
from accounting.books.splits import Part
from accounting.errors import RuleBroken, about_item
from accounting.money import within_bounds
from accounting.opening.commands import (
    OpenCreditGiven,
    OpenDocumentGiven,
    OpenItem,
    OpenWithSide,
    PrepaymentGiven,
)
from accounting.opening.openings import OpenedWith
from accounting.trade.credits import Credit, CreditLine
from accounting.trade.document_changes import opened
from accounting.trade.documents import Document, LineItem
from accounting.trade.parties import Party, refuse_inactive, refuse_reference_mismatch
from accounting.trade.party_details import PartyNamed
from accounting.trade.payments import Payment
from accounting.trade.sides import Side

Parties = Mapping[PartyNamed, Party]
Parts = Sequence[tuple[Part, int]]
"""What something that is open is made of; it sums to what is open."""


@dataclass(frozen=True, slots=True)
class Day:
    """The opening that items belong to: which one, on which day, and on which accounts."""

    opening_id: UUID
    on: date
    roles: Roles


def opened_with(
    side: Side, given: OpenWithSide, parties: Parties, day: Day, context: Context
) -> OpenedWith:
    """Make all that is open with one side.

    What has no number takes the next ones of its series, in the order of the request. Raises
    RuleBroken `dated_after_opening`, `currency_mismatch` or `reference_mismatch`; Conflict
    `customer_archived` or `vendor_not_active`; each tells the item.
    """
    numbers = _numbers(side.series, [each.number for each in given.documents])
    credit_numbers = _numbers(side.credit_series, [each.number for each in given.credits])
    parties_of = {each.place: _party(side, each, parties, context) for each in given.items}
    return OpenedWith(
        tuple(
            _document(side, each, parties_of[each.place], number, day, context)
            for each, number in zip(given.documents, numbers, strict=True)
        ),
        tuple(
            _credit(side, each, parties_of[each.place], number, day, context)
            for each, number in zip(given.credits, credit_numbers, strict=True)
        ),
        tuple(
            _prepayment(each, parties_of[each.place], day, context) for each in given.prepayments
        ),
    )


def lines_of(parts: Parts, context: Context) -> tuple[LineItem, ...]:
    """Write what is open of a document as its lines, one for each part."""
    return tuple(
        LineItem(
            id=context.identify(),
            account_id=part.account_id,
            quantity=Decimal(1),
            unit_price=amount,
            discount_amount=0,
            discount_share=0,
            subtotal=amount,
            taxes=(),
            tax_rate=None,
        )
        for part, amount in parts
    )


def credit_lines_of(parts: Parts, context: Context) -> tuple[CreditLine, ...]:
    """Write what is open of a credit as its lines, one for each part."""
    return tuple(
        CreditLine(id=context.identify(), account_id=part.account_id, amount=amount)
        for part, amount in parts
    )


def _parts(given: OpenItem, day: Day) -> Parts:
    return [(Part(day.roles[Role.OPENING_BALANCE_EQUITY]), within_bounds(given.amount))]


def _numbers(series: str, given: Sequence[str | None]) -> list[Number]:
    numbers: list[Number] = []
    taken = 0
    for number in given:
        numbers.append(number or Pending(series, taken))
        taken += number is None
    return numbers


def _party(side: Side, given: OpenItem, parties: Parties, context: Context) -> Party:
    party = parties[given.party]
    with about_item(given.place):
        refuse_inactive(side, party)
        refuse_reference_mismatch(party, given.party.external_id)
        refuse_other_currency(given.currency, context)
    return party


def _document(
    side: Side,
    given: OpenDocumentGiven,
    party: Party,
    number: Number,
    day: Day,
    context: Context,
) -> Document:
    """Make a document over what is still owed of it; it is due by its own dates.

    It is sent on its own day and stands in the books from that of the opening: an invoice of
    3 November that is due on 3 December is overdue when books are opened on 31 December.
    """
    opened_at = given.opened_at or _midnight(given.issue_date)
    _refuse_later(given, day, given.issue_date, opened_at.date())
    draft = Document(
        **_common(given, party, day, context),
        number=number,
        party_number=given.party_number,
        state="draft",
        issue_date=given.issue_date,
        opened_at=None,
        opened_on=None,
        due_at=given.due_at,
        voided_at=None,
        paid_on=None,
        imported_at=context.now,
        lines=lines_of(_parts(given, day), context),
        additional_discount=0,
        subtotal=given.amount,
        discount_total=0,
        tax_total=0,
        total_amount=given.amount,
        memo=given.memo,
    )
    return replace(opened(side, draft, opened_at), opened_on=day.on)


def _credit(
    side: Side, given: OpenCreditGiven, party: Party, number: Number, day: Day, context: Context
) -> Credit:
    _refuse_later(given, day, given.opened_at.date())
    return Credit(
        **_common(given, party, day, context),
        number=number,
        state="open",
        opened_at=given.opened_at,
        opened_on=day.on,
        voided_at=None,
        source_document_id=None,
        refund_id=None,
        lines=credit_lines_of(_parts(given, day), context),
        tax_account_id=day.roles[side.tax],
        tax_total=0,
        total_amount=given.amount,
        memo=given.memo,
    )


def _prepayment(given: PrepaymentGiven, party: Party, day: Day, context: Context) -> Payment:
    """Make a completed payment of the money that is left; nothing is settled before the opening."""
    _refuse_later(given, day, given.payment_date)
    return Payment(
        **_common(given, party, day, context),
        total=within_bounds(given.amount),
        payment_date=given.payment_date,
        method=given.method,
        processor=None,
        fee=0,
        status="completed",
        completions=(Span(day.on),),
        allocations=(),
        payment_reference=given.reference,
        note=given.memo,
    )


def _common(given: OpenItem, party: Party, day: Day, context: Context) -> dict[str, Any]:
    return {
        "id": context.identify(),
        "version": 0,
        "created_at": context.now,
        "updated_at": context.now,
        "party": party,
        "external_id": given.external_id,
        "currency": context.currency,
        "opening_id": day.opening_id,
    }


def _midnight(on: date) -> datetime:
    return datetime.combine(on, time(), UTC)


def _refuse_later(given: OpenItem, day: Day, *dates: date) -> None:
    """Refuse what is dated after the opening: it belongs to these books as any other."""
    latest = max(dates)
    if latest > day.on:
        with about_item(given.place):
            raise RuleBroken(
                "dated_after_opening",
                "It is dated after the day on which the books are opened. Record it as any other.",
                date=latest.isoformat(),
                opening_date=day.on.isoformat(),
            )
