"""Integrity checks of control accounts: their balances equal those of the subledgers."""

from accounting.books.chart import Role
from persistence.integrity.bank_checks import TAKEN, WITH_PROCESSOR
from persistence.integrity.definitions import PURCHASES, SALES, SideTables, bases, shares
from persistence.integrity.refund_checks import given_back


def _stands_at(role: Role, due: str, *, posted_by: str = "") -> str:
    """Return SQL that compares an account's balance with its documents; debits are above zero."""
    return f"""
    SELECT '{role} stands at ' || posted.balance || ', its documents say ' || due.amount AS name,
           posted.balance = due.amount AS holds
    FROM (
      SELECT coalesce(sum(l.debit - l.credit), 0) AS balance
      FROM account a
      JOIN journal_line l ON l.business_id = %(business_id)s AND l.account_id = a.id
      JOIN journal_entry e ON e.business_id = %(business_id)s AND e.id = l.entry_id
      WHERE a.business_id = %(business_id)s AND a.role = '{role}' {posted_by}
    ) AS posted, ({due}) AS due"""


def _outstanding(tables: SideTables) -> str:
    return _stands_at(
        tables.side.control,
        f"SELECT {tables.side.sign} * coalesce(sum(coalesce("
        "base_total - base_settled, outstanding)), 0) AS amount"
        f" FROM {tables.document} WHERE business_id = %(business_id)s AND state = 'open'",
    )


def _prepayments(tables: SideTables) -> str:
    """Compare prepayments with unallocated payments.

    A payment that is no longer completed was reversed in full; its refunded part is owed again.
    """
    return _stands_at(
        tables.side.prepayments,
        f"SELECT {tables.side.sign} * coalesce("
        "sum(CASE WHEN status = 'completed'"
        " THEN coalesce(base_allocated - base_total, allocated - total)"
        " ELSE coalesce(base_refunded, refunded) END), 0) AS amount"
        f" FROM {tables.payment} WHERE business_id = %(business_id)s",
    )


def _credits(tables: SideTables) -> str:
    return _stands_at(
        tables.side.credits,
        f"SELECT {tables.side.sign} * coalesce(sum(coalesce("
        "base_used - base_total, applied + refunded - total_amount)), 0) AS amount"
        f" FROM {tables.credit} WHERE business_id = %(business_id)s AND state = 'open'",
    )


def _refunds(tables: SideTables) -> str:
    """Compare the refund account with unpaid refunds, without the parts that became credits.

    A foreign refund has the base of its parts.
    """
    given = bases(tables.refund_allocation, "refund_id", "split", "end_on IS NULL")
    paid = bases(tables.refund, "id", "settled", "is_foreign")
    return _stands_at(
        tables.side.refunds,
        f"""
      SELECT {tables.side.sign} * coalesce(sum(CASE WHEN r.is_foreign
               THEN coalesce(paid.base, 0) - coalesce(in_base.base, 0)
               ELSE r.paid - r.amount + coalesce(given.credited, 0) END), 0) AS amount
      FROM {tables.refund} r LEFT JOIN ({given_back(tables)}
      ) AS given ON given.refund_id = r.id
      LEFT JOIN ({given}) AS in_base ON in_base.id = r.id
      LEFT JOIN ({paid}) AS paid ON paid.id = r.id
      WHERE r.business_id = %(business_id)s AND r.cancelled_at IS NULL""",
    )


def _unallocated(tables: SideTables) -> str:
    """Compare the suspense account with unallocated refunds.

    Only postings of refunds are counted, since other documents may use the account. Refunds of
    amounts that were posted to it are included.
    """
    returned = shares(tables.refund_allocation, "id", "split", "end_on IS NULL")
    return _stands_at(
        Role.SUSPENSE,
        f"""
      SELECT {tables.side.sign} * coalesce(sum(waiting.amount), 0) AS amount FROM (
        SELECT r.amount - coalesce(given.live, 0) AS amount
        FROM {tables.refund} r LEFT JOIN ({given_back(tables)}
        ) AS given ON given.refund_id = r.id
        WHERE r.business_id = %(business_id)s AND r.cancelled_at IS NULL
          AND r.is_foreign IS NOT TRUE
        UNION ALL
        SELECT share.amount FROM ({returned}) AS share
        JOIN account a ON a.id::text = share.part
        WHERE a.business_id = %(business_id)s AND a.role = '{Role.SUSPENSE}'
      ) AS waiting""",
        posted_by=f"AND e.source_type = '{tables.side.refund_source}'",
    )


def _moved(amount: str, total: str | None = None) -> str:
    """Return SQL for the base of money, or of its fee as a share of the total."""
    if total is None:
        return f"coalesce(base_total, {amount})"
    return f"coalesce(round({amount}::numeric * base_total / {total})::bigint, {amount})"


# The processor deducts its fee from payments, and charges it in addition to refunds.
CLEARING = _stands_at(
    Role.PROCESSOR_CLEARING,
    f"""
      SELECT coalesce(sum(amount), 0) AS amount FROM (
        SELECT {_moved("total")} - {_moved("fee", "total")} AS amount FROM invoice_payment
        WHERE business_id = %(business_id)s AND status = 'completed' AND {WITH_PROCESSOR}
        UNION ALL
        SELECT -{_moved("amount")} - {_moved("fee", "amount")} FROM invoice_refund_payment
        WHERE business_id = %(business_id)s AND status = 'completed' AND {WITH_PROCESSOR}
        UNION ALL{TAKEN}
      ) AS moved""",
    posted_by="AND e.source_type IN ('payment', 'refund_payment', 'payout')",
)

CHECKS = {
    "receivables": _outstanding(SALES),
    "payables": _outstanding(PURCHASES),
    "prepayments": _prepayments(SALES),
    "vendor_prepayments": _prepayments(PURCHASES),
    "credits": _credits(SALES),
    "vendor_credits": _credits(PURCHASES),
    "refunds": _refunds(SALES),
    "vendor_refunds": _refunds(PURCHASES),
    "unallocated_refunds": _unallocated(PURCHASES),
    "clearing": CLEARING,
}
