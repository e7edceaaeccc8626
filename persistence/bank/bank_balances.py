"""Comparison of a bank account with its ledger account up to a day.

Amounts on bank lines and posted amounts are compared by source: payments, payouts, transfers,
manual entries, and bank lines that were categorized to accounts.
"""

from datetime import date

from accounting.bank.bank_postings import BANK_TRANSFER
from accounting.bank.reconciliations import Explanation, Found, Reconciliation, Unshown
from accounting.books.manual_entries import SOURCE
from accounting.books.periods import Period
from accounting.trade.sides import RECEIVABLE
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.scope import Scope
from persistence.engine.sql import Query, Row
from persistence.ledger.balances import TURNOVERS, period_parameters

MOST_TOLD = 100

# The source type in the ledger of each target type of links.
_SOURCES = {
    "invoice_payment": RECEIVABLE.payment_source,
    "invoice_refund_payment": RECEIVABLE.refund_payment_source,
    "journal_entry": SOURCE,
    "transfer": BANK_TRANSFER,
}

LEDGER = f"""WITH wanted AS (SELECT %(account_id)s::uuid AS id)
SELECT (period_debits - period_credits)::bigint AS balance FROM ({TURNOVERS}
) AS turnovers"""

_LINES = """FROM bank_transaction
WHERE bank_transaction.business_id = %(business_id)s
  AND bank_transaction.bank_account_id = %(bank_account_id)s
  AND bank_transaction.booked_on > %(since)s AND bank_transaction.booked_on <= %(until)s"""
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

# A manual entry is linked by its own id, also if it reverses another entry.
_POSTED = f"""
  SELECT journal_entry.source_type AS kind,
         CASE journal_entry.source_type
           WHEN '{SOURCE}' THEN journal_entry.id ELSE journal_entry.source_id
         END AS id,
         journal_line.entry_date AS "on", journal_line.debit - journal_line.credit AS posted,
         0 AS shown
  FROM journal_line
  JOIN journal_entry ON journal_entry.business_id = %(business_id)s
    AND journal_entry.id = journal_line.entry_id
  WHERE journal_line.business_id = %(business_id)s AND journal_line.account_id = %(account_id)s
    AND journal_line.entry_date > %(since)s AND journal_line.entry_date <= %(until)s"""
_SHOWN = f"""
  SELECT bank_link.target_type, bank_link.target_id, bank_transaction.booked_on, 0,
         {_WAY} * bank_link.amount
  FROM bank_link
  JOIN bank_transaction ON bank_transaction.business_id = %(business_id)s
    AND bank_transaction.id = bank_link.transaction_id
  WHERE bank_link.business_id = %(business_id)s AND bank_link.ended_at IS NULL
    AND bank_transaction.bank_account_id = %(bank_account_id)s
    AND bank_transaction.booked_on > %(since)s AND bank_transaction.booked_on <= %(until)s
  UNION ALL
  SELECT 'bank_transaction', id, booked_on, 0, {_WAY} * (categorized + rounding)
  {_LINES} AND (bank_transaction.categorized > 0 OR bank_transaction.rounding <> 0)"""
MONEY_WITHOUT_LINES = _TOLD.format(
    found=f"""SELECT coalesce(min(kind) FILTER (WHERE posted <> 0), min(kind)) AS kind, id,
       NULL AS description,
       coalesce(min("on") FILTER (WHERE posted <> 0), min("on")) AS "on",
       (sum(posted) - sum(shown))::bigint AS amount
FROM ({_POSTED}
  UNION ALL{_SHOWN}
) AS moves
GROUP BY id HAVING sum(posted) <> sum(shown)"""
)


class BankBalances:
    """The bank accounts of one business, compared with the ledger."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def explain(
        self, statement: Reconciliation, before: Reconciliation | None
    ) -> Fetch[Explanation]:
        """Compare a statement with the ledger, from the day after the closed one before it."""
        parameters: Row = {
            "business_id": self.scope.business_id,
            "bank_account_id": statement.bank_account_id,
            "account_id": statement.account_id,
            "since": before.statement_date if before else date.min,
            "until": statement.statement_date,
        }
        period = period_parameters(Period(last=statement.statement_date))
        texts = (LINES, LINES_WITHOUT_MONEY, MONEY_WITHOUT_LINES)
        queries = (
            Query(LEDGER, {**parameters, **period}),
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


def _found(rows: list[Row]) -> Found:
    if not rows:
        return Found(0, 0, ())
    names = ("kind", "id", "on", "amount", "description")
    told = ({name: row[name] for name in names} for row in rows)
    first = tuple(
        Unshown(**{**row, "kind": _SOURCES.get(row["kind"], row["kind"])}) for row in told
    )
    return Found(rows[0]["total"], rows[0]["count"], first)
