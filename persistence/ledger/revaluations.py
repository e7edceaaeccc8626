"""Stored revaluations, and the balances in foreign currencies that they revalue."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import select

from accounting.books.accounts import Account
from accounting.books.ledger import PostedEntry
from accounting.books.revaluations import (
    BalanceKind,
    CurrencyBalance,
    Revaluation,
    RevaluedBalance,
)
from persistence.engine.listings import Listing, between, created_filters
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled
from persistence.ledger.accounts import NAMES
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.store import Store, among, in_business
from persistence.tables import revaluation

STORED = tuple(item.name for item in fields(Revaluation) if item.name != "posted")
_COLUMNS = tuple(revaluation.c[name] for name in STORED)
BY_ID = compiled(select(*_COLUMNS).where(in_business(revaluation), among(revaluation.c.id)))
LISTING = Listing(
    source=revaluation,
    key=revaluation.c.id,
    scope=in_business(revaluation),
    columns=_COLUMNS,
    filters={
        **created_filters(revaluation),
        **between(revaluation.c.revalued_on, "date_from", "date_to"),
    },
    sorts={"date": revaluation.c.revalued_on, "created_at": revaluation.c.created_at},
    default_sort="-date",
)
# The partial index on foreign lines serves this statement.
BALANCES = f"""
SELECT line.line_currency, line.own, line.base,
       {", ".join(f"account.{name}" for name in NAMES)}
FROM (
  SELECT account_id, currency AS line_currency, sum(currency_amount)::bigint AS own,
         sum(debit - credit)::bigint AS base
  FROM journal_line
  WHERE journal_line.business_id = %(business_id)s AND currency IS NOT NULL
    AND entry_date <= %(day)s
  GROUP BY account_id, currency
) AS line
JOIN account ON account.business_id = %(business_id)s AND account.id = line.account_id"""


class RevaluationStore(Store[Revaluation]):
    """The revaluations of one business."""

    table: ClassVar = revaluation
    noun: ClassVar = "revaluation"
    rank: ClassVar = 0

    def loading(self, ids: Any) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}), posted_for(ids))

    def assemble(self, answers: Answers) -> list[Revaluation]:
        rows, entries = answers
        posted = posted_by_source(entries)
        return [_revaluation(row, posted.get(row["id"], ())) for row in rows]

    def balances(self, day: date) -> Fetch[list[CurrencyBalance]]:
        """Load the balance of each account and foreign currency at the end of a day."""
        return self.fetch(
            (Query(BALANCES, {"day": day}),), lambda answers: [_balance(row) for row in answers[0]]
        )

    def page(self, wanted: PageRequest) -> Fetch[Page[Revaluation]]:
        """List one page of revaluations."""
        return self.listed(LISTING, wanted, lambda row: _revaluation(row, ()))

    def save(self, value: Revaluation) -> None:
        """Stage a revaluation; rates are texts without an exponent, so that no digit is lost."""
        row = {name: getattr(value, name) for name in STORED}
        row["rates"] = {currency: f"{rate:f}" for currency, rate in value.rates.items()}
        row["items"] = [_item_row(item) for item in value.items]
        self.scope.stage(revaluation, value, row)


def _item_row(item: RevaluedBalance) -> Row:
    rate = item.exchange_rate
    return {**asdict(item), "exchange_rate": None if rate is None else f"{rate:f}"}


def _item(row: Mapping[str, Any]) -> RevaluedBalance:
    rate, kind, account = row["exchange_rate"], row["kind"], row["account_id"]
    kept: dict[str, Any] = {
        "exchange_rate": None if rate is None else Decimal(rate),
        "kind": None if kind is None else BalanceKind(kind),
        "account_id": None if account is None else UUID(account),
    }
    return RevaluedBalance(**{**row, **kept})


def _revaluation(row: Row, posted: tuple[PostedEntry, ...]) -> Revaluation:
    rates = {currency: Decimal(rate) for currency, rate in row["rates"].items()}
    items = tuple(_item(item) for item in row["items"])
    return Revaluation(**{**row, "rates": rates, "items": items}, posted=posted)


def _balance(row: Row) -> CurrencyBalance:
    account = Account(**{name: row[name] for name in NAMES})
    return CurrencyBalance(account, row["line_currency"], row["own"], row["base"])
