"""The chart as a tree: the parents, levels and branches of accounts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from accounting.books.accounts import Account
from accounting.errors import Conflict, RuleBroken

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

    Raises Conflict `account_archived`, RuleBroken `account_type_mismatch` if the types differ (a
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
        raise RuleBroken(
            "account_type_mismatch",
            f"An account under {parent.code} must have the same account type,"
            f" {parent.account_type}.",
            account_type=str(account_type),
            parent_account_type=str(parent.account_type),
        )
    if level + 1 >= MOST_LEVELS:
        raise RuleBroken(
            "account_too_deep",
            f"A chart of accounts has at most {MOST_LEVELS} levels.",
            limit=MOST_LEVELS,
        )
