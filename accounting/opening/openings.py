"""The opening of books as it is stored: what was stated of accounts, and what documents say of it.

Balances are what is stated of accounts. Receivables, payables and their like are the documents'
own: what is stated of them only has to agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from accounting.books.accounts import Account, AccountReference
from accounting.books.chart import CONTROL_ROLES, Role, Roles
from accounting.books.ledger import Posted, normal_sign
from accounting.errors import RuleBroken
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.payments import Payment
from accounting.trade.sides import Side

Amounts = Mapping[UUID, int]
"""Amounts by account, debits above zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """An opening of books on a day.

    `stated` says what was said of each account, debits above zero; `documented` what the documents
    and money that came with it hold on the accounts of their roles.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    opened_on: date
    currency: str
    memo: str | None
    stated: Amounts
    documented: Mapping[Role, int]
    reversed_at: datetime | None = None
    posted: tuple[Posted, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenedWith:
    """What an opening brought of one side of trade."""

    documents: tuple[Document, ...] = ()
    credits: tuple[Credit, ...] = ()
    payments: tuple[Payment, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenedBooks:
    """An opening with all that it brought."""

    opening: Opening
    sales: OpenedWith
    purchases: OpenedWith


@dataclass(frozen=True, slots=True)
class Tie:
    """An account that documents account for: what was stated of it, and what they hold there.

    Amounts are positive on the account's own side; nothing may have been stated.
    """

    account: Account
    stated: int | None
    documented: int

    @property
    def difference(self) -> int:
        """By how much more was stated: of 1000 with documents over 900, 100."""
        return 0 if self.stated is None else self.stated - self.documented


@dataclass(frozen=True, slots=True)
class Totals:
    """What an opening comes to; control accounts count with what their documents hold.

    `difference` is by how much the debits are more: it goes to opening balance equity, which holds
    `equity` by the whole opening, credits above zero.
    """

    debits: int
    credits: int
    equity: int

    @property
    def difference(self) -> int:
        """Debits of 100 against credits of 60 leave 40."""
        return self.debits - self.credits


def status(opening: Opening) -> str:
    """Say whether it stands, for callers."""
    return "open" if opening.reversed_at is None else "reversed"


def documented(side: Side, opened: OpenedWith) -> dict[Role, int]:
    """Add up what documents, credits and money hold on their accounts, debits above zero.

    Invoices over 900 with a credit over 100 hold 900 on receivables and -100 on credits.
    """
    sums = {
        side.control: sum(each.total_amount for each in opened.documents),
        side.credits: -sum(each.total_amount for each in opened.credits),
        side.prepayments: -sum(each.total for each in opened.payments),
    }
    return {role: side.sign * amount for role, amount in sums.items()}


def accounts_shown(opening: Opening, roles: Roles) -> frozenset[AccountReference]:
    """List the accounts that an opening speaks of."""
    held = {roles[role] for role, amount in opening.documented.items() if amount}
    return frozenset(AccountReference("id", each) for each in {*opening.stated, *held})


def balances(opening: Opening, roles: Roles) -> dict[UUID, int]:
    """Say what is posted of accounts that no documents account for, debits above zero.

    Opening balance equity is left out: it takes whatever is left.
    """
    theirs = {roles[role] for role in CONTROL_ROLES}
    own = {*theirs, roles[Role.OPENING_BALANCE_EQUITY]}
    return {account: amount for account, amount in opening.stated.items() if account not in own}


def totals(opening: Opening, roles: Roles) -> Totals:
    """Add up an opening.

    A bank account of 100 and an invoice over 20, against a loan of 90 and nothing else, leave 30:
    that is opening balance equity.
    """
    held = {roles[role]: amount for role, amount in opening.documented.items()}
    whole = {**held, **opening.stated}
    return Totals(
        debits=sum(max(amount, 0) for amount in whole.values()),
        credits=sum(max(-amount, 0) for amount in whole.values()),
        equity=sum(balances(opening, roles).values()) + sum(opening.documented.values()),
    )


def ties(opening: Opening, accounts: Mapping[UUID, Account], roles: Roles) -> list[Tie]:
    """Lay what was stated of each control account beside what documents hold there, by code.

    Receivables stated at 1000 with invoices over 900 differ by 100. One of which nothing was stated
    is what its documents hold.
    """
    held = {roles[role]: amount for role, amount in opening.documented.items()}
    found = []
    for role in CONTROL_ROLES:
        id_ = roles[role]
        stated, amount = opening.stated.get(id_), held.get(id_, 0)
        if stated is None and not amount:
            continue
        account = accounts[id_]
        sign = normal_sign(account.account_type, account.balance_behavior)
        found.append(Tie(account, None if stated is None else sign * stated, sign * amount))
    return sorted(found, key=lambda tie: tie.account.code)


def refuse_untied(made: Opening, found: Sequence[Tie], roles: Roles) -> None:
    """Refuse an opening in which something was stated that its documents do not hold.

    Raises RuleBroken `opening_does_not_tie`.
    """
    if not any(tie.difference for tie in found):
        return
    total = totals(made, roles)
    raise RuleBroken(
        "opening_does_not_tie",
        "What is stated of a control account is not what the open documents come to.",
        control_accounts=[
            {
                "account_id": str(tie.account.id),
                "account_code": tie.account.code,
                "stated_cents": tie.stated,
                "documented_cents": tie.documented,
                "difference_cents": tie.difference,
            }
            for tie in found
        ],
        total_debit=total.debits,
        total_credit=total.credits,
        difference_cents=total.difference,
    )
