"""The lines of a document and their arithmetic: discounts, taxes and totals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from accounting.books.accounts import AccountReference, BookAccounts, named_or
from accounting.books.businesses import Context
from accounting.books.chart import Role, Roles
from accounting.books.ledger import TaxPart
from accounting.errors import RuleViolation, ValidationError
from accounting.money import EXACT, round_half_away, split, within_bounds
from accounting.tax.day_codes import DayCodes, TaxReferences
from accounting.tax.taxed_amounts import (
    DayCode,
    GivenTax,
    TaxableAmount,
    TaxAccounts,
    TaxedAmount,
    TaxInstruction,
    code_and_rate,
    negative,
    refuse_below_zero,
    refuse_tax_below_zero,
    tax,
)
from accounting.trade.commands import DocumentLine, TaxGiven, WriteDocument
from accounting.trade.documents import Document, LineItem
from accounting.trade.sides import Side

# The tax codes of a line, as a caller names them and as a line stores them.


def taxing_of(
    side: Side, line: DocumentLine, accounts: BookAccounts, codes: DayCodes
) -> TaxInstruction:
    """Return how a line is taxed: by the codes it names, by given taxes, or by its rate.

    A rate alone may name a code. A given tax without a code has the line's code, and the net of a
    line without a code has the code of the first given tax with one. Raises the errors of
    `DayCodes.named` and `named_or`.
    """
    place = line.place
    code = None if line.tax_code is None else codes.named(line.tax_code, place)
    withholding = line.withholding_code
    held = None if withholding is None else codes.withholding(withholding, place)
    if line.taxes:
        default = accounts.roles[side.tax]
        given = tuple(_given(tax, code, default, accounts, codes, place) for tax in line.taxes)
        net_code = code or next((each.code for each in given if each.code is not None), None)
        return TaxInstruction(code=net_code, given=given, withholding=held)
    if code is None and line.tax_rate:
        code = codes.of_rate(line.tax_rate)
    return TaxInstruction(code=code, rate=line.tax_rate if code is None else None, withholding=held)


def _given(
    tax: TaxGiven,
    line_code: DayCode | None,
    default: UUID,
    accounts: BookAccounts,
    codes: DayCodes,
    place: str,
) -> GivenTax:
    code = line_code if tax.tax_code is None else codes.named(tax.tax_code, place)
    usual = default if code is None else code.code.tax_account_id
    return GivenTax(tax.amount, named_or(usual, tax.account, accounts), code)


def taxing_again(line: LineItem, codes: DayCodes) -> TaxInstruction:
    """Return how a line is taxed on another day: by the same codes, or by its given taxes.

    A rate alone may name another code on that day, or none.
    """
    if line.rate_alone and line.tax_rate is not None:
        code = codes.of_rate(line.tax_rate)
    else:
        code = None if line.tax_code_id is None else codes.kept(line.tax_code_id)
    withholding = line.withholding_code_id
    held = None if withholding is None else codes.kept(withholding)
    if line.taxes_given:
        return TaxInstruction(code=code, given=_given_before(line, codes), withholding=held)
    return TaxInstruction(code=code, rate=line.tax_rate if code is None else None, withholding=held)


def _given_before(line: LineItem, codes: DayCodes) -> tuple[GivenTax, ...]:
    """Return the taxes as the line was given them: each with its non-recoverable amount."""
    given: list[GivenTax] = []
    for each in line.taxes:
        if each.mark is not None and each.mark.part is TaxPart.BLOCKED and given:
            given[-1] = replace(given[-1], amount=given[-1].amount + each.amount)
        else:
            code = None if each.mark is None else codes.kept(each.mark.code_id)
            given.append(GivenTax(each.amount, each.account_id, code))
    return tuple(given)


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
class UntaxedLine:
    """A line before its taxes are computed, with its place in the request and its tax codes."""

    line: LineItem
    place: str
    taxing: TaxInstruction

    @property
    def amount(self) -> int:
        """The price less the line's own discount: two at 1000 less 100 are 1900."""
        line = self.line
        amount = within_bounds(line.priced)
        if line.price >= 0:
            if amount < 0:
                raise negative("The amount of a line is below zero.", self.place, amount)
        elif line.discount_amount:
            words = "A line with a price below zero has no discount."
            raise negative(words, f"{self.place}.discount_amount", amount)
        elif any(tax.amount for tax in self.taxing.given or ()):
            words = (
                "A line with a price below zero has no given tax. Its tax is computed by a code."
            )
            raise negative(words, f"{self.place}.sales_taxes", amount)
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
    referenced: TaxReferences,
    day: date,
    before: Sequence[LineItem],
    context: Context,
) -> Amounts:
    """Compute the lines of a document at the tax rates of a day.

    A line keeps the id of the earlier line in the same position. Two at 1000 less 100, less 90 on
    the document, with 20 % tax, are 2172. Raises ValidationError `validation_error`; RuleViolation
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
    referenced: TaxReferences,
    day: date,
    *,
    inclusive: bool,
) -> Amounts:
    """Compute lines again at the tax rates of another day, with the discount as it was given.

    Raises RuleViolation `tax_rate_missing`, `negative_amount` or `amount_too_large`.
    """
    codes = referenced.codes_on(side.tax_direction, day)
    untaxed = [
        UntaxedLine(line, f"line_items.{place}", taxing_again(line, codes))
        for place, line in enumerate(lines)
    ]
    return _amounts(side, untaxed, discount, referenced.roles, inclusive=inclusive)


def given_discount(lines: Sequence[LineItem], additional_discount: int, *, inclusive: bool) -> int:
    """Return the document discount as it was given: it includes tax if the prices do."""
    if not inclusive:
        return additional_discount
    return sum(line.priced for line in lines) - sum(line.net + line.tax_total for line in lines)


def _amounts(
    side: Side, untaxed: Sequence[UntaxedLine], discount: int, roles: Roles, *, inclusive: bool
) -> Amounts:
    """Compute the taxes and totals of lines, with their shares of the document discount."""
    amounts = [each.amount for each in untaxed]
    taxed_lines = [(each.place, each.taxing) for each in untaxed]
    refuse_below_zero(taxed_lines, amounts)
    _refuse_larger(discount, within_bounds(sum(amounts)))
    shares = _spread(discount, amounts, [code_and_rate(each.taxing) for each in untaxed])
    taxable = [
        TaxableAmount(
            amount=amount,
            discount=share,
            account_id=each.line.account_id,
            taxing=each.taxing,
        )
        for each, amount, share in zip(untaxed, amounts, shares, strict=True)
    ]
    tax_accounts = TaxAccounts(roles[side.tax], roles[Role.OUTPUT_TAX])
    taxed = tax(taxable, tax_accounts, inclusive=inclusive)
    lines = tuple(map(_taxed, untaxed, taxed))
    refuse_below_zero(taxed_lines, [line.net for line in lines])
    refuse_tax_below_zero(taxed_lines, [line.tax_total for line in lines])
    subtotal = sum(line.subtotal for line in lines)
    net_discount = sum(line.discount_share for line in lines)
    tax_total = within_bounds(sum(line.tax_total for line in lines))
    withheld = sum(line.withheld_total for line in lines)
    total = subtotal - net_discount + tax_total - withheld
    _refuse_withheld(total)
    return Amounts(
        lines=lines,
        additional_discount=net_discount,
        subtotal=subtotal,
        discount_total=within_bounds(sum(line.discount_amount for line in lines) + discount),
        tax_total=tax_total,
        total_amount=within_bounds(total),
    )


def _spread(
    discount: int, amounts: Sequence[int], keys: Sequence[tuple[str, Decimal]]
) -> list[int]:
    """Spread a document discount over codes and rates first, then within each over its lines.

    So the tax does not depend on the order of the lines. A discount of 1 on 50 at 20 %, 50 at 5 %
    and 50 at 20 % lowers a line at 20 %, since these are 100 of 150. Lines below zero have no
    discount.
    """
    places: dict[tuple[str, Decimal], list[int]] = {key: [] for key in sorted({*keys})}
    for place, key in enumerate(keys):
        places[key].append(place)
    totals = [sum(amounts[place] for place in group) for group in places.values()]
    shares = [0] * len(amounts)
    for group, part in zip(places.values(), split(discount, totals), strict=True):
        parts = split(part, [max(amounts[place], 0) for place in group])
        for place, share in zip(group, parts, strict=True):
            shares[place] = share
    return shares


def _taxed(untaxed: UntaxedLine, taxed: TaxedAmount) -> LineItem:
    net = taxed.subtotal - taxed.discount
    if untaxed.line.price >= 0 and min(taxed.subtotal, net) < 0:
        raise negative("The net amount of a line is below zero.", untaxed.place, net)
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
        raise ValidationError.fields(**faults)


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
    """Refuse a discount on the document that is larger than its subtotal.

    Raises RuleViolation `negative_amount`.
    """
    if discount > subtotal:
        raise RuleViolation(
            "negative_amount",
            "The discount is larger than the subtotal.",
            field="additional_discount",
            amount=subtotal - discount,
        )


def _refuse_withheld(total: int) -> None:
    """Refuse a total below zero, which only withheld tax can cause.

    Raises RuleViolation `negative_amount`.
    """
    if total < 0:
        raise RuleViolation(
            "negative_amount", "The withholding tax exceeds the total amount.", amount=total
        )


def _identifiers(before: Sequence[LineItem], count: int, context: Context) -> list[UUID]:
    kept = [line.id for line in before[:count]]
    return kept + [context.identify() for _ in range(count - len(kept))]


def _untaxed(
    side: Side, id_: UUID, line: DocumentLine, accounts: BookAccounts, codes: DayCodes
) -> UntaxedLine:
    taxing = taxing_of(side, line, accounts, codes)
    item = LineItem(
        id=id_,
        account_id=named_or(accounts.roles[side.line_default], line.account, accounts),
        quantity=line.quantity,
        **_price(line.unit_price),
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
    return UntaxedLine(item, line.place, taxing)


def _price(price: int | Decimal) -> dict[str, Any]:
    """Return a price as a line has it: 16.48 is also rounded to 16, and 16.00 is only 16."""
    exact = Decimal(price)
    whole = within_bounds(round_half_away(exact))
    is_whole = exact == whole
    return {
        "unit_price": whole,
        "unit_price_decimal": None if is_whole else exact.normalize(EXACT),
    }


# Tax totals of a document, one for each code and rate.


Taxed = tuple[UUID | None, Decimal | None]
"""A code and a rate; tax that was given without a code has neither."""


@dataclass(frozen=True, slots=True)
class CodeTotal:
    """The tax of one code and rate, and the net of the lines that have it."""

    code_id: UUID | None
    rate: Decimal | None
    net: int
    tax: int


def by_code(document: Document) -> tuple[CodeTotal, ...]:
    """Sum the taxes of a document by code and rate, in the order of its lines.

    Nets are less each line's share of the document discount: lines of 1000 and 500 at 20 % and one
    of 100 at 0 % are 300 on 1500, and 0 on 100. A line without any tax or rate is omitted.
    """
    totals: dict[Taxed, CodeTotal] = {}
    for line in document.lines:
        taxes: dict[Taxed, int] = {}
        for taxed, amount in _taxes(line):
            taxes[taxed] = taxes.get(taxed, 0) + amount
        for (code_id, rate), amount in taxes.items():
            before = totals.get((code_id, rate), CodeTotal(code_id, rate, 0, 0))
            net, tax = before.net + line.net, before.tax + amount
            totals[code_id, rate] = CodeTotal(code_id, rate, net, tax)
    return tuple(totals.values())


def _taxes(line: LineItem) -> Iterator[tuple[Taxed, int]]:
    for each in line.taxes:
        if each.mark is not None:
            yield (each.mark.code_id, each.mark.rate), each.amount
        else:
            yield (None, None if line.taxes_given else line.tax_rate), each.amount
    if not line.taxes and line.tax_rate is not None:
        yield (line.tax_code_id, line.tax_rate), 0
