"""A document from the body of a request: the accounts it names, and the arithmetic of its lines."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from accounting.books.accounts import AccountReference, BookAccounts, account_reference, named_or
from accounting.books.context import Context, refuse_locked, refuse_other_currency
from accounting.errors import Malformed, RuleBroken
from accounting.money import EXACT, split, times, within_bounds
from accounting.trade.document_moves import opened, refuse_replacing
from accounting.trade.documents import Document, LineItem, Tax, opened_on
from accounting.trade.parties import Party, refuse_inactive, refuse_reference_mismatch
from accounting.trade.sides import Side

Body = Mapping[str, Any]

QUANTITY_DECIMALS = 6
RATE_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class _Priced:
    """A line whose price is known and whose taxes are not."""

    body: Body
    quantity: Decimal
    tax_rate: Decimal | None
    discount: int
    subtotal: int


def account_references(body: Body) -> frozenset[AccountReference]:
    """List the accounts that a body names, so that they can be loaded first."""
    return frozenset(_named(body))


def draw_up(
    side: Side, body: Body, party: Party, accounts: BookAccounts, context: Context
) -> Document:
    """Make a document from the body of a create; with a `sent_at` it opens at once.

    Two at 1000 less 100, less 90 on the whole, with 20 % tax, come to 2172. Raises Malformed
    `validation_error`; RuleBroken `currency_mismatch`, `negative_amount`, `amount_too_large`,
    `reference_not_found`, `reference_mismatch` or `control_account`; Conflict `account_archived`,
    `customer_archived` or `period_locked`.
    """
    refuse_inactive(side, party)
    refuse_reference_mismatch(party, body.get(side.party_external_id_field))
    draft = Document(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        party=party,
        external_id=body.get("external_id"),
        number=body.get(side.number_field),
        state="draft",
        currency=context.currency,
        opened_at=None,
        opened_on=None,
        voided_at=None,
        paid_on=None,
        imported_at=body.get("imported_at"),
        **_worked_out(side, body, accounts, context, ()),
    )
    sent_at = body.get(side.opened_field)
    return draft if sent_at is None else _opened(side, draft, sent_at, None, context)


def redraw(
    side: Side,
    document: Document,
    body: Body,
    party: Party,
    accounts: BookAccounts,
    context: Context,
) -> Document:
    """Make a document anew from the body of a replacement.

    Its identity, numbers, external id and the moment it was sent stay where the body has none, and
    so does its date where the ledger goes by it; what else is absent is cleared. A draft with a
    `sent_at` opens. Refuses what `draw_up` refuses, and a document that is void or that something
    is allocated to.
    """
    refuse_replacing(side, document, context)
    if party.id != document.party.id:
        refuse_inactive(side, party)
    refuse_reference_mismatch(party, body.get(side.party_external_id_field))
    drawn = replace(
        document,
        party=party,
        external_id=body.get("external_id") or document.external_id,
        number=body.get(side.number_field) or document.number,
        **_worked_out(side, {**_kept(side, document), **body}, accounts, context, document.lines),
    )
    opened_at = body.get(side.opened_field) or document.opened_at
    if opened_at is not None:
        drawn = _opened(side, drawn, opened_at, document.opened_at, context)
    return document if drawn == document else replace(drawn, updated_at=context.now)


def _kept(side: Side, document: Document) -> Body:
    """Say what a replacement leaves as it is where it says nothing of it."""
    date = {side.issue_field: document.issue_date} if side.dated_by_issue else {}
    if side.party_number_field is None:
        return date
    return {**date, side.party_number_field: document.party_number}


def _opened(
    side: Side, drawn: Document, at: datetime, before: datetime | None, context: Context
) -> Document:
    """Open what was drawn; a day that it does not have yet must lie outside the lock."""
    if before is None:
        refuse_inactive(side, drawn.party)
    opening = opened(side, drawn, at)
    if drawn.opened_on != opening.opened_on:
        refuse_locked(context, opened_on(opening))
    return opening


def _named(body: Body) -> Iterator[AccountReference]:
    for item in body["line_items"]:
        if item.get("account_identifier") is not None:
            yield account_reference(item["account_identifier"])
        for tax in item.get("sales_taxes") or ():
            if tax.get("tax_account") is not None:
                yield account_reference(tax["tax_account"])


def _worked_out(
    side: Side,
    body: Body,
    accounts: BookAccounts,
    context: Context,
    before: Sequence[LineItem],
) -> dict[str, Any]:
    """Work out every field of a document that follows from its body alone."""
    refuse_other_currency(body.get("currency"), context)
    priced = _priced_lines(body["line_items"])
    discount = body.get("additional_discount") or 0
    subtotal = within_bounds(sum(line.subtotal for line in priced))
    _refuse_larger(discount, subtotal)
    shares = split(discount, [line.subtotal for line in priced])
    taxes = _taxes(side, priced, shares, accounts)
    identifiers = _identifiers(before, len(priced), context)
    lines = tuple(map(_line, identifiers, priced, shares, taxes, _accounts(side, priced, accounts)))
    tax_total = sum(line.tax_total for line in lines)
    return {
        "issue_date": body.get(side.issue_field),
        "party_number": body.get(side.party_number_field) if side.party_number_field else None,
        "terms": body.get("terms"),
        "due_at": body.get("due_at"),
        "lines": lines,
        "additional_discount": discount,
        "subtotal": subtotal,
        "discount_total": within_bounds(sum(line.discount for line in priced) + discount),
        "tax_total": within_bounds(tax_total),
        "total_amount": within_bounds(subtotal - discount + tax_total),
        "memo": body.get("memo"),
        "transaction_tags": tuple(body.get("transaction_tags") or ()),
        "metadata": body.get("metadata"),
    }


def _refuse_larger(discount: int, subtotal: int) -> None:
    if discount > subtotal:
        raise RuleBroken(
            "negative_amount",
            "The discount is larger than what it is taken from.",
            field="additional_discount",
            amount=subtotal - discount,
        )


def _identifiers(before: Sequence[LineItem], count: int, context: Context) -> list[UUID]:
    """Name the lines: one that stays in its place keeps its identifier."""
    kept = [line.id for line in before[:count]]
    return kept + [context.identify() for _ in range(count - len(kept))]


def _priced_lines(items: Sequence[Body]) -> list[_Priced]:
    quantities = [Decimal(str(item.get("quantity", 1))) for item in items]
    rates = [_rate(item.get("tax_rate")) for item in items]
    faults = {
        f"line_items.{place}.{name}": [fault]
        for place, item in enumerate(items)
        for name, fault in _line_faults(item, quantities[place], rates[place])
    }
    if faults:
        raise Malformed.fields(**faults)
    return list(map(_priced, range(len(items)), items, quantities, rates))


def _rate(given: Any) -> Decimal | None:
    return None if given is None else Decimal(str(given))


def _line_faults(item: Body, quantity: Decimal, rate: Decimal | None) -> Iterator[tuple[str, str]]:
    """Find what a pattern in the contract cannot say of a number written as a string."""
    if not quantity.is_finite() or quantity <= 0 or _decimals(quantity) > QUANTITY_DECIMALS:
        yield "quantity", f"must be above 0 with at most {QUANTITY_DECIMALS} decimals"
    if rate is None:
        return
    if not rate.is_finite() or rate < 0 or _decimals(rate) > RATE_DECIMALS:
        yield "tax_rate", f"must not be below 0, with at most {RATE_DECIMALS} decimals"
    if item.get("sales_taxes"):
        yield "tax_rate", "cannot stand beside sales_taxes"


def _decimals(value: Decimal) -> int:
    """Count the decimals that say something: 1.50 has one."""
    exponent = value.normalize(EXACT).as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def _priced(place: int, item: Body, quantity: Decimal, rate: Decimal | None) -> _Priced:
    discount = item.get("discount_amount") or 0
    subtotal = within_bounds(times(item["unit_price"], quantity) - discount)
    if subtotal < 0:
        raise RuleBroken(
            "negative_amount",
            "The amount of a line is below zero.",
            field=f"line_items.{place}",
            amount=subtotal,
        )
    return _Priced(item, quantity, rate, discount, subtotal)


def _taxes(
    side: Side, priced: Sequence[_Priced], shares: Sequence[int], accounts: BookAccounts
) -> list[tuple[Tax, ...]]:
    """Take each line's taxes as given, or work them out, rounded once for each rate."""
    default = accounts.roles[side.tax]
    taxes = [
        tuple(
            Tax(tax["amount"], named_or(default, tax.get("tax_account"), accounts))
            for tax in line.body.get("sales_taxes") or ()
        )
        for line in priced
    ]
    of_rate: dict[Decimal, list[int]] = defaultdict(list)
    for place, line in enumerate(priced):
        if line.tax_rate is not None:
            of_rate[line.tax_rate].append(place)
    for rate, places in of_rate.items():
        bases = [priced[place].subtotal - shares[place] for place in places]
        amounts = split(times(sum(bases), rate.scaleb(-2)), bases)
        for place, amount in zip(places, amounts, strict=True):
            taxes[place] = (Tax(amount, default),)
    return taxes


def _accounts(side: Side, priced: Sequence[_Priced], accounts: BookAccounts) -> list[UUID]:
    default = accounts.roles[side.line_default]
    return [named_or(default, line.body.get("account_identifier"), accounts) for line in priced]


def _line(
    id_: UUID, priced: _Priced, share: int, taxes: tuple[Tax, ...], account_id: UUID
) -> LineItem:
    body = priced.body
    return LineItem(
        id=id_,
        account_id=account_id,
        quantity=priced.quantity,
        unit_price=body["unit_price"],
        discount_amount=priced.discount,
        discount_share=share,
        subtotal=priced.subtotal,
        taxes=taxes,
        tax_rate=priced.tax_rate,
        description=body.get("description"),
        product=body.get("product"),
        external_id=body.get("external_id"),
        memo=body.get("memo"),
        tags=tuple(body.get("tags") or ()),
        metadata=body.get("metadata"),
    )
