"""The lines of a document and their arithmetic: discounts, taxes, and what they come to."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from accounting.books.accounts import AccountReference, BookAccounts, named_or
from accounting.books.context import Context
from accounting.errors import Malformed, RuleBroken
from accounting.money import EXACT, split, times, within_bounds
from accounting.trade.commands import DocumentLine, WriteDocument
from accounting.trade.documents import LineItem, Tax
from accounting.trade.sides import Side

QUANTITY_DECIMALS = 6
RATE_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Amounts:
    """The lines of a document with their amounts, and what they come to."""

    lines: tuple[LineItem, ...]
    additional_discount: int
    subtotal: int
    discount_total: int
    tax_total: int
    total_amount: int


def account_references(command: WriteDocument) -> frozenset[AccountReference]:
    """List the accounts that a document names, so that they can be loaded first."""
    named = (
        account
        for line in command.lines
        for account in (line.account, *(tax.account for tax in line.taxes))
    )
    return frozenset(account for account in named if account is not None)


def work_out(
    side: Side,
    command: WriteDocument,
    accounts: BookAccounts,
    before: Sequence[LineItem],
    context: Context,
) -> Amounts:
    """Work out the lines of a document; one that stays in its place keeps its identifier.

    Two at 1000 less 100, less 90 on the whole, with 20 % tax, come to 2172. Raises Malformed
    `validation_error`; RuleBroken `negative_amount`, `amount_too_large`, `reference_not_found` or
    `control_account`; Conflict `account_archived`.
    """
    _refuse_faults(command.lines)
    subtotals = [_subtotal(line) for line in command.lines]
    discount, subtotal = command.additional_discount, within_bounds(sum(subtotals))
    _refuse_larger(discount, subtotal)
    shares = split(discount, subtotals)
    taxes = _taxes(side, command.lines, subtotals, shares, accounts)
    default = accounts.roles[side.line_default]
    account_ids = [named_or(default, line.account, accounts) for line in command.lines]
    identifiers = _identifiers(before, len(subtotals), context)
    lines = tuple(map(_line, identifiers, command.lines, account_ids, subtotals, shares, taxes))
    tax_total = sum(line.tax_total for line in lines)
    discounts = sum(line.discount_amount for line in command.lines)
    return Amounts(
        lines=lines,
        additional_discount=discount,
        subtotal=subtotal,
        discount_total=within_bounds(discounts + discount),
        tax_total=within_bounds(tax_total),
        total_amount=within_bounds(subtotal - discount + tax_total),
    )


def _refuse_faults(lines: Sequence[DocumentLine]) -> None:
    faults = {
        f"{line.place}.{name}": [fault] for line in lines for name, fault in _line_faults(line)
    }
    if faults:
        raise Malformed.fields(**faults)


def _line_faults(line: DocumentLine) -> Iterator[tuple[str, str]]:
    """Find what a pattern in the contract cannot say of a number written as a string."""
    quantity, rate = line.quantity, line.tax_rate
    if not quantity.is_finite() or quantity <= 0 or _decimals(quantity) > QUANTITY_DECIMALS:
        yield "quantity", f"must be above 0 with at most {QUANTITY_DECIMALS} decimals"
    if rate is None:
        return
    if not rate.is_finite() or rate < 0 or _decimals(rate) > RATE_DECIMALS:
        yield "tax_rate", f"must not be below 0, with at most {RATE_DECIMALS} decimals"
    if line.taxes:
        yield "tax_rate", "cannot stand beside sales_taxes"


def _decimals(value: Decimal) -> int:
    """Count the decimals that say something: 1.50 has one."""
    exponent = value.normalize(EXACT).as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def _subtotal(line: DocumentLine) -> int:
    subtotal = within_bounds(times(line.unit_price, line.quantity) - line.discount_amount)
    if subtotal < 0:
        raise RuleBroken(
            "negative_amount",
            "The amount of a line is below zero.",
            field=line.place,
            amount=subtotal,
        )
    return subtotal


def _refuse_larger(discount: int, subtotal: int) -> None:
    if discount > subtotal:
        raise RuleBroken(
            "negative_amount",
            "The discount is larger than what it is taken from.",
            field="additional_discount",
            amount=subtotal - discount,
        )


def _taxes(
    side: Side,
    lines: Sequence[DocumentLine],
    subtotals: Sequence[int],
    shares: Sequence[int],
    accounts: BookAccounts,
) -> list[tuple[Tax, ...]]:
    """Take each line's taxes as given, or work them out, rounded once for each rate."""
    default = accounts.roles[side.tax]
    taxes = [
        tuple(Tax(tax.amount, named_or(default, tax.account, accounts)) for tax in line.taxes)
        for line in lines
    ]
    of_rate: dict[Decimal, list[int]] = defaultdict(list)
    for place, line in enumerate(lines):
        if line.tax_rate is not None:
            of_rate[line.tax_rate].append(place)
    for rate, places in of_rate.items():
        bases = [subtotals[place] - shares[place] for place in places]
        amounts = split(times(sum(bases), rate.scaleb(-2)), bases)
        for place, amount in zip(places, amounts, strict=True):
            taxes[place] = (Tax(amount, default),)
    return taxes


def _identifiers(before: Sequence[LineItem], count: int, context: Context) -> list[UUID]:
    kept = [line.id for line in before[:count]]
    return kept + [context.identify() for _ in range(count - len(kept))]


def _line(
    id_: UUID,
    line: DocumentLine,
    account_id: UUID,
    subtotal: int,
    share: int,
    taxes: tuple[Tax, ...],
) -> LineItem:
    return LineItem(
        id=id_,
        account_id=account_id,
        quantity=line.quantity,
        unit_price=line.unit_price,
        discount_amount=line.discount_amount,
        discount_share=share,
        subtotal=subtotal,
        taxes=taxes,
        tax_rate=line.tax_rate,
        description=line.description,
        product=line.product,
        external_id=line.external_id,
        memo=line.memo,
        tags=line.tags,
        metadata=line.metadata,
    )
