"""Integrity checks of the cash basis: its amounts are those that the journal lines settle."""

from accounting.trade.sides import PAYABLE
from persistence.ledger.unmarked_lines import AGREES
from persistence.proof.shapes import part_of
from persistence.proof.sides import BOTH


def _targets() -> str:
    """Return SQL with the documents that write-offs and refunds are about.

    A refund from a vendor may be allocated later, or again (`later`). Until then its lines are
    about the refund itself, and those of its money about the refund payment.
    """
    selects = []
    for each in BOTH:
        selects += [
            f"SELECT id, document_id AS target_id, false AS later FROM {each.write_off}"
            " WHERE business_id = %(business_id)s",
            "SELECT refund_id, coalesce(document_id, payment_id, refunded_credit_id),"
            f" {str(each.refunds_paid_later).lower()} FROM {each.refund_allocation}"
            " WHERE business_id = %(business_id)s"
            " AND num_nonnulls(document_id, payment_id, refunded_credit_id) > 0",
        ]
    return " UNION ALL ".join(selects)


_LINES = f"""
  SELECT l.id, l.entry_id, e.sequence_number || ', line ' || l.line_number AS name, l.debit,
         l.credit, l.entry_date, l.split, l.in_cash, l.document_id,
         coalesce(l.settles_id, e.source_id) AS own_id,
         CASE e.source_type WHEN '{PAYABLE.refund_payment_source}' THEN e.source_id END AS money_id,
         {AGREES} AS agreed
  FROM journal_line l
  JOIN journal_entry e ON e.business_id = %(business_id)s AND e.id = l.entry_id
  WHERE l.business_id = %(business_id)s"""

# On the cash basis a line counts as it is, or its parts replace it; and it names its document.
CASH_LINES = f"""
WITH line AS ({_LINES}
), target AS (
  SELECT id, array_agg(target_id) AS ids, bool_or(later) AS later
  FROM ({_targets()}) AS each_one GROUP BY id
), differing AS (
  SELECT line_id FROM (
    SELECT line.id AS line_id, {part_of("share")} AS part, (share->>1)::bigint AS amount
    FROM line CROSS JOIN jsonb_array_elements(line.split) AS share WHERE NOT agreed
    UNION ALL
    SELECT c.line_id, concat_ws(' ', c.account_id, c.tax_code_id, c.tax_rate, c.tax_part),
           c.credit - c.debit
    FROM cash_line c WHERE c.business_id = %(business_id)s
  ) AS amounts
  GROUP BY line_id, part HAVING sum(amount) <> 0
  UNION ALL
  SELECT c.line_id FROM cash_line c LEFT JOIN line ON line.id = c.line_id
  WHERE c.business_id = %(business_id)s
    AND (c.entry_id, c.entry_date, c.document_id)
      IS DISTINCT FROM (line.entry_id, line.entry_date, line.document_id)
)
SELECT coalesce(line.name, 'a part of no line') AS name,
       differing.line_id IS NULL
       AND line.in_cash IS NOT DISTINCT FROM (line.split = '[]' AND NOT line.agreed)
       AND CASE WHEN line.document_id = line.money_id THEN true
         WHEN target.id IS NULL OR target.later AND line.document_id = line.own_id
         THEN line.document_id = line.own_id
         ELSE line.document_id = ANY(target.ids) END AS holds
FROM line
FULL JOIN (SELECT DISTINCT line_id FROM differing) AS differing ON differing.line_id = line.id
LEFT JOIN target ON target.id = line.own_id"""

# Each entry balances on the cash basis, so the books balance on every day.
CASH_BALANCED = """
SELECT e.sequence_number AS name, coalesce(sum(counted.amount), 0) = 0 AS holds
FROM journal_entry e
LEFT JOIN (
  SELECT entry_id, debit - credit AS amount FROM journal_line
  WHERE business_id = %(business_id)s AND in_cash
  UNION ALL
  SELECT entry_id, debit - credit FROM cash_line WHERE business_id = %(business_id)s
) AS counted ON counted.entry_id = e.id
WHERE e.business_id = %(business_id)s
GROUP BY e.id, e.sequence_number"""

CHECKS = {"cash_lines": CASH_LINES, "cash_balanced": CASH_BALANCED}
