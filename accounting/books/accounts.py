"""Accounts of a business, references to them, and when an account may be used or archived."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from typing import Literal
from uuid import UUID

from accounting.books.chart import Roles, is_control
from accounting.errors import Conflict, RuleViolation


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account of the chart as it is stored; `cash_flow` is its explicit class, if any.

    All lines on an account with a `currency` have that currency and an own amount; without one, the
    account is kept in base.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    code: str
    name: str
    account_type: str
    account_subtype: str
    role: str | None = None
    balance_behavior: str | None = None
    parent_id: UUID | None = None
    external_id: str | None = None
    description: str | None = None
    institution_name: str | None = None
    iban: str | None = None
    sort_code: str | None = None
    account_number_mask: str | None = None
    archived_at: datetime | None = None
    cash_flow: str | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class AccountReference:
    """A caller's reference to an account; `any` may be an id, a code or an external id.

    They are tried in this order.
    """

    kind: Literal["id", "code", "external_id", "any"]
    value: UUID | str


@dataclass(frozen=True, slots=True)
class BookAccounts:
    """The accounts that a document needs: those with a role, and those that it names.

    `currency` is that of a foreign document.
    """

    roles: Roles
    named: Mapping[AccountReference, Account]
    currency: str | None = None

    def of(self, currency: str, base_currency: str) -> "BookAccounts":
        """Return the accounts of a document in a currency."""
        return self if currency == base_currency else replace(self, currency=currency)


def usable(
    reference: AccountReference, account: Account | None, *, control: bool = False
) -> Account:
    """Check an account that a caller named, and return it; `control` allows control accounts.

    Raises RuleViolation `reference_not_found` or `control_account`, Conflict `account_archived`.
    """
    if account is None:
        raise RuleViolation(
            "reference_not_found",
            "The business has no such account.",
            resource="account",
            reference=str(reference.value),
        )
    if is_control(account.role) and not control:
        raise RuleViolation(
            "control_account",
            "Only the system posts to this account. Choose another account.",
            account_id=str(account.id),
            account_code=account.code,
        )
    if account.archived_at is not None:
        raise Conflict(
            "account_archived",
            "The account is archived. Unarchive it or choose another account.",
            account_id=str(account.id),
            account_code=account.code,
        )
    return account


def usable_in(
    currency: str | None, reference: AccountReference, account: Account | None
) -> Account:
    """Check an account that a caller named for amounts in base, or in a foreign currency.

    Raises RuleViolation `currency_mismatch`, and what `usable` raises.
    """
    account = usable(reference, account)
    if account.currency not in (None, currency):
        raise RuleViolation(
            "currency_mismatch",
            f"The account takes only amounts in {account.currency}. Choose another account.",
            account_id=str(account.id),
            account_code=account.code,
            currency=account.currency,
        )
    return account


def named_or(default: UUID, reference: AccountReference | None, accounts: BookAccounts) -> UUID:
    """Return the id of the account that a caller names, else the default.

    Raises what `usable_in` raises.
    """
    if reference is None:
        return default
    return usable_in(accounts.currency, reference, accounts.named.get(reference)).id


MOST_CHILDREN_NAMED = 20


def refuse_archiving(
    balance: int, active_children: Sequence[Account], currency_balance: int = 0
) -> None:
    """Refuse to archive an account that holds a balance or has active children.

    An account with a currency holds a balance also if only its own one is not zero. Raises Conflict
    `account_has_balance`, or `account_has_children`, which lists the first 20.
    """
    if balance or currency_balance:
        own = {"currency_balance": currency_balance} if currency_balance else {}
        raise Conflict(
            "account_has_balance",
            "The account's balance is not zero. Post the balance to another account first.",
            current_balance=balance,
            **own,
        )
    if active_children:
        raise Conflict(
            "account_has_children",
            "The account has active child accounts. Archive them first.",
            active_children=len(active_children),
            children=[
                {"id": str(child.id), "code": child.code, "name": child.name}
                for child in active_children[:MOST_CHILDREN_NAMED]
            ],
        )


# The chart as a tree: the parents, levels and branches of accounts.


MOST_LEVELS = 20


@dataclass(frozen=True, slots=True)
class AccountTree:
    """The accounts of a business by id, and the children of each in their original order."""

    accounts: dict[UUID, Account]
    children: dict[UUID | None, tuple[UUID, ...]]

    @classmethod
    def of(cls, accounts: Iterable[Account]) -> "AccountTree":
        """Build the tree; an account whose parent is not in it becomes a root."""
        by_id = {account.id: account for account in accounts}
        children: dict[UUID | None, list[UUID]] = defaultdict(list)
        for account in by_id.values():
            parent = account.parent_id if account.parent_id in by_id else None
            children[parent].append(account.id)
        return cls(by_id, {parent: tuple(ids) for parent, ids in children.items()})

    def under(self, account_id: UUID | None) -> tuple[UUID, ...]:
        """Return the ids of the children of an account; of None, those of the roots."""
        return self.children.get(account_id, ())

    def branch(self, account_id: UUID) -> Iterator[UUID]:
        """Yield the ids of an account and of everything under it."""
        yield account_id
        for child in self.under(account_id):
            yield from self.branch(child)

    def above(self, account_id: UUID) -> Iterator[Account]:
        """Yield the ancestors of an account, its parent first."""
        parent = self.accounts[account_id].parent_id
        while parent in self.accounts:
            yield self.accounts[parent]
            parent = self.accounts[parent].parent_id

    def level(self, account_id: UUID) -> int:
        """Return the number of ancestors of an account: 0 for a root."""
        return sum(1 for _ in self.above(account_id))


def refuse_unfit_parent(parent: Account, account_type: str, level: int) -> None:
    """Refuse to put an account under an unsuitable parent, which is on `level`.

    Raises Conflict `account_archived`, RuleViolation `account_type_mismatch` if the types differ (a
    branch could not be added up) and `account_too_deep` below 20 levels.
    """
    if parent.archived_at is not None:
        raise Conflict(
            "account_archived",
            "The parent account is archived. Unarchive it first.",
            account_id=str(parent.id),
            account_code=parent.code,
        )
    if parent.account_type != account_type:
        raise RuleViolation(
            "account_type_mismatch",
            f"An account under {parent.code} must have the same account type,"
            f" {parent.account_type}.",
            account_type=str(account_type),
            parent_account_type=str(parent.account_type),
        )
    if level + 1 >= MOST_LEVELS:
        raise RuleViolation(
            "account_too_deep",
            f"A chart of accounts has at most {MOST_LEVELS} levels.",
            limit=MOST_LEVELS,
        )


def free_code(code: str, taken: Collection[str]) -> str:
    """Return a code, or the first free one after it.

    After 1100 comes 1101, or 1102 if 1101 is taken; after BANK, BANK-1.
    """
    if code not in taken:
        return code
    digits = code.isascii() and code.isdecimal()
    after = (
        str(int(code) + step).zfill(len(code)) if digits else f"{code[:40]}-{step}"
        for step in count(1)
    )
    return next(each for each in after if each not in taken)
