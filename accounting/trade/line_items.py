"""The lines of a document and their arithmetic: discounts, taxes, and what they come to."""

from collections.abc import Iterator, Sequence
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
from accounting.values import dataclass, replace

QUANTITY_DECIMALS = 6
RATE_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Amounts:
    """The lines of a document with their amounts, and what they come to.

    `additional_discount` is net; `discount_total` is what was given, on lines and on the whole.
    """

    lines: tuple[LineItem, ...]
    additional_discount: int
    subtotal: int
    discount_total: int
    tax_total: int
    total_amount: int


@dataclass(frozen=True, slots=True)
class Untaxed:
    """A line before its taxes are worked out: its amount, as it is priced, and how it is taxed."""

    line: LineItem
    place: str
    taxing: Taxing

    @property
    def amount(self) -> int:
        """What it is priced at less its own discount: two at 1000 less 100 are 1900."""
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
    """List the accounts that a document names, so that they can be loaded first."""
    named = (
        account
        for line in command.lines
        for account in (line.account, *(tax.account for tax in line.taxes))
    )
    return frozenset(account for account in named if account is not None)


def names_codes(command: WriteDocument) -> bool:
    """Tell whether tax codes are needed to work a document out: a rate may stand for one."""
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
    """Work out the lines of a document by the rates of a day; a line in its place keeps its id.

    Two at 1000 less 100, less 90 on the whole, with 20 % tax, come to 2172. Raises Malformed
    `validation_error`; RuleBroken `negative_amount`, `amount_too_large`, `reference_not_found`,
    `control_account`, `tax_code_mismatch` or `tax_rate_missing`; Conflict `account_archived` or
    `tax_code_archived`.
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
    """Work lines out by the rates of another day, less a discount as it was given.

    Raises RuleBroken `tax_rate_missing`, and what an amount at the new rate is refused for.
    """
    codes = referenced.codes_on(side.tax_direction, day)
    untaxed = [
        Untaxed(line, f"line_items.{place}", taxing_again(line, codes))
        for place, line in enumerate(lines)
    ]
    return _amounts(side, untaxed, discount, referenced.roles, inclusive=inclusive)


def given_discount(lines: Sequence[LineItem], additional_discount: int, *, inclusive: bool) -> int:
    """Say what discount on the whole was given: where prices include tax, it does so too."""
    if not inclusive:
        return additional_discount
    priced = sum(times(line.unit_price, line.quantity) - line.discount_amount for line in lines)
    return priced - sum(line.net + line.tax_total for line in lines)


def _amounts(
    side: Side, untaxed: Sequence[Untaxed], discount: int, roles: Roles, *, inclusive: bool
) -> Amounts:
    """Tax lines less a discount on the whole, which is spread over them by what they come to."""
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
            "The amount of a line without its tax is below zero.",
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
    if line.tax_code is not None:
        yield "tax_rate", "cannot stand beside tax_code, which has its own rate"


def _decimals(value: Decimal) -> int:
    """Count the decimals that say something: 1.50 has one."""
    exponent = value.normalize(EXACT).as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def _refuse_larger(discount: int, subtotal: int) -> None:
    if discount > subtotal:
        raise RuleBroken(
            "negative_amount",
            "The discount is larger than what it is taken from.",
            field="additional_discount",
            amount=subtotal - discount,
        )


def _refuse_below_zero(total: int) -> None:
    if total < 0:
        raise RuleBroken(
            "negative_amount", "More tax is withheld than the whole comes to.", amount=total
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
