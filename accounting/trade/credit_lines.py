"""The lines of a credit: nets with given taxes, taxes by code, or the taxes of a source line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from accounting.books.accounts import named_or
from accounting.books.businesses import Context
from accounting.books.chart import Role, Roles
from accounting.errors import RuleViolation, ValidationError
from accounting.money import split
from accounting.tax.day_codes import DayCodes, TaxReferences
from accounting.tax.taxed_amounts import (
    DayCode,
    GivenTax,
    TaxableAmount,
    TaxAccounts,
    TaxInstruction,
    tax,
)
from accounting.trade.commands import CreditLineGiven
from accounting.trade.credits import CreditLine
from accounting.trade.documents import Document, LineItem
from accounting.trade.remaining_by_line import Amounts, by_net, record_credited_lines, rest_of
from accounting.trade.sides import Side


@dataclass(frozen=True, slots=True)
class _UntaxedLine:
    """A line before its taxes are computed, with its place in the request."""

    line: CreditLine
    place: str
    taxing: TaxInstruction
    tax_amount: int | None = None


def names_codes(lines: Sequence[CreditLineGiven]) -> bool:
    """Return whether computing the lines needs tax codes."""
    return any(line.tax_code is not None for line in lines)


def names_source(lines: Sequence[CreditLineGiven]) -> bool:
    """Return whether any line credits a line of the source document."""
    return any(line.source_line_id is not None for line in lines)


def work_out(
    side: Side,
    given: Sequence[CreditLineGiven],
    referenced: TaxReferences,
    source: Document | None,
    day: date,
    context: Context,
) -> tuple[CreditLine, ...]:
    """Compute the lines of a credit at the tax rates of a day.

    A line of the source document has the accounts, code and rate of its source line: of 100.00 with
    20.00 tax, nets of 33.33, 33.33 and 33.34 take 6.67, 6.66 and 6.67. Raises ValidationError
    `validation_error`; RuleViolation `reference_not_found`, `control_account`,
    `credit_exceeds_source`, `tax_code_mismatch` or `tax_rate_missing`; Conflict `account_archived`
    or `tax_code_archived`.
    """
    _refuse_faults(given, source)
    codes = referenced.codes_on(side.tax_direction, day)
    untaxed = [_untaxed(side, line, referenced, codes, context) for line in given]
    return _taxed(side, untaxed, referenced, source)


def work_out_again(
    side: Side,
    lines: Sequence[CreditLine],
    referenced: TaxReferences,
    source: Document | None,
    day: date,
) -> tuple[CreditLine, ...]:
    """Compute lines again at the rates of another day, from what is then left of the source."""
    codes = referenced.codes_on(side.tax_direction, day)
    untaxed = [
        _UntaxedLine(
            line,
            f"line_items.{place}",
            _taxing_again(line, codes),
            line.tax_amount if line.taxes_given else None,
        )
        for place, line in enumerate(lines)
    ]
    return _taxed(side, untaxed, referenced, source)


def of_gross(
    side: Side, amount: int, code: DayCode | None, roles: Roles, context: Context
) -> CreditLine:
    """Create a line from a gross amount: 120 at 20 % is 100 net and 20 tax."""
    account_id = roles[side.credit_line_default]
    taxable = TaxableAmount(amount=amount, account_id=account_id, taxing=TaxInstruction(code=code))
    accounts = TaxAccounts(roles[side.tax], roles[Role.OUTPUT_TAX])
    [taxed] = tax([taxable], accounts, inclusive=True)
    return CreditLine(
        id=context.identify(),
        account_id=account_id,
        amount=taxed.subtotal,
        taxes=taxed.taxes,
        tax_rate=None if code is None else code.rate,
        tax_code_id=None if code is None else code.code.id,
        self_assessed=tuple(replace(each, amount=-each.amount) for each in taxed.self_assessed),
    )


def _refuse_faults(given: Sequence[CreditLineGiven], source: Document | None) -> None:
    faults = {
        f"{line.place}.{name}": [fault]
        for line in given
        if line.source_line_id is not None
        for name, fault in _source_faults(line, source)
    }
    if faults:
        raise ValidationError.with_faults(faults)


def _source_faults(line: CreditLineGiven, source: Document | None) -> Iterator[tuple[str, str]]:
    if source is None:
        yield "source_line_id", "needs the source document that contains the line"
    if line.tax_code is not None:
        yield "tax_code", "cannot be combined with source_line_id, which sets the tax code"
    if line.account is not None:
        yield (
            "source_line_id",
            "cannot be combined with an account: the source line sets the account",
        )


def _untaxed(
    side: Side,
    line: CreditLineGiven,
    referenced: TaxReferences,
    codes: DayCodes,
    context: Context,
) -> _UntaxedLine:
    accounts = referenced.accounts
    code = None if line.tax_code is None else codes.named(line.tax_code, line.place)
    given = None
    if line.tax_amount is not None:
        account_id = accounts.roles[side.tax] if code is None else code.code.tax_account_id
        given = (GivenTax(line.tax_amount, account_id, code),) if line.tax_amount else ()
    bare = CreditLine(
        id=context.identify(),
        account_id=named_or(accounts.roles[side.credit_line_default], line.account, accounts),
        amount=line.amount,
        tax_rate=None if code is None else code.rate,
        tax_code_id=None if code is None else code.code.id,
        taxes_given=line.tax_amount is not None,
        source_line_id=line.source_line_id,
        memo=line.memo,
        tags=line.tags,
        metadata=line.metadata,
    )
    return _UntaxedLine(bare, line.place, TaxInstruction(code=code, given=given), line.tax_amount)


def _taxing_again(line: CreditLine, codes: DayCodes) -> TaxInstruction:
    if line.tax_code_id is None or line.source_line_id is not None:
        return TaxInstruction(given=tuple(GivenTax(t.amount, t.account_id) for t in line.taxes))
    code = codes.kept(line.tax_code_id)
    if not line.taxes_given:
        return TaxInstruction(code=code)
    given = (GivenTax(line.tax_amount, code.code.tax_account_id, code),)
    return TaxInstruction(code=code, given=given)


def _taxed(
    side: Side, untaxed: Sequence[_UntaxedLine], referenced: TaxReferences, source: Document | None
) -> tuple[CreditLine, ...]:
    """Compute the taxes: of source lines one after the other, of all other lines together."""
    roles = referenced.roles
    taxable = [
        TaxableAmount(amount=each.line.amount, account_id=each.line.account_id, taxing=each.taxing)
        for each in untaxed
    ]
    lines = []
    accounts = TaxAccounts(roles[side.tax], roles[Role.OUTPUT_TAX])
    for each, taxed in zip(untaxed, tax(taxable, accounts), strict=True):
        if each.line.source_line_id is None:
            rate = None if each.taxing.code is None else each.taxing.code.rate
            assessed = tuple(replace(t, amount=-t.amount) for t in taxed.self_assessed)
            lines.append(
                replace(each.line, tax_rate=rate, taxes=taxed.taxes, self_assessed=assessed)
            )
        else:
            assert source is not None, "a line of a source has been refused without it"
            of_source = _source_line(source, each.line.source_line_id)
            amounts = _taken(each, of_source, rest_of(source, of_source))
            source = record_credited_lines(source, ((of_source.id, amounts),))
            lines.append(_of_source(each.line, of_source, amounts))
    return tuple(lines)


def _source_line(source: Document, id: UUID) -> LineItem:
    found = next((line for line in source.lines if line.id == id), None)
    if found is None:
        raise RuleViolation(
            "reference_not_found",
            "The source document has no such line.",
            resource="line_item",
            reference=str(id),
        )
    return found


def _taken(wanted: _UntaxedLine, of_source: LineItem, rest: Amounts) -> Amounts:
    """Take a net from what is left of a source line, with its taxes in proportion or as given.

    Raises RuleViolation `credit_exceeds_source`.
    """
    net, behind = wanted.line.amount, 1 + len(of_source.taxes)
    taxes = rest[1:behind]
    left, tax_left = max(rest[0], 0), max(sum(taxes), 0)  # Nothing of a line below zero.
    if net > left or (wanted.tax_amount or 0) > tax_left:
        raise RuleViolation(
            "credit_exceeds_source",
            f"{wanted.place}: The source line has only {left} net and {tax_left} tax left"
            " to credit.",
            item=wanted.place,
            source_line_id=str(of_source.id),
            left=left,
            tax_left=tax_left,
            amount=net,
        )
    amounts = by_net(of_source, rest, net)
    if wanted.tax_amount is None:
        return amounts
    return (net, *split(wanted.tax_amount, taxes), *amounts[behind:])


def _of_source(line: CreditLine, of_source: LineItem, amounts: Amounts) -> CreditLine:
    """Fill a line from a source line: its accounts, code and rate, and the amounts taken."""
    rest = iter(amounts[1:])
    charged = tuple(replace(each, amount=next(rest)) for each in of_source.taxes)
    kept_back = tuple(replace(each, amount=-next(rest)) for each in of_source.withheld)
    assessed = tuple(replace(each, amount=-next(rest)) for each in of_source.self_assessed)
    return replace(
        line,
        account_id=of_source.account_id,
        taxes=charged,
        tax_rate=of_source.tax_rate,
        tax_code_id=of_source.tax_code_id,
        withheld=kept_back,
        self_assessed=assessed,
    )
