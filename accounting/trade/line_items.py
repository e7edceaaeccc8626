"""The lines of a document and their arithmetic: discounts, taxes and totals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from uuid import UUID

from accounting.books.accounts import AccountReference, BookAccounts, named_or
from accounting.books.chart import Role, Roles
from accounting.books.context import Context
from accounting.errors import Malformed, RuleBroken
from accounting.money import EXACT, split, times, within_bounds
from accounting.tax.day_codes import DayCodes, Referenced
from accounting.tax.taxed_amounts import (
    Taxable,
    TaxAccounts,
    Taxed,
    Taxing,
    tax,
)
from accounting.trade.commands import DocumentLine, WriteDocument
from accounting.trade.documents import LineItem
from accounting.trade.line_taxing import taxing_again, taxing_of
from accounting.trade.sides import Side

QUANTITY_DECIMALS = 6
RATE_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Amounts:
    """The lines of a document with their amounts, and the totals of the document.

    `additional_discount` is net; `discount_total` is the sum of the discounts as given, on the
    lines and on the document.
    """

    lines: tuple[LineItem, ...]
    additional_discount: int
    subtotal: int
    discount_total: int
    tax_total: int
    total_amount: int


@dataclass(frozen=True, slots=True)
class Untaxed:
    """A line before its taxes are computed, with its place in the request and its tax codes."""

    line: LineItem
    place: str
    taxing: Taxing

    @property
    def amount(self) -> int:
        """The price less the line's own discount: two at 1000 less 100 are 1900."""
        line = self.line
        amount = within_bounds(times(line.unit_price, line.quantity) - line.discount_amount)
        if amount < 0:
            raise RuleBroken(
                "negative_amount",
                "The amount of a line is below zero.",
                field=self.place,
                amount=amount,
            )
        return amount


def account_references(command: WriteDocument) -> frozenset[AccountReference]:
    """List the accounts that a document references, so that they can be loaded first."""
    named = (
        account
        for line in command.lines
        for account in (line.account, *(tax.account for tax in line.taxes))
    )
    return frozenset(account for account in named if account is not None)


def names_codes(command: WriteDocument) -> bool:
    """Return whether computing a document needs tax codes; a rate alone may name a code."""
    return any(
        line.tax_code
        or line.withholding_code
        or line.tax_rate
        or any(tax.tax_code for tax in line.taxes)
        for line in command.lines
    )


def work_out(
    side: Side,
    command: WriteDocument,
    referenced: Referenced,
    day: date,
    before: Sequence[LineItem],
    context: Context,
) -> Amounts:
    """Compute the lines of a document at the tax rates of a day.

    A line keeps the id of the earlier line in the same position. Two at 1000 less 100, less 90 on
    the document, with 20 % tax, are 2172. Raises Malformed `validation_error`; RuleBroken
    `negative_amount`, `amount_too_large`, `reference_not_found`, `control_account`,
    `tax_code_mismatch` or `tax_rate_missing`; Conflict `account_archived` or `tax_code_archived`.
    """
    _refuse_faults(command.lines)
    identifiers = _identifiers(before, len(command.lines), context)
    codes = referenced.codes_on(side.tax_direction, day)
    untaxed = [
        _untaxed(side, id_, line, referenced.accounts, codes)
        for id_, line in zip(identifiers, command.lines, strict=True)
    ]
    return _amounts(
        side,
        untaxed,
        command.additional_discount,
        referenced.roles,
        inclusive=command.amounts_include_tax,
    )


def work_out_again(
    side: Side,
    lines: Sequence[LineItem],
    discount: int,
    referenced: Referenced,
    day: date,
    *,
    inclusive: bool,
) -> Amounts:
    """Compute lines again at the tax rates of another day, with the discount as it was given.

    Raises RuleBroken `tax_rate_missing`, `negative_amount` or `amount_too_large`.
    """
    codes = referenced.codes_on(side.tax_direction, day)
    untaxed = [
        Untaxed(line, f"line_items.{place}", taxing_again(line, codes))
        for place, line in enumerate(lines)
    ]
    return _amounts(side, untaxed, discount, referenced.roles, inclusive=inclusive)


def given_discount(lines: Sequence[LineItem], additional_discount: int, *, inclusive: bool) -> int:
    """Return the document discount as it was given: it includes tax if the prices do."""
    if not inclusive:
        return additional_discount
    priced = sum(times(line.unit_price, line.quantity) - line.discount_amount for line in lines)
    return priced - sum(line.net + line.tax_total for line in lines)


def _amounts(
    side: Side, untaxed: Sequence[Untaxed], discount: int, roles: Roles, *, inclusive: bool
) -> Amounts:
    """Compute the taxes and totals of lines.

    The document discount is spread over the lines in proportion to their amounts.
    """
    amounts = [each.amount for each in untaxed]
    _refuse_larger(discount, within_bounds(sum(amounts)))
    taxable = [
        Taxable(
            amount=amount,
            discount=share,
            account_id=each.line.account_id,
            taxing=each.taxing,
        )
        for each, amount, share in zip(untaxed, amounts, split(discount, amounts), strict=True)
    ]
    tax_accounts = TaxAccounts(roles[side.tax], roles[Role.OUTPUT_TAX])
    taxed = tax(taxable, tax_accounts, inclusive=inclusive)
    lines = tuple(map(_taxed, untaxed, taxed))
    subtotal = sum(line.subtotal for line in lines)
    net_discount = sum(line.discount_share for line in lines)
    tax_total = within_bounds(sum(line.tax_total for line in lines))
    withheld = sum(line.withheld_total for line in lines)
    total = subtotal - net_discount + tax_total - withheld
    _refuse_below_zero(total)
    return Amounts(
        lines=lines,
        additional_discount=net_discount,
        subtotal=subtotal,
        discount_total=within_bounds(sum(line.discount_amount for line in lines) + discount),
        tax_total=tax_total,
        total_amount=within_bounds(total),
    )


def _taxed(untaxed: Untaxed, taxed: Taxed) -> LineItem:
    if taxed.subtotal < 0 or taxed.subtotal < taxed.discount:
        raise RuleBroken(
            "negative_amount",
            "The net amount of a line is below zero.",
            field=untaxed.place,
            amount=taxed.subtotal - taxed.discount,
        )
    code = untaxed.taxing.code
    return replace(
        untaxed.line,
        tax_code_id=None if code is None else code.code.id,
        tax_rate=untaxed.line.tax_rate if code is None else code.rate,
        subtotal=taxed.subtotal,
        discount_share=taxed.discount,
        taxes=taxed.taxes,
        withheld=taxed.withheld,
        self_assessed=taxed.self_assessed,
    )


def _refuse_faults(lines: Sequence[DocumentLine]) -> None:
    faults = {
        f"{line.place}.{name}": [fault] for line in lines for name, fault in _line_faults(line)
    }
    if faults:
        raise Malformed.fields(**faults)


def _line_faults(line: DocumentLine) -> Iterator[tuple[str, str]]:
    """Yield the faults of a line, by field, that no pattern in the contract can express."""
    quantity, rate = line.quantity, line.tax_rate
    if not quantity.is_finite() or quantity <= 0 or _decimals(quantity) > QUANTITY_DECIMALS:
        yield "quantity", f"must be above 0 with at most {QUANTITY_DECIMALS} decimals"
    if rate is None:
        return
    if not rate.is_finite() or rate < 0 or _decimals(rate) > RATE_DECIMALS:
        yield "tax_rate", f"must be at least 0 with at most {RATE_DECIMALS} decimals"
    if line.taxes:
        yield "tax_rate", "cannot be combined with sales_taxes"
    if line.tax_code is not None:
        yield "tax_rate", "cannot be combined with tax_code, which has its own rate"


def _decimals(value: Decimal) -> int:
    """Count the significant decimals: 1.50 has one."""
    exponent = value.normalize(EXACT).as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def _refuse_larger(discount: int, subtotal: int) -> None:
    if discount > subtotal:
        raise RuleBroken(
            "negative_amount",
            "The discount is larger than the subtotal.",
            field="additional_discount",
            amount=subtotal - discount,
        )


def _refuse_below_zero(total: int) -> None:
    if total < 0:
        raise RuleBroken(
            "negative_amount", "The withholding tax exceeds the total amount.", amount=total
        )


def _identifiers(before: Sequence[LineItem], count: int, context: Context) -> list[UUID]:
    kept = [line.id for line in before[:count]]
    return kept + [context.identify() for _ in range(count - len(kept))]


def _untaxed(
    side: Side, id_: UUID, line: DocumentLine, accounts: BookAccounts, codes: DayCodes
) -> Untaxed:
    taxing = taxing_of(side, line, accounts, codes)
    item = LineItem(
        id=id_,
        account_id=named_or(accounts.roles[side.line_default], line.account, accounts),
        quantity=line.quantity,
        unit_price=line.unit_price,
        discount_amount=line.discount_amount,
        discount_share=0,
        subtotal=0,
        taxes=(),
        tax_rate=taxing.rate,
        withholding_code_id=None if taxing.withholding is None else taxing.withholding.code.id,
        taxes_given=taxing.given is not None,
        rate_alone=line.tax_code is None and not line.taxes and bool(line.tax_rate),
        description=line.description,
        product=line.product,
        external_id=line.external_id,
        memo=line.memo,
        tags=line.tags,
        metadata=line.metadata,
    )
    return Untaxed(item, line.place, taxing)
