"""What must hold in the accounts that documents account for: they stand where these say."""

from accounting.chart import CLEARED_BY_PROCESSOR, CONTROL_ROLES, Role

PROVEN_BY_DOCUMENTS = frozenset(
    {
        Role.ACCOUNTS_RECEIVABLE,
        Role.CUSTOMER_PREPAYMENTS,
        Role.CUSTOMER_CREDITS,
        Role.REFUNDS_PAYABLE,
    }
)


def _quoted(words: frozenset[str] | frozenset[Role]) -> str:
    return ", ".join(f"'{word}'" for word in sorted(words))


def _stands_at(role: Role, due: str, *, posted_by: str = "") -> str:
    """An account against what documents say of it, debits above zero."""
    return f"""
    SELECT '{role} stands at ' || posted.balance || ', its documents say ' || due.amount AS name,
           posted.balance = due.amount AS holds
    FROM (
      SELECT coalesce(sum(l.debit - l.credit), 0) AS balance
      FROM account a
      JOIN journal_line l ON l.business_id = a.business_id AND l.account_id = a.id
      JOIN journal_entry e ON e.business_id = l.business_id AND e.id = l.entry_id
      WHERE a.business_id = %(business_id)s AND a.role = '{role}' {posted_by}
    ) AS posted, ({due}) AS due"""


RECEIVABLES = _stands_at(
    Role.ACCOUNTS_RECEIVABLE,
    "SELECT coalesce(sum(outstanding), 0) AS amount FROM invoice"
    " WHERE business_id = %(business_id)s AND state = 'open'",
)

# A payment that bounced was posted back whole: what is refunded of it the customer owes again.
PREPAYMENTS = _stands_at(
    Role.CUSTOMER_PREPAYMENTS,
    "SELECT coalesce("
    "sum(CASE WHEN status = 'completed' THEN allocated - total ELSE refunded END), 0) AS amount"
    " FROM invoice_payment WHERE business_id = %(business_id)s",
)

CREDITS = _stands_at(
    Role.CUSTOMER_CREDITS,
    "SELECT coalesce(sum(applied - total_amount), 0) AS amount FROM customer_credit"
    " WHERE business_id = %(business_id)s AND state = 'open'",
)

REFUNDS = _stands_at(
    Role.REFUNDS_PAYABLE,
    "SELECT coalesce(sum(paid - amount), 0) AS amount FROM invoice_refund"
    " WHERE business_id = %(business_id)s AND cancelled_at IS NULL",
)

_THROUGH_PROCESSOR = f"(processor <> '' OR method IN ({_quoted(CLEARED_BY_PROCESSOR)}))"

# The processor keeps its fee of what comes in, and takes it on top of what goes out.
CLEARING = _stands_at(
    Role.PROCESSOR_CLEARING,
    f"""
      SELECT coalesce(sum(amount), 0) AS amount FROM (
        SELECT total - fee AS amount FROM invoice_payment
        WHERE business_id = %(business_id)s AND status = 'completed' AND {_THROUGH_PROCESSOR}
        UNION ALL
        SELECT -amount - fee FROM invoice_refund_payment
        WHERE business_id = %(business_id)s AND status = 'completed' AND {_THROUGH_PROCESSOR}
      ) AS moved""",
    posted_by="AND e.source_type IN ('payment', 'refund_payment')",
)

# Their documents do not exist yet, so nothing may stand on them.
IDLE_CONTROL_ACCOUNTS = f"""
SELECT a.role || ' stands at ' || coalesce(sum(l.debit - l.credit), 0) AS name,
       coalesce(sum(l.debit - l.credit), 0) = 0 AS holds
FROM account a
LEFT JOIN journal_line l ON l.business_id = a.business_id AND l.account_id = a.id
WHERE a.business_id = %(business_id)s
  AND a.role IN ({_quoted(CONTROL_ROLES - PROVEN_BY_DOCUMENTS)})
GROUP BY a.role"""

CHECKS = {
    "receivables": RECEIVABLES,
    "prepayments": PREPAYMENTS,
    "credits": CREDITS,
    "refunds": REFUNDS,
    "clearing": CLEARING,
    "idle_control_accounts": IDLE_CONTROL_ACCOUNTS,
}
