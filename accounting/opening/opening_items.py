"""The open items of an opening: documents, credits and prepayments, stored as any others.

Their sales and purchases happened in other books: in these, they are posted against opening balance
equity on the day of the opening. An item that is given by tax code is taxed here when it is
settled.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from accounting.books.accounts import Account, AccountReference, usable_in
from accounting.books.businesses import Context
from accounting.books.chart import Role, Roles
from accounting.books.ledger import Shares, Span, added, summed, take
from accounting.books.numbers import Number, PendingNumber
from accounting.books.record_rates import currency_or_base, worth_of
from accounting.errors import AboutItem, RuleViolation
from accounting.money import split, within_bounds
from accounting.opening.commands import (
    OpenCreditGiven,
    OpenDocumentGiven,
    OpenItem,
    OpenTaxedItem,
    OpenTaxGiven,
    OpenWithSide,
    PrepaymentGiven,
)
from accounting.opening.openings import OpenedWith
from accounting.tax.codes import TaxCodes
from accounting.tax.day_codes import DayCodes, mismatch
from accounting.tax.taxed_amounts import (
    DayCode,
    GivenTax,
    TaxableAmount,
    TaxAccounts,
    TaxedAmount,
    TaxInstruction,
    tax,
)
from accounting.trade.credits import Credit, CreditLine
from accounting.trade.document_changes import ledger_day, opened
from accounting.trade.documents import Document, LineItem
from accounting.trade.parties import Party, PartyNamed, refuse_inactive, refuse_reference_mismatch
from accounting.trade.payments import Payment
from accounting.trade.sides import Side
from accounting.trade.translation import translated_credit

Parties = Mapping[PartyNamed, Party]
OpenParts = Sequence[tuple[UUID, DayCode | None, TaxedAmount]]
"""The parts of an open item, by account and by tax code, if any; they sum to the open amount."""


@dataclass(frozen=True, slots=True)
class Day:
    """The opening that items belong to: its id and day, the account roles and the tax codes.

    `named` are the accounts that items name.
    """

    opening_id: UUID
    on: date
    roles: Roles
    codes: TaxCodes
    named: Mapping[AccountReference, Account]

    @property
    def equity(self) -> UUID:
        """The account against which all items are posted."""
        return self.roles[Role.OPENING_BALANCE_EQUITY]


def opened_with(
    side: Side, given: OpenWithSide, parties: Parties, day: Day, context: Context
) -> OpenedWith:
    """Create all open items of one side.

    Items without a number take the next ones of their series, in the order of the request. Raises
    RuleViolation `dated_after_opening`, `currency_mismatch`, `reference_mismatch`,
    `reference_not_found`, `lines_do_not_add_up`, `control_account`, `tax_code_mismatch`,
    `tax_rate_missing`, or those of `worth_of`; Conflict `customer_archived`, `vendor_not_active`,
    `account_archived` or `tax_code_archived`; each names the item.
    """
    numbers = _numbers(side.series, [each.number for each in given.documents])
    credit_numbers = _numbers(side.credit_series, [each.number for each in given.credits])
    parties_of = {each.place: _party(side, each, parties) for each in given.items}
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


def _open_parts(
    side: Side, given: OpenTaxedItem, tax_point: date, day: Day, tax_account_id: UUID | None = None
) -> OpenParts:
    """Return the open parts by account, and by tax code at the rates of the tax point, if any.

    The tax is on `tax_account_id`, else on the account of its code.
    """
    if not given.taxes:
        [nets] = _by_account(given, [within_bounds(given.amount)], day)
        return [(id_, None, TaxedAmount(subtotal=net, discount=0)) for id_, net in nets]
    _refuse_other_sum(given, "tax code", [each.net + each.tax for each in given.taxes])
    codes = DayCodes(day.codes, side.tax_direction, tax_point)
    placed = [
        (each, account_id, net, charged)
        for each, nets in zip(
            given.taxes, _by_account(given, [each.net for each in given.taxes], day), strict=True
        )
        for (account_id, net), charged in zip(
            nets, split(each.tax, [net for _, net in nets]), strict=True
        )
    ]
    taxable = [
        TaxableAmount(
            amount=net,
            account_id=account_id,
            taxing=_taxing(each, charged, codes, tax_account_id),
        )
        for each, account_id, net, charged in placed
    ]
    taxed = tax(taxable, TaxAccounts(day.roles[side.tax], day.roles[Role.OUTPUT_TAX]))
    return [
        (item.account_id, item.taxing.code, each) for item, each in zip(taxable, taxed, strict=True)
    ]


def _by_account(given: OpenTaxedItem, nets: Sequence[int], day: Day) -> list[Shares[UUID]]:
    """Split each net over the accounts that an item names; without any it is on equity.

    Each takes of what the earlier ones left, so that all sums are exact: nets of 100 and 50, with
    90 on sales and 60 on services, take 60 and 40, then 30 and 20.
    """
    if not given.accounts:
        return [((day.equity, net),) for net in nets]
    _refuse_other_sum(given, "account", [each.net for each in given.accounts], sum(nets))
    with AboutItem(given.place):
        named = [
            usable_in(given.currency, each.account, day.named.get(each.account)).id
            for each in given.accounts
        ]
    whole = summed(zip(named, (each.net for each in given.accounts), strict=True))
    taken: Shares[UUID] = ()
    found: list[Shares[UUID]] = []
    for net in nets:
        shares = take(whole, taken, net)
        taken = added(taken, shares)
        found.append(shares or ((named[0], net),))
    return found


def _refuse_other_sum(
    given: OpenTaxedItem, what: str, amounts: Sequence[int], amount: int | None = None
) -> None:
    """Refuse amounts that do not add up to an amount, by default to that of the item."""
    wanted, total = given.amount if amount is None else amount, sum(amounts)
    if total != wanted:
        with AboutItem(given.place):
            raise RuleViolation(
                "lines_do_not_add_up",
                f"Its amounts by {what} add up to {total}, not to {wanted}, in minor units.",
                amount=wanted,
                lines_total=total,
            )


def _taxing(
    given: OpenTaxGiven, charged: int, codes: DayCodes, account_id: UUID | None
) -> TaxInstruction:
    """Return the taxation of a part: its share of the tax as given, or a self-assessed code."""
    code = codes.named(given.tax_code, given.place)
    if given.tax and (code.self_assessed or not code.rate):
        with AboutItem(given.place):
            raise mismatch(
                code.code, "This tax code adds no tax to the amount owed: the tax must be 0."
            )
    if code.self_assessed:
        return TaxInstruction(code=code)
    taxes = (GivenTax(charged, account_id or code.code.tax_account_id, code),)
    return TaxInstruction(code=code, given=taxes if charged else ())


def _document_lines(parts: OpenParts, day: Day, context: Context) -> Iterable[LineItem]:
    """Yield the lines of a document, one for each open part."""
    for account_id, code, taxed in parts:
        yield LineItem(
            id=context.identify(),
            account_id=account_id,
            opened_against=None if account_id == day.equity else day.equity,
            quantity=Decimal(1),
            unit_price=taxed.subtotal,
            discount_amount=0,
            discount_share=0,
            subtotal=taxed.subtotal,
            taxes=taxed.taxes,
            tax_rate=None if code is None else code.rate,
            tax_code_id=None if code is None else code.code.id,
            taxes_given=code is not None,
            self_assessed=taxed.self_assessed,
        )


def _credit_lines(parts: OpenParts, day: Day, context: Context) -> Iterable[CreditLine]:
    """Yield the lines of a credit, one for each open part."""
    for account_id, code, taxed in parts:
        yield CreditLine(
            id=context.identify(),
            account_id=account_id,
            opened_against=None if account_id == day.equity else day.equity,
            amount=taxed.subtotal,
            taxes=taxed.taxes,
            tax_rate=None if code is None else code.rate,
            tax_code_id=None if code is None else code.code.id,
            taxes_given=code is not None,
        )


def _numbers(series: str, given: Sequence[str | None]) -> list[Number]:
    numbers: list[Number] = []
    taken = 0
    for number in given:
        numbers.append(number or PendingNumber(series, taken))
        taken += number is None
    return numbers


def _party(side: Side, given: OpenItem, parties: Parties) -> Party:
    party = parties[given.party]
    with AboutItem(given.place):
        refuse_inactive(side, party)
        refuse_reference_mismatch(party, given.party.external_id)
    return party


def _document(
    side: Side,
    given: OpenDocumentGiven,
    party: Party,
    number: Number,
    day: Day,
    context: Context,
) -> Document:
    """Create a document over its outstanding amount; it is due by its own dates.

    It is sent on its own day, and is in the books from the day of the opening: an invoice of 3
    November that is due on 3 December is overdue when the books are opened on 31 December. If 120
    includes 20 of tax, a credit or refund takes these 20 from the account of their tax code. USD
    100.00 with 20.00 tax at 0.90 are worth 108.00 with 18.00 tax.
    """
    opened_at = given.opened_at or context.start_of(given.issue_date)
    _refuse_later(given, day, given.issue_date, context.day_of(opened_at))
    tax_point = ledger_day(given.issue_date, opened_at, context)
    parts = _open_parts(side, given, tax_point, day)
    lines = tuple(_document_lines(parts, day, context))
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
        lines=lines,
        additional_discount=0,
        subtotal=sum(line.subtotal for line in lines),
        discount_total=0,
        tax_total=sum(line.tax_total for line in lines),
        total_amount=given.amount,
        memo=given.memo,
    )
    return replace(opened(side, draft, opened_at, tax_point, context), opened_on=day.on)


def _credit(
    side: Side, given: OpenCreditGiven, party: Party, number: Number, day: Day, context: Context
) -> Credit:
    opened_on = context.day_of(given.opened_at)
    _refuse_later(given, day, opened_on)
    # A credit is never credited or refunded in turn, so its tax is on the account of its net.
    parts = _open_parts(side, given, opened_on, day, day.equity)
    lines = tuple(_credit_lines(parts, day, context))
    common = _common(given, party, day, context)
    return Credit(
        **common,
        number=number,
        state="open",
        opened_at=given.opened_at,
        opened_on=day.on,
        voided_at=None,
        source_document_id=None,
        refund_id=None,
        lines=translated_credit(lines, common["worth"]),
        tax_account_id=day.roles[side.tax],
        tax_total=sum(line.tax_amount for line in lines),
        total_amount=given.amount,
        memo=given.memo,
    )


def _prepayment(given: PrepaymentGiven, party: Party, day: Day, context: Context) -> Payment:
    """Create a completed payment of the remaining money; it settles nothing before the opening."""
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
    """Return the fields of every item; without a rate it takes that of the day of the opening."""
    with AboutItem(given.place):
        currency = currency_or_base(given.currency, context)
        worth = worth_of(currency, given.amount, given.worth, day.on, context)
    return {
        "id": context.identify(),
        "version": 0,
        "created_at": context.now,
        "updated_at": context.now,
        "party": party,
        "external_id": given.external_id,
        "currency": currency,
        "worth": worth,
        "opening_id": day.opening_id,
    }


def _refuse_later(given: OpenItem, day: Day, *dates: date) -> None:
    """Refuse an item that is dated after the opening: it is recorded as any other."""
    latest = max(dates)
    if latest > day.on:
        with AboutItem(given.place):
            raise RuleViolation(
                "dated_after_opening",
                "Its date is after the opening date. Leave it out and record it separately.",
                date=latest.isoformat(),
                opening_date=day.on.isoformat(),
            )
