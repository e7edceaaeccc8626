"""What a bank account and its account of the chart have on a day, and where they differ.

What lines of the bank show and what the ledger has are laid beside each other by what they come
from: payments, payouts, transfers, entries by hand, and lines that were posted to accounts.
"""

from datetime import date

from accounting.bank.reconciliations import Explanation, Found, Reconciliation, Unshown
from accounting.books.manual_entries import SOURCE
from accounting.books.periods import Period
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.scope import Scope
from persistence.engine.sql import Query, Row
from persistence.ledger.balances import TURNOVERS, period_parameters

MOST_TOLD = 100

LEDGER = f"""WITH wanted AS (SELECT %(account_id)s::uuid AS id)
SELECT (period_debits - period_credits)::bigint AS balance FROM ({TURNOVERS}
) AS turnovers"""

_LINES = """FROM bank_transaction t
WHERE t.business_id = %(business_id)s AND t.bank_account_id = %(bank_account_id)s
  AND t.booked_on > %(since)s AND t.booked_on <= %(until)s"""
_WAY = "CASE t.direction WHEN 'credit' THEN 1 ELSE -1 END"
LINES = f"SELECT coalesce(sum({_WAY} * t.amount), 0)::bigint AS amount {_LINES}"

# All of a kind are counted and added up, and the first of them are told.
_TOLD = f"""SELECT found.*, count(*) OVER () AS count, sum(amount) OVER ()::bigint AS total
FROM ({{found}}) AS found ORDER BY "on", id LIMIT {MOST_TOLD}"""
LINES_WITHOUT_MONEY = _TOLD.format(
    found=f"""SELECT 'bank_transaction' AS kind, t.id, t.booked_on AS "on", t.description,
       {_WAY} * t.remaining AS amount
{_LINES} AND t.remaining > 0"""
)

# An entry by hand is linked by its own id, also where it takes back another one.
_POSTED = f"""
  SELECT e.source_type AS kind,
         CASE e.source_type WHEN '{SOURCE}' THEN e.id ELSE e.source_id END AS id,
         l.entry_date AS "on", l.debit - l.credit AS posted, 0 AS shown
  FROM journal_line l
  JOIN journal_entry e ON e.business_id = %(business_id)s AND e.id = l.entry_id
  WHERE l.business_id = %(business_id)s AND l.account_id = %(account_id)s
    AND l.entry_date > %(since)s AND l.entry_date <= %(until)s"""
_SHOWN = f"""
  SELECT CASE k.target_type
           WHEN 'invoice_payment' THEN 'payment'
           WHEN 'invoice_refund_payment' THEN 'refund_payment'
           WHEN 'journal_entry' THEN '{SOURCE}'
           WHEN 'transfer' THEN 'bank_transfer'
           ELSE k.target_type
         END, k.target_id, t.booked_on, 0, {_WAY} * k.amount
  FROM bank_link k
  JOIN bank_transaction t ON t.business_id = %(business_id)s AND t.id = k.transaction_id
  WHERE k.business_id = %(business_id)s AND k.ended_at IS NULL
    AND t.bank_account_id = %(bank_account_id)s
    AND t.booked_on > %(since)s AND t.booked_on <= %(until)s
  UNION ALL
  SELECT 'bank_transaction', t.id, t.booked_on, 0, {_WAY} * t.categorized
  {_LINES} AND t.categorized > 0"""
MONEY_WITHOUT_LINES = _TOLD.format(
    found=f"""SELECT kind, id, NULL AS description,
       coalesce(min("on") FILTER (WHERE posted <> 0), min("on")) AS "on",
       (sum(posted) - sum(shown))::bigint AS amount
FROM ({_POSTED}
  UNION ALL{_SHOWN}
) AS moves
GROUP BY kind, id HAVING sum(posted) <> sum(shown)"""
)


class BankBalances:
    """What the bank accounts of one business come to, in the ledger and at the bank."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def explain(
        self, statement: Reconciliation, before: Reconciliation | None
    ) -> Fetch[Explanation]:
        """Lay a statement beside the ledger, from the closed one before it on."""
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
    first = tuple(Unshown(**{name: row[name] for name in names}) for row in rows)
    return Found(rows[0]["total"], rows[0]["count"], first)
