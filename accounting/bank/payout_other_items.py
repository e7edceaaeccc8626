"""Items of a payout besides payments and refunds: disputes, reserves, adjustments."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from accounting.absent import or_else
from accounting.bank.commands import OtherItemGiven, SavePayout
from accounting.books.accounts import AccountReference, BookAccounts, named_or
from accounting.books.chart import Role, Roles
from accounting.errors import Malformed, RuleBroken
from accounting.tax.day_codes import Referenced
from accounting.tax.gross_amounts import Gross, HeldTax, held_taxes

ADJUSTMENT = "adjustment"
ROLES: Mapping[str, Role] = {
    "chargeback": Role.CHARGEBACKS,
    "chargeback_reversal": Role.CHARGEBACKS,
    "dispute_fee": Role.PROCESSING_FEES,
    "reserve_hold": Role.PROCESSOR_RESERVE,
    "reserve_release": Role.PROCESSOR_RESERVE,
}
"""The account role of each item type; an adjustment names its own account."""

SIGNS: Mapping[str, int] = {
    "chargeback": -1,
    "chargeback_reversal": 1,
    "reserve_hold": -1,
    "reserve_release": 1,
}
"""The item types with a fixed sign; a processor may also refund a fee."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherItem:
    """Another item of a payout; an amount above zero raises the payout, below zero it lowers it."""

    kind: str
    amount: int
    account_id: UUID
    description: str | None = None
    external_id: str | None = None
    payment_id: UUID | None = None
    tax: HeldTax | None = None


def total(items: Iterable[OtherItem]) -> int:
    """Sum other items: a chargeback of -5000 and a released reserve of 2000 give -3000."""
    return sum(each.amount for each in items)


def account_references(command: SavePayout) -> frozenset[AccountReference]:
    """List the accounts that adjustments go to, so that they can be loaded first."""
    given = or_else(command.other_items, ())
    return frozenset(each.account for each in given if each.account is not None)


def names_codes(command: SavePayout) -> bool:
    """Return whether an item names a tax code, so that the codes must be loaded."""
    return any(each.tax_code is not None for each in or_else(command.other_items, ()))


def other_items(
    given: Sequence[OtherItemGiven], referenced: Referenced, day: date
) -> tuple[OtherItem, ...]:
    """Find the account of each item, and compute the tax in those that name a tax code.

    Raises Malformed `validation_error` for an amount of 0 or of the wrong sign, and for an account
    in an item other than an adjustment; Conflict `account_archived`; RuleBroken
    `reference_not_found`, `control_account`, or `same_account` for the clearing account itself.
    """
    _refuse_malformed(given)
    codes = referenced.codes_on(None, day)
    gross = [
        Gross(
            abs(each.amount),
            _account_of(each, referenced.accounts),
            None if each.tax_code is None else codes.named(each.tax_code, each.place),
        )
        for each in given
    ]
    return tuple(
        OtherItem(
            kind=each.kind,
            amount=each.amount,
            account_id=whole.account_id,
            description=each.description,
            external_id=each.external_id,
            payment_id=each.payment_id,
            tax=held,
        )
        for each, whole, held in zip(
            given, gross, _held_each_way(given, gross, referenced.roles), strict=True
        )
    )


def _held_each_way(
    given: Sequence[OtherItemGiven], gross: Sequence[Gross], roles: Roles
) -> Iterator[HeldTax | None]:
    """Compute the tax in incoming and in outgoing amounts, each once for each tax code.

    At 20 %, 10 coming in include 2, and 88 going out 15; together, 98 would include 16.
    """
    ways = {
        comes: iter(
            held_taxes(
                [
                    whole
                    for each, whole in zip(given, gross, strict=True)
                    if (each.amount > 0) is comes
                ],
                roles,
            )
        )
        for comes in (True, False)
    }
    return (next(ways[each.amount > 0]) for each in given)


def _account_of(given: OtherItemGiven, accounts: BookAccounts) -> UUID:
    """Find the account of an item.

    The default of an adjustment is income if it is above zero, else expenses.
    """
    if given.kind != ADJUSTMENT:
        return accounts.roles[ROLES[given.kind]]
    default = Role.OTHER_OPERATING_INCOME if given.amount > 0 else Role.GENERAL_EXPENSES
    account_id = named_or(accounts.roles[default], given.account, accounts)
    if account_id == accounts.roles[Role.PROCESSOR_CLEARING]:
        raise RuleBroken(
            "same_account",
            "This is the clearing account itself. Choose the account that the adjustment is for.",
            account=str(account_id),
        )
    return account_id


def _refuse_malformed(given: Sequence[OtherItemGiven]) -> None:
    faults: dict[str, list[str]] = {}
    for place, each in enumerate(given):
        where = f"other_items.{place}"
        sign = SIGNS.get(each.kind, 0)
        if each.amount * sign < 0 or each.amount == 0:
            wanted = {0: "not be 0", 1: "be above 0", -1: "be below 0"}[sign]
            faults[f"{where}.amount_cents"] = [f"must {wanted} in an item of type {each.kind}"]
        if each.account is not None and each.kind != ADJUSTMENT:
            faults[f"{where}.account"] = ["is allowed only in an item of type adjustment"]
    if faults:
        raise Malformed.fields(**faults)
