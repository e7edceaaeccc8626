"""The opening of books as it is stored: stated account balances, and totals of its documents.

The balances of control accounts, such as receivables, come from the documents: a stated amount must
only agree with them. All other balances are as they are stated.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from accounting.books.accounts import Account, AccountReference
from accounting.books.chart import CONTROL_ROLES, Role, Roles
from accounting.books.foreign import Worth, in_base, with_base
from accounting.books.ledger import (
    Entry,
    Movement,
    PostedEntry,
    Source,
    as_reversals,
    days,
    difference,
    normal_sign,
)
from accounting.books.time_zones import stored_day
from accounting.errors import RuleViolation
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.payments import Payment
from accounting.trade.postings import MAIN, Amount, during
from accounting.trade.sides import Side

Amounts = Mapping[UUID, int]
"""Amounts by account, debits above zero; those of an account with a currency have their base."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """An opening of books on a day.

    `stated` is the amount entered for each account, debits above zero; `documented` is the total of
    its documents, credits and payments for each account role, in base.
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
    reversed_on: date | None = None
    posted: tuple[PostedEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenedWith:
    """The documents, credits and payments of an opening on one side."""

    documents: tuple[Document, ...] = ()
    credits: tuple[Credit, ...] = ()
    payments: tuple[Payment, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenedBooks:
    """An opening with all records that it created."""

    opening: Opening
    sales: OpenedWith
    purchases: OpenedWith


@dataclass(frozen=True, slots=True)
class Tie:
    """A control account of an opening: its stated amount, and the total of its documents.

    Amounts are positive on the account's own side; `stated` is None if no amount was entered.
    """

    account: Account
    stated: int | None
    documented: int

    @property
    def difference(self) -> int:
        """The stated amount less the documents: 1000 with documents over 900 differ by 100."""
        return 0 if self.stated is None else self.stated - self.documented


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of an opening; a control account that was not stated counts with its documents.

    `difference` is posted to opening balance equity. `equity` is what the whole opening posts
    there, credits above zero.
    """

    debits: int
    credits: int
    equity: int

    @property
    def difference(self) -> int:
        """The debits less the credits: of 100 and 60, 40."""
        return self.debits - self.credits


def status(opening: Opening) -> str:
    """Return the status that callers see: open or reversed."""
    return "open" if opening.reversed_at is None else "reversed"


def control_totals(side: Side, opened: OpenedWith) -> dict[Role, int]:
    """Sum documents, credits and payments by the role of their account, debits above zero.

    Invoices over 900 with a credit over 100 give 900 on receivables and -100 on credits. The sums
    are in base: USD 100.00 at 0.90 counts as 90.00.
    """
    sums = {
        side.control: sum(_worth(each.total_amount, each.worth) for each in opened.documents),
        side.credits: -sum(_worth(each.total_amount, each.worth) for each in opened.credits),
        side.prepayments: -sum(_worth(each.total, each.worth) for each in opened.payments),
    }
    return {role: side.sign * amount for role, amount in sums.items()}


def stated_in_base(opening: Opening) -> dict[UUID, int]:
    """Return the amount entered for each account in base, debits above zero."""
    return {account: in_base(amount) for account, amount in opening.stated.items()}


def _worth(total: int, worth: Worth | None) -> int:
    return in_base(with_base(total, worth))


def accounts_shown(opening: Opening, roles: Roles) -> frozenset[AccountReference]:
    """List the accounts on which an opening has an amount."""
    held = {roles[role] for role, amount in opening.documented.items() if amount}
    return frozenset(AccountReference("id", each) for each in {*opening.stated, *held})


def balances(opening: Opening, roles: Roles) -> dict[UUID, int]:
    """Return the amounts of all accounts but control accounts, debits above zero.

    Opening balance equity is left out: it takes the rest.
    """
    theirs = {roles[role] for role in CONTROL_ROLES}
    own = {*theirs, roles[Role.OPENING_BALANCE_EQUITY]}
    return {account: amount for account, amount in opening.stated.items() if account not in own}


def totals(opening: Opening, roles: Roles) -> Totals:
    """Sum an opening in base.

    A bank account of 100 and an invoice over 20, against a loan of 90 and nothing else, leave 30
    for opening balance equity.
    """
    held = {roles[role]: amount for role, amount in opening.documented.items()}
    whole = {**held, **stated_in_base(opening)}
    return Totals(
        debits=sum(max(amount, 0) for amount in whole.values()),
        credits=sum(max(-amount, 0) for amount in whole.values()),
        equity=sum(map(in_base, balances(opening, roles).values()))
        + sum(opening.documented.values()),
    )


def ties(opening: Opening, accounts: Mapping[UUID, Account], roles: Roles) -> list[Tie]:
    """Compare the stated amount of each control account with its documents, by account code.

    Receivables stated at 1000 with invoices over 900 differ by 100. An account without a stated
    amount has the total of its documents.
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
    """Refuse an opening with a control account that is not stated as its documents are.

    Raises RuleViolation `opening_does_not_tie`.
    """
    if not any(tie.difference for tie in found):
        return
    total = totals(made, roles)
    raise RuleViolation(
        "opening_does_not_tie",
        "The balance of a control account does not equal the total of its open documents.",
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


# The ledger movements of an opening itself; its documents and payments post their own.


OPENING = "opening_balance"


def entries_for(opening: Opening, roles: Roles, lock_date: date | None) -> list[Entry]:
    """Return the entries to post for an opening, given what was posted for it before.

    A reversed opening is undone by linked reversals.
    """
    source = Source(OPENING, opening.id, None, {MAIN: "opening balances"})
    entries = difference(source, desired(opening, roles), opening.posted, lock_date)
    return entries if opening.reversed_at is None else as_reversals(entries, opening.posted)


def desired(opening: Opening, roles: Roles) -> list[Movement]:
    """Return the movements that an opening needs: its balances, and the rest on 3290."""
    return list(_balances(opening, roles))


def _balances(opening: Opening, roles: Roles) -> Iterator[Movement]:
    """Yield the movements: 100 in a bank and a loan of 90 leave 10 on opening balance equity.

    The rest is in base: of USD 100.00 worth EUR 90.00 in a bank, EUR 90.00.
    """
    stated = balances(opening, roles)
    equity = roles[Role.OPENING_BALANCE_EQUITY]
    amounts = [Amount(account, amount) for account, amount in stated.items()]
    amounts.append(Amount(equity, -sum(map(in_base, stated.values()))))
    end = stored_day(opening.reversed_on, opening.reversed_at)
    yield from during(days(opening.opened_on, end, opening.opened_on), MAIN, amounts)
