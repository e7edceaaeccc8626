"""Creation and reversal of the opening of books, each as a whole."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from uuid import UUID

from accounting.books.accounts import Account, AccountReference, usable
from accounting.books.businesses import Context, refuse_locked
from accounting.books.chart import CONTROL_ROLES, Roles
from accounting.books.commands import EntryLineGiven
from accounting.books.foreign import ForeignAmount
from accounting.books.own_amounts import with_own_amount
from accounting.errors import AboutItem, Conflict, RuleViolation
from accounting.money import within_bounds
from accounting.opening.commands import OpenBooks
from accounting.opening.opening_items import Day, Parties, opened_with
from accounting.opening.openings import (
    OpenedBooks,
    OpenedWith,
    Opening,
    control_totals,
    stated_in_base,
)
from accounting.tax.codes import TaxCodes
from accounting.trade import credits, documents, payments
from accounting.trade.payments import completions_after
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side

Named = Mapping[AccountReference, Account]
MOST_TOLD = 20


@dataclass(frozen=True, slots=True)
class OpeningContext:
    """The records that an opening needs: accounts, tax codes, and the parties of both sides."""

    roles: Roles
    named: Named
    codes: TaxCodes
    customers: Parties
    vendors: Parties


def account_references(command: OpenBooks, roles: Roles) -> frozenset[AccountReference]:
    """List the accounts that an opening names or may show, so that they can be loaded first."""
    control = {AccountReference("id", roles[role]) for role in CONTROL_ROLES}
    taxed = (*command.sales.taxed, *command.purchases.taxed)
    named = (line.account for each in taxed for line in each.accounts)
    return frozenset({*control, *(line.account for line in command.accounts), *named})


def names_codes(command: OpenBooks) -> bool:
    """Return whether an item is given by tax code, so that the codes must be loaded."""
    return any(each.taxes for each in (*command.sales.taxed, *command.purchases.taxed))


def open_books(command: OpenBooks, known: OpeningContext, context: Context) -> OpenedBooks:
    """Open the books on a day, with all balances and open items.

    A bank account of 100 and an invoice over 20 make an opening with one invoice, and 120 of
    opening balance equity. Raises what `opened_with` raises; Conflict `period_locked` or
    `account_archived`; RuleViolation `reference_not_found`, `currency_amount_required`,
    `currency_mismatch`, `currency_amount_invalid` or `amount_too_large`. `openings.refuse_untied`
    checks the control accounts.
    """
    refuse_locked(context, command.on)
    id_ = context.identify()
    day = Day(id_, command.on, known.roles, known.codes, known.named)
    stated = _stated(command.accounts, known.named, context.currency)
    sales = opened_with(RECEIVABLE, command.sales, known.customers, day, context)
    purchases = opened_with(PAYABLE, command.purchases, known.vendors, day, context)
    opening = Opening(
        id=id_,
        version=0,
        created_at=context.now,
        updated_at=context.now,
        opened_on=command.on,
        currency=context.currency,
        memo=command.memo,
        stated=stated,
        documented={**control_totals(RECEIVABLE, sales), **control_totals(PAYABLE, purchases)},
    )
    _refuse_too_large(opening)
    return OpenedBooks(opening, sales, purchases)


def refuse_reversing(opening: Opening) -> None:
    """Refuse to reverse an opening that is reversed already.

    Raises Conflict `invalid_state_transition`.
    """
    if opening.reversed_at is not None:
        raise Conflict.of_state("The opening balance is already reversed.", "reversed")


def reverse(opened: OpenedBooks, on: date | None, context: Context) -> OpenedBooks:
    """Reverse an opening with all its items, on a day or today.

    It is never reversed before its own day; its external ids become free. Raises Conflict
    `invalid_state_transition`, `opening_balance_settled` or `period_locked`.
    """
    refuse_reversing(opened.opening)
    _refuse_settled(opened)
    if on is not None:
        refuse_locked(context, on)
    context = context.on(on)
    return OpenedBooks(
        replace(
            opened.opening,
            reversed_at=context.at,
            reversed_on=context.day,
            updated_at=context.now,
        ),
        _voided(opened.sales, context),
        _voided(opened.purchases, context),
    )


def _stated(lines: Iterable[EntryLineGiven], named: Named, base_currency: str) -> dict[UUID, int]:
    """Sum the stated amounts by account; control accounts are allowed.

    Only an account with a currency has amounts in one, so that its sum is in one currency.
    """
    sums: dict[UUID, int] = defaultdict(int)
    for place, line in enumerate(lines):
        account = usable(line.account, named.get(line.account), control=True)
        amount = with_own_amount(line, account, base_currency, f"accounts.{place}")
        if isinstance(amount, ForeignAmount) and account.currency is None:
            with AboutItem(f"accounts.{place}"):
                raise _kept_in_base(account, amount.currency)
        sums[account.id] += amount
    return dict(sums)


def _kept_in_base(account: Account, currency: str) -> RuleViolation:
    return RuleViolation(
        "currency_mismatch",
        "The account is kept in the base currency. Omit currency and currency_amount.",
        field="currency",
        account_code=account.code,
        currency=currency,
    )


def _refuse_too_large(opening: Opening) -> None:
    for amounts in (stated_in_base(opening), opening.documented):
        within_bounds(sum(max(each, 0) for each in amounts.values()))
        within_bounds(sum(min(each, 0) for each in amounts.values()))
    for amount in opening.stated.values():
        within_bounds(int(amount))


def _voided(opened: OpenedWith, context: Context) -> OpenedWith:
    gone: dict[str, Any] = {"external_id": None, "updated_at": context.now}
    void = {**gone, "state": "void", "voided_at": context.at, "voided_on": context.day}
    return OpenedWith(
        tuple(replace(each, **void) for each in opened.documents),
        tuple(replace(each, **void) for each in opened.credits),
        tuple(
            replace(
                each,
                **gone,
                status="cancelled",
                completions=completions_after(
                    each.completions, each.status, "cancelled", context.on(context.day)
                ),
            )
            for each in opened.payments
        ),
    )


def _refuse_settled(opened: OpenedBooks) -> None:
    standing = {
        f"{name}_ids": ids[:MOST_TOLD]
        for side, mine in ((RECEIVABLE, opened.sales), (PAYABLE, opened.purchases))
        for name, ids in _settled(side, mine).items()
        if ids
    }
    if standing:
        raise Conflict(
            "opening_balance_settled",
            "Part of the opening balance is settled, applied, refunded or written off. Undo"
            " that first.",
            **standing,
        )


def _settled(side: Side, opened: OpenedWith) -> dict[str, list[str]]:
    """List the ids of the items that are no longer as they were opened, by kind."""
    moved = [each.id for each in opened.documents if any(documents.touched(each).values())]
    applied = [each.id for each in opened.credits if credits.used(each)]
    used = [each.id for each in opened.payments if payments.allocated(each)]
    found = {side.document_source: moved, side.credit_source: applied, side.payment_source: used}
    return {name: [str(id_) for id_ in ids] for name, ids in found.items()}
