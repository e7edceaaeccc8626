"""Days, accounts and parties for the tests of the rules."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import count
from typing import Any
from uuid import UUID

import pytest

from accounting.books.accounts import Account, AccountReference, BookAccounts
from accounting.books.businesses import Business, Context
from accounting.books.chart import STARTING_CHART, Role
from accounting.books.exchange_rates import KnownRates, RateTable
from accounting.books.ledger import Entry, Part, PostedEntry, Split
from accounting.errors import ApiError
from accounting.tax.codes import TaxCodes
from accounting.tax.day_codes import TaxReferences
from accounting.trade.parties import Party

ACME = Party(id=UUID(int=9001), name="Acme Ltd", email="books@acme.test", external_id="acme")
OTHER = Party(id=UUID(int=9002), name="Other Ltd", external_id="other")
ARCHIVED = replace(ACME, status="ARCHIVED")
BORN = datetime(2026, 1, 1, tzinfo=UTC)
STORED: dict[str, Any] = {"version": 1, "created_at": BORN, "updated_at": BORN}


def account_id(code: str) -> UUID:
    return UUID(int=int(code))


def part_on(code: str) -> Part:
    return Part(account_id(code))


def code_of(id_: UUID) -> str:
    return f"{id_.int:04d}"


def account(code: str, role: str | None = None, archived: bool = False) -> Account:
    return Account(
        id=account_id(code),
        code=code,
        name=code,
        account_type="revenue",
        account_subtype="revenue",
        role=role,
        archived_at=BORN if archived else None,
        **STORED,
    )


def named(code: str | None) -> AccountReference | None:
    """Return a reference to an account by its code, or None."""
    return None if code is None else AccountReference("code", code)


ROLES: Mapping[Role, UUID] = {
    each.role: account_id(each.code) for each in STARTING_CHART if each.role is not None
}
NAMED = {
    AccountReference("code", each.code): account(each.code, each.role) for each in STARTING_CHART
}
ACCOUNTS = BookAccounts(ROLES, NAMED)
REFERENCED = TaxReferences(ACCOUNTS, TaxCodes(()))


def day(text: str) -> date:
    """Read '10' or '02-10' as a day of January or of another month of 2026; a time is left out."""
    month, _, number = text.partition("T")[0].rpartition("-")
    return date(2026, int(month or 1), int(number))


def moment(text: str) -> datetime:
    """Read '10T23:30' as a moment in UTC; without a time it is noon."""
    at = time.fromisoformat(text.partition("T")[2] or "12:00")
    return datetime.combine(day(text), at, UTC)


def identifiers(first: int = 10_000) -> Callable[[], UUID]:
    numbers = count(first)
    return lambda: UUID(int=next(numbers))


def context_of(
    today: str,
    lock: str | None = None,
    identify: Callable[[], UUID] | None = None,
    timezone: str = "UTC",
) -> Context:
    lock_date = None if lock is None else day(lock)
    year_end = date(2026, 12, 31)
    business = Business(UUID(int=1), "GB", "GBP", "accrual", year_end, lock_date, timezone=timezone)
    return Context(business, moment(today), identify or identifiers())


def rates_on(on: str, **rates: str) -> KnownRates:
    """Return a table of a day, in units for a pound: USD="1.25" makes a dollar worth 0.80."""
    table = RateTable(
        id=UUID(int=9),
        version=1,
        created_at=moment("1"),
        updated_at=moment("1"),
        day=day(on),
        reference_currency="GBP",
        rates={currency: Decimal(rate) for currency, rate in rates.items()},
    )
    return KnownRates((table,))


def refused(step: Any, *given: Any, **facts: Any) -> ApiError:
    """Return the error that refuses a step."""
    with pytest.raises(ApiError) as refusal:
        step(*given, **facts)
    return refusal.value


def refusal_of(step: Any, *given: Any, **facts: Any) -> tuple[str, dict[str, Any]]:
    """Return the code and the detail of the error that refuses a step."""
    refusal = refused(step, *given, **facts)
    return refusal.code, refusal.detail


def no_move(state: str, *allowed: str) -> tuple[str, dict[str, Any]]:
    """Return the code and the detail of a refused change of state."""
    return "invalid_state_transition", {"current_state": state, "allowed_next_states": [*allowed]}


def by_code(split: Split) -> dict[str, int]:
    return {code_of(part.account_id): amount for part, amount in split}


def written(on: date) -> str:
    return str(on.day) if on.month == 1 else f"{on.month}-{on.day}"


def amounts(entry: Entry) -> dict[str, int]:
    """Return the amounts of an entry by account code; debits are positive."""
    sums: Counter[str] = Counter()
    for each in entry.lines:
        sums[code_of(each.account_id)] += each.amount
    return dict(sums)


def posted_after(
    before: tuple[PostedEntry, ...], entries: list[Entry], identify: Callable[[], UUID]
) -> tuple[PostedEntry, ...]:
    """Post entries as a store does: assign ids, and mark the reversed ones."""
    reversed_ids = {entry.reversal_of_id for entry in entries}
    kept = [replace(each, reversed=each.reversed or each.id in reversed_ids) for each in before]
    new = [
        PostedEntry(
            **{name: getattr(entry, name) for name in Entry.__dataclass_fields__}, id=identify()
        )
        for entry in entries
    ]
    return (*kept, *new)
