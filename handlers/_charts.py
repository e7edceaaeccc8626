"""A chart as it was read, and how its accounts are shown."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any
from uuid import UUID

from accounting import chart
from accounting.ledger import balance
from accounting.outline import Outline
from handlers.amounts import formatted
from persistence.accounts import AccountState
from persistence.store import not_found

DISPLAYED = (
    "id",
    "external_id",
    "code",
    "name",
    "account_type",
    "account_subtype",
    "balance_behavior",
    "parent_id",
    "description",
    "institution_name",
    "iban",
    "sort_code",
    "account_number_mask",
    "created_at",
    "updated_at",
    "archived_at",
)


class Chart:
    """The accounts of a business with their balances; `by_period` when a period was asked for."""

    def __init__(
        self, states: Iterable[AccountState], currency: str, *, by_period: bool = False
    ) -> None:
        self.states = {state.id: state for state in states}
        self.outline = Outline.of(state.account for state in self.states.values())
        self.currency = currency
        self.by_period = by_period

    @cached_property
    def _named(self) -> list[dict[str, AccountState]]:
        """The accounts by id, by code and by external id."""
        return [
            {
                str(value): state
                for state in self.states.values()
                if (value := getattr(state.account, name)) is not None
            }
            for name in ("id", "code", "external_id")
        ]

    def find(self, reference: str) -> AccountState | None:
        """Find an account by id, then by code, then by external id."""
        ids, codes, external_ids = self._named
        return ids.get(reference.lower()) or codes.get(reference) or external_ids.get(reference)

    def named(self, reference: str) -> AccountState:
        """Find an account as `find` does; raises NotFound."""
        found = self.find(reference)
        if found is None:
            raise not_found("account")
        return found

    def with_state(self, state: AccountState) -> "Chart":
        """The same chart with one account as it is now."""
        return Chart(
            {**self.states, state.id: state}.values(), self.currency, by_period=self.by_period
        )

    def active(self) -> "Chart":
        """Only the accounts that are not archived."""
        kept = (state for state in self.states.values() if state.account.archived_at is None)
        return Chart(kept, self.currency, by_period=self.by_period)

    def under(self, account_id: UUID | None) -> Iterator[AccountState]:
        """The accounts right under one; under None stand the roots."""
        return (self.states[child] for child in self.outline.under(account_id))

    def active_children(self, account_id: UUID) -> int:
        """How many accounts under one are not archived."""
        return sum(child.account.archived_at is None for child in self.under(account_id))

    def rollup(self, account_id: UUID) -> int:
        """The balance of an account and of everything under it, positive on the account's side.

        A contra account below it subtracts, whatever side its own balance is shown on.
        """
        account = self.states[account_id].account
        branch = [self.states[each] for each in self.outline.branch(account_id)]
        debits, credits_ = sum(each.debits for each in branch), sum(each.credits for each in branch)
        return balance(account.account_type, debits, credits_, account.balance_behavior)


def shape(chart_read: Chart, state: AccountState) -> dict[str, Any]:
    """Show an account with its balances and the accounts under it."""
    account, currency = state.account, chart_read.currency
    parent = chart_read.states.get(account.parent_id) if account.parent_id else None
    movement = state.movement if chart_read.by_period else None
    children = [shape(chart_read, child) for child in chart_read.under(state.id)]
    return {
        **{name: getattr(account, name) for name in DISPLAYED},
        "currency": currency,
        "account_type_display": chart.display(account.account_type),
        "account_subtype_display": chart.display(account.account_subtype),
        "is_control_account": chart.is_control(account.role),
        "parent_account_code": parent.account.code if parent else None,
        "current_balance": state.balance,
        "current_balance_formatted": formatted(state.balance, currency),
        "rollup_balance": chart_read.rollup(state.id),
        "debit_balance": state.debits,
        "credit_balance": state.credits,
        "period_balance": movement,
        "period_balance_formatted": None if movement is None else formatted(movement, currency),
        "has_children": bool(children),
        "hierarchy_level": chart_read.outline.level(state.id),
        "is_active": account.archived_at is None,
        "total_debits": state.debit_count,
        "total_credits": state.credit_count,
        "last_entry_date": (
            f"{state.last_entry_date}T00:00:00Z" if state.last_entry_date else None
        ),
        "last_entry_reference": state.last_entry_reference,
        "sub_accounts": children,
    }


def shape_node(chart_read: Chart, state: AccountState) -> dict[str, Any]:
    """Show an account in the tree, with its balance up to the day that was asked for."""
    account = state.account
    return {
        "id": account.id,
        "code": account.code,
        "name": account.name,
        "account_type": account.account_type,
        "account_subtype": account.account_subtype,
        "current_balance": state.movement,
        "children": [shape_node(chart_read, child) for child in chart_read.under(account.id)],
    }
