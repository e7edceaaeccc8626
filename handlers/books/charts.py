"""A chart of accounts with balances, and the serialization of its accounts."""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any
from uuid import UUID

from babel.numbers import format_currency, get_currency_precision

from accounting.books import chart
from accounting.books.accounts import Account, AccountTree
from accounting.books.cash_flow import CashFlow, cash_flow_class
from accounting.books.chart import AccountType
from accounting.books.ledger import balance, normal_sign
from handlers.shared.responses import day_start
from handlers.tax.tax_code_responses import serialize_mark
from persistence.ledger.account_entries import AccountEntry
from persistence.ledger.accounts import AccountState

COLUMNS = (
    "code",
    "name",
    "account_type",
    "account_subtype",
    "parent_account_code",
    "hierarchy_level",
    "external_id",
    "description",
    "is_active",
    "is_control_account",
    "currency",
    "debit_balance",
    "credit_balance",
    "current_balance",
)
"""The columns of the chart as a file."""

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
    """The accounts of a business with their balances; `by_period` if a period is requested."""

    def __init__(
        self, states: Iterable[AccountState], currency: str, *, by_period: bool = False
    ) -> None:
        self.states = {state.id: state for state in states}
        self.tree = AccountTree.of(state.account for state in self.states.values())
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

    def with_state(self, state: AccountState) -> "Chart":
        """Return a copy of the chart with one account replaced."""
        return Chart(
            {**self.states, state.id: state}.values(), self.currency, by_period=self.by_period
        )

    def active(self) -> "Chart":
        """Return a chart without the archived accounts."""
        kept = (state for state in self.states.values() if state.account.archived_at is None)
        return Chart(kept, self.currency, by_period=self.by_period)

    def under(self, account_id: UUID | None) -> Iterator[AccountState]:
        """Return the direct children of an account; the root accounts for None."""
        return (self.states[child] for child in self.tree.under(account_id))

    def active_children(self, account_id: UUID) -> list[Account]:
        """Return the direct children of an account that are not archived."""
        children = (child.account for child in self.under(account_id))
        return [child for child in children if child.archived_at is None]

    def cash_flow(self, state: AccountState) -> CashFlow | None:
        """Return the section of the cash flow statement to which an account belongs."""
        return cash_flow_class(state.account, self.tree.above(state.id), self._banked)

    @cached_property
    def _banked(self) -> set[UUID]:
        return {state.id for state in self.states.values() if state.banked}

    def rollup(self, account_id: UUID, balance_of: Callable[[AccountState], int]) -> int:
        """Sum the balances of an account and all accounts below it.

        All accounts of a branch are of one type; its normal sign is used.
        """
        return sum(balance_of(self.states[each]) for each in self.tree.branch(account_id))


def ever(state: AccountState) -> int:
    """Return the balance of all postings to an account, in the normal sign of its type."""
    return balance(state.account.account_type, state.debits, state.credits)


def within_period(state: AccountState) -> int:
    """Return the balance of the requested period, in the normal sign of the account's type."""
    return balance(state.account.account_type, state.period_debits, state.period_credits)


def serialize(chart_read: Chart, state: AccountState) -> dict[str, Any]:
    """Serialize an account with its balances and child accounts."""
    account, currency = state.account, chart_read.currency
    parent = chart_read.states.get(account.parent_id) if account.parent_id else None
    movement = state.movement if chart_read.by_period else None
    children = [serialize(chart_read, child) for child in chart_read.under(state.id)]
    return {
        **{name: getattr(account, name) for name in DISPLAYED},
        "currency": account.currency or currency,
        "account_type_display": chart.display(account.account_type),
        "account_subtype_display": chart.display(account.account_subtype),
        "cash_flow": chart_read.cash_flow(state),
        "is_control_account": chart.is_control(account.role),
        "parent_account_code": parent.account.code if parent else None,
        "current_balance": state.balance,
        "current_balance_formatted": formatted(state.balance, currency),
        "currency_balance": state.currency_balance,
        "rollup_balance": chart_read.rollup(state.id, ever),
        "debit_balance": state.debits,
        "credit_balance": state.credits,
        "period_balance": movement,
        "period_balance_formatted": None if movement is None else formatted(movement, currency),
        "has_children": bool(children),
        "hierarchy_level": chart_read.tree.level(state.id),
        "is_active": account.archived_at is None,
        "total_debits": state.debit_count,
        "total_credits": state.credit_count,
        "last_entry_date": day_start(state.last_entry_date),
        "last_entry_reference": state.last_entry_reference,
        "sub_accounts": children,
    }


@lru_cache(maxsize=4096)
def formatted(amount: int, currency: str) -> str:
    """Format 123456 EUR as €1,234.56 and 1234 ISK, which has no minor unit, as ISK 1,234."""
    whole = Decimal(amount).scaleb(-get_currency_precision(currency))
    return str(format_currency(whole, currency, locale="en_GB"))


def serialize_type(chart_read: Chart, account_type: AccountType) -> dict[str, Any]:
    """Serialize an account type with its subtypes and their accounts, as nodes of the tree."""
    subtypes = [
        _group(account_type, subtype, [serialize_node(chart_read, root) for root in roots])
        for subtype in chart.subtypes_of(account_type)
        for roots in [
            [each for each in chart_read.under(None) if each.account.account_subtype == subtype]
        ]
    ]
    return _group(account_type, None, subtypes)


def _group(
    account_type: AccountType, subtype: str | None, children: list[dict[str, Any]]
) -> dict[str, Any]:
    """Serialize a type or subtype with its children and their total."""
    held = sum(child["rollup_balance"] for child in children)
    return {
        "id": None,
        "code": None,
        "name": chart.display(subtype or account_type),
        "account_type": account_type,
        "account_subtype": subtype,
        "current_balance": held,
        "rollup_balance": held,
        "children": children,
    }


def serialize_node(chart_read: Chart, state: AccountState) -> dict[str, Any]:
    """Serialize an account of the tree, with its balances up to the requested day."""
    account = state.account
    return {
        "id": account.id,
        "code": account.code,
        "name": account.name,
        "account_type": account.account_type,
        "account_subtype": account.account_subtype,
        "current_balance": state.movement,
        "rollup_balance": chart_read.rollup(account.id, within_period),
        "children": [serialize_node(chart_read, child) for child in chart_read.under(account.id)],
    }


def cells(chart_read: Chart, state: AccountState) -> list[Any]:
    """Return an account as a row of COLUMNS, with its balances up to the requested day."""
    account = state.account
    parent = chart_read.states.get(account.parent_id) if account.parent_id else None
    return [
        account.code,
        account.name,
        account.account_type,
        account.account_subtype,
        parent.account.code if parent else None,
        chart_read.tree.level(account.id),
        account.external_id,
        account.description,
        account.archived_at is None,
        chart.is_control(account.role),
        chart_read.currency,
        state.period_debits,
        state.period_credits,
        state.movement,
    ]


def serialize_entry(account: Account, entry: AccountEntry) -> dict[str, Any]:
    """Serialize a line of an account; amounts on the account's normal side are positive."""
    sign = normal_sign(account.account_type, account.balance_behavior)
    return {
        "id": entry.id,
        "journal_entry_id": entry.entry_id,
        "sequence_number": entry.sequence_number,
        "entry_date": entry.entry_date,
        "description": entry.description,
        "reference": entry.reference,
        "source_type": entry.source_type,
        "source_id": entry.source_id,
        "debit_amount": entry.debit,
        "credit_amount": entry.credit,
        "amount": sign * (entry.debit - entry.credit),
        "running_balance": sign * entry.net,
        **serialize_mark(entry.tax),
        "posted_at": entry.posted_at,
        "created_at": entry.created_at,
    }
