"""Stored reconciliations: bank statements that are compared with the ledger."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import date
from typing import ClassVar
from uuid import UUID

from sqlalchemy import Date, Uuid, and_, literal_column, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.bank.bank_postings import BANK_TRANSFER
from accounting.bank.reconciliations import (
    CLOSED,
    AccountStatements,
    Explanation,
    Reconciliation,
    UnmatchedItem,
    UnmatchedItems,
)
from accounting.books.manual_entries import SOURCE
from accounting.books.periods import Period
from accounting.trade.sides import RECEIVABLE
from persistence.engine.listings import Listing, between, created_filters, equal
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given, word
from persistence.ledger.balances import TURNOVERS, period_parameters
from persistence.scope import Scope
from persistence.store import MINE, Store, among, in_business
from persistence.tables import bank_reconciliation

STORED = tuple(item.name for item in fields(Reconciliation))
_row = bank_reconciliation.c
_COLUMNS = tuple(_row[name] for name in STORED)
_OF_ACCOUNT = and_(
    in_business(bank_reconciliation), _row.bank_account_id == given("bank_account_id", Uuid)
)
_CLOSED = _row.status == word("closed")
_ONE: ColumnElement[int] = literal_column("1")
_CHOSEN = select(*_COLUMNS)
BY_ID = compiled(_CHOSEN.where(in_business(bank_reconciliation), among(_row.id)))
WITHIN = compiled(_CHOSEN.where(_OF_ACCOUNT, _row.id == given("id", Uuid)))
OPEN = compiled(_CHOSEN.where(_OF_ACCOUNT, _row.status == word("open")))
NEWEST_CLOSED = compiled(
    _CHOSEN.where(_OF_ACCOUNT, _CLOSED).order_by(_row.statement_date.desc()).limit(_ONE)
)
CLOSED_BEFORE = compiled(
    _CHOSEN.where(_OF_ACCOUNT, _CLOSED, _row.statement_date < given("day", Date))
    .order_by(_row.statement_date.desc())
    .limit(_ONE)
)
DROP = compiled(
    bank_reconciliation.delete().where(
        _row.business_id == MINE, _row.id == given("dropped", Uuid), _row.status == word("open")
    )
)

LISTING = Listing(
    source=bank_reconciliation,
    key=_row.id,
    scope=_OF_ACCOUNT,
    columns=_COLUMNS,
    filters={
        **created_filters(bank_reconciliation),
        **equal(_row.status),
        **between(_row.statement_date, "statement_date_from", "statement_date_to"),
    },
    sorts={"statement_date": _row.statement_date, "created_at": _row.created_at},
    default_sort="-statement_date",
)


class ReconciliationStore(Store[Reconciliation]):
    """The statements of the bank accounts of one business.

    They have no locks: a transaction that closes or reopens one runs alone.
    """

    table: ClassVar = bank_reconciliation
    noun: ClassVar = "bank_reconciliation"
    rank: ClassVar = 14

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}),)

    def assemble(self, answers: Answers) -> list[Reconciliation]:
        return [Reconciliation(**row) for row in answers[0]]

    def within(self, bank_account_id: UUID, id: UUID) -> Fetch[Reconciliation]:
        """Load one statement of a bank account; raises NotFound."""
        query = Query(WITHIN, {"bank_account_id": bank_account_id, "id": id})
        return self.fetch((query,), lambda answers: self.only(self.assemble(answers)))

    def standing(self, bank_account_id: UUID) -> Fetch[AccountStatements]:
        """Load the open statement of a bank account and its newest closed one."""
        of_account = {"bank_account_id": bank_account_id}

        def answer(answers: Answers) -> AccountStatements:
            open_, closed = (self.seen(self.assemble([rows])) for rows in answers)
            return AccountStatements(next(iter(open_), None), next(iter(closed), None))

        return self.fetch((Query(OPEN, of_account), Query(NEWEST_CLOSED, of_account)), answer)

    def before(self, bank_account_id: UUID, day: date) -> Fetch[Reconciliation | None]:
        """Load the latest closed statement of a bank account dated before a day, or None."""
        query = Query(CLOSED_BEFORE, {"bank_account_id": bank_account_id, "day": day})
        return self.fetch((query,), lambda answers: next(iter(self.assemble(answers)), None))

    def closed_through(self, bank_account_id: UUID) -> Fetch[date | None]:
        """Return the date of the newest closed statement of a bank account, or None."""
        query = Query(NEWEST_CLOSED, {"bank_account_id": bank_account_id})
        return self.fetch(
            (query,), lambda answers: next((row["statement_date"] for row in answers[0]), None)
        )

    def page(self, bank_account_id: UUID, wanted: PageRequest) -> Fetch[Page[Reconciliation]]:
        """List one page of the statements of a bank account."""
        return self.listed(
            LISTING, wanted, lambda row: Reconciliation(**row), bank_account_id=bank_account_id
        )

    def save(self, value: Reconciliation) -> None:
        """Stage a statement."""
        row = {name: getattr(value, name) for name in STORED}
        self.scope.stage(bank_reconciliation, value, row)

    def drop(self, statement: Reconciliation) -> None:
        """Stage the deletion of an open statement."""
        parameters = {"business_id": self.scope.business_id, "dropped": statement.id}
        self.scope.staging.lead_with(Query(DROP, parameters))
        self.scope.note_deleted(bank_reconciliation, statement)


# Comparison of a bank account with its ledger account up to a day.


MOST_TOLD = 100

# The source type in the ledger of each target type of links.
_SOURCES = {
    "invoice_payment": RECEIVABLE.payment_source,
    "invoice_refund_payment": RECEIVABLE.refund_payment_source,
    "journal_entry": SOURCE,
    "transfer": BANK_TRANSFER,
}

# Balances and amounts are in the currency of the bank account.
LEDGER = f"""WITH wanted AS (SELECT %(account_id)s::uuid AS id)
SELECT (period_debits - period_credits)::bigint AS balance FROM ({TURNOVERS}
) AS turnovers"""
OWN_LEDGER = """SELECT coalesce(sum(currency_amount), 0)::bigint AS balance FROM journal_line
WHERE journal_line.business_id = %(business_id)s AND journal_line.account_id = %(account_id)s
  AND journal_line.entry_date <= %(until)s"""

_LINES = """FROM bank_transaction
WHERE bank_transaction.business_id = %(business_id)s
  AND bank_transaction.bank_account_id = %(bank_account_id)s
  AND bank_transaction.booked_on > %(since)s AND bank_transaction.booked_on <= %(until)s
  AND NOT (bank_transaction.after_closing AND %(closed)s)"""
_WAY = "CASE bank_transaction.direction WHEN 'credit' THEN 1 ELSE -1 END"
LINES = f"SELECT coalesce(sum({_WAY} * amount), 0)::bigint AS amount {_LINES}"

# Counts and adds up all differences of a kind, and returns the first of them.
_TOLD = f"""SELECT found.*, count(*) OVER () AS count, sum(amount) OVER ()::bigint AS total
FROM ({{found}}) AS found ORDER BY "on", id LIMIT {MOST_TOLD}"""
LINES_WITHOUT_MONEY = _TOLD.format(
    found=f"""SELECT 'bank_transaction' AS kind, id, booked_on AS "on", description,
       {_WAY} * remaining AS amount
{_LINES} AND bank_transaction.remaining > 0"""
)

_IN_BASE = "journal_line.debit - journal_line.credit"
_OWN = "journal_line.currency_amount"
# A manual entry is linked by its own id, also if it reverses another entry.
_POSTED = f"""
  SELECT journal_entry.source_type AS kind,
         CASE journal_entry.source_type
           WHEN '{SOURCE}' THEN journal_entry.id ELSE journal_entry.source_id
         END AS id,
         journal_line.entry_date AS "on", {{amount}} AS posted, 0 AS shown
  FROM journal_line
  JOIN journal_entry ON journal_entry.business_id = %(business_id)s
    AND journal_entry.id = journal_line.entry_id
  WHERE journal_line.business_id = %(business_id)s AND journal_line.account_id = %(account_id)s
    AND journal_line.entry_date > %(since)s AND journal_line.entry_date <= %(until)s"""
# A line in base shows foreign money with the base of that, and itself posts the difference.
_SHOWN = f"""
  SELECT bank_link.target_type, bank_link.target_id, bank_transaction.booked_on, 0,
         {_WAY} * coalesce((bank_link.target_amount->>1)::bigint, bank_link.amount)
  FROM bank_link
  JOIN bank_transaction ON bank_transaction.business_id = %(business_id)s
    AND bank_transaction.id = bank_link.transaction_id
  WHERE bank_link.business_id = %(business_id)s AND bank_link.ended_at IS NULL
    AND bank_transaction.bank_account_id = %(bank_account_id)s
    AND bank_transaction.booked_on > %(since)s AND bank_transaction.booked_on <= %(until)s
    AND NOT (bank_transaction.after_closing AND %(closed)s)
  UNION ALL
  SELECT 'bank_transaction', id, booked_on, 0,
         {_WAY} * (categorized + rounding + coalesce((
           SELECT sum((part->>1)::bigint) FROM jsonb_array_elements(exchanged) AS part
         ), 0))
  {_LINES} AND (bank_transaction.categorized > 0 OR bank_transaction.rounding <> 0
    OR bank_transaction.exchanged IS NOT NULL)"""
_MONEY_WITHOUT_LINES = _TOLD.format(
    found=f"""SELECT coalesce(min(kind) FILTER (WHERE posted <> 0), min(kind)) AS kind, id,
       NULL AS description,
       coalesce(min("on") FILTER (WHERE posted <> 0), min("on")) AS "on",
       (sum(posted) - sum(shown))::bigint AS amount
FROM ({_POSTED}
  UNION ALL{_SHOWN}
) AS moves
GROUP BY id HAVING sum(posted) <> sum(shown)"""
)
MONEY_WITHOUT_LINES = _MONEY_WITHOUT_LINES.format(amount=_IN_BASE)
OWN_MONEY_WITHOUT_LINES = _MONEY_WITHOUT_LINES.format(amount=_OWN)


class BankBalances:
    """The bank accounts of one business, compared with the ledger."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def explain(
        self, statement: Reconciliation, before: Reconciliation | None, currency: str
    ) -> Fetch[Explanation]:
        """Compare a statement with the ledger, from the day after the closed one before it.

        `currency` is that of the bank account.
        """
        parameters: Row = {
            "business_id": self.scope.business_id,
            "bank_account_id": statement.bank_account_id,
            "account_id": statement.account_id,
            "since": before.statement_date if before else date.min,
            "until": statement.statement_date,
            "closed": statement.status == CLOSED,
        }
        period = period_parameters(Period(last=statement.statement_date))
        ledger, without_lines = LEDGER, MONEY_WITHOUT_LINES
        if currency != self.scope.facts["base_currency"]:
            ledger, without_lines = OWN_LEDGER, OWN_MONEY_WITHOUT_LINES
        texts = (LINES, LINES_WITHOUT_MONEY, without_lines)
        queries = (
            Query(ledger, {**parameters, **period}),
            *(Query(text, parameters) for text in texts),
        )
        return Fetch(self.scope.session, queries, _explanation)


def _explanation(answers: Answers) -> Explanation:
    ledger, lines, without_money, without_lines = answers
    return Explanation(
        ledger_balance=sum(row["balance"] for row in ledger),
        lines=lines[0]["amount"],
        lines_without_money=_found(without_money),
        money_without_lines=_found(without_lines),
    )


def _found(rows: list[Row]) -> UnmatchedItems:
    if not rows:
        return UnmatchedItems(0, 0, ())
    names = ("kind", "id", "on", "amount", "description")
    told = ({name: row[name] for name in names} for row in rows)
    first = tuple(
        UnmatchedItem(**{**row, "kind": _SOURCES.get(row["kind"], row["kind"])}) for row in told
    )
    return UnmatchedItems(rows[0]["total"], rows[0]["count"], first)
