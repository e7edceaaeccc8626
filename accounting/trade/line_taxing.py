"""The tax codes of a line, as a caller names them and as a line stores them."""

from dataclasses import replace
from uuid import UUID

from accounting.books.accounts import BookAccounts, named_or
from accounting.books.tax_marks import TaxPart
from accounting.tax.day_codes import DayCodes
from accounting.tax.taxed_amounts import DayCode, GivenTax, Taxing
from accounting.trade.commands import DocumentLine, TaxGiven
from accounting.trade.documents import LineItem
from accounting.trade.sides import Side


def taxing_of(side: Side, line: DocumentLine, accounts: BookAccounts, codes: DayCodes) -> Taxing:
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
        return Taxing(code=net_code, given=given, withholding=held)
    if code is None and line.tax_rate:
        code = codes.of_rate(line.tax_rate)
    return Taxing(code=code, rate=line.tax_rate if code is None else None, withholding=held)


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


def taxing_again(line: LineItem, codes: DayCodes) -> Taxing:
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
        return Taxing(code=code, given=_given_before(line, codes), withholding=held)
    return Taxing(code=code, rate=line.tax_rate if code is None else None, withholding=held)


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
