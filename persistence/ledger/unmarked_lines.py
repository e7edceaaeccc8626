"""Lines without a mark for the cash basis, posted by servers older than that basis.

Such a server may have posted during the migration to two bases (docs/decisions/0033). Its lines
count only on accrual until they are marked as the migration marked the earlier lines: whether they
stay on the cash basis, their document, and the cash lines that replace the others. The server's own
role cannot do this, because it may not change posted lines.
"""

from uuid import UUID

from psycopg.errors import InsufficientPrivilege

from accounting.books.revaluations import REVALUATION, BalanceKind
from accounting.trade.postings import APPLIED, SELF_ASSESSED
from accounting.trade.sides import PAYABLE, RECEIVABLE
from persistence.engine.connections import Owner
from persistence.engine.database_errors import UnusableDatabase
from persistence.engine.topology import CLOSE_GATE

_AGREED = ", ".join(
    f"'{source}'"
    for side in (RECEIVABLE, PAYABLE)
    for source in (
        side.document_source,
        side.credit_source,
        side.refund_source,
        side.write_off_source,
    )
)
AGREES = (
    f"(e.source_type IN ({_AGREED}) AND e.stream NOT IN ('{APPLIED}', '{SELF_ASSESSED}')"
    f" OR e.source_type = '{REVALUATION}' AND starts_with(e.stream, '{BalanceKind.CLAIMS} '))"
)
"""The condition that an entry `e` only records an agreement, so that the cash basis excludes it."""

# Records that concern one other record: write-offs of a document, and refunds with a single
# target (a document, payment or credit).
_ABOUT = """
  SELECT id, document_id AS target_id FROM write_off WHERE business_id = %(business_id)s
  UNION ALL
  SELECT id, document_id FROM bill_write_off WHERE business_id = %(business_id)s
  UNION ALL
  SELECT refund_id, (array_agg(DISTINCT target_id))[1] FROM (
    SELECT refund_id, coalesce(document_id, payment_id, refunded_credit_id) AS target_id
    FROM invoice_refund_allocation WHERE business_id = %(business_id)s
    UNION ALL
    SELECT refund_id, coalesce(document_id, payment_id, refunded_credit_id)
    FROM vendor_refund_allocation WHERE business_id = %(business_id)s
  ) AS allocation
  WHERE target_id IS NOT NULL GROUP BY refund_id HAVING count(DISTINCT target_id) = 1"""

_UNMARKED = f"""
  SELECT l.id, l.entry_id, l.entry_date, l.split, {AGREES} AS agreed,
         coalesce(about.target_id, l.settles_id, e.source_id) AS document_id
  FROM journal_line l
  JOIN journal_entry e ON e.business_id = %(business_id)s AND e.id = l.entry_id
  LEFT JOIN ({_ABOUT}) AS about ON about.id = coalesce(l.settles_id, e.source_id)
  WHERE l.business_id = %(business_id)s AND l.in_cash IS NULL"""

_ANY = """
SELECT EXISTS (SELECT FROM journal_line WHERE business_id = %(business_id)s AND in_cash IS NULL)"""
_SET_TENANT = "SELECT set_config('app.business_id', %(business_id)s::text, true)"
# The id of a cash line is derived from the id of its line, as in the migration.
_ADD_PARTS = f"""
INSERT INTO cash_line (
  business_id, id, line_id, entry_id, account_id, entry_date, debit, credit, document_id,
  tax_code_id, tax_rate, tax_part
)
SELECT %(business_id)s, md5(unmarked.id::text || ' ' || share.place::text)::uuid, unmarked.id,
       unmarked.entry_id, (share.part->>0)::uuid, unmarked.entry_date,
       greatest((share.part->>1)::bigint, 0), greatest(-(share.part->>1)::bigint, 0),
       unmarked.document_id, (share.part->>2)::uuid, (share.part->>3)::numeric, share.part->>4
FROM ({_UNMARKED}) AS unmarked
CROSS JOIN LATERAL jsonb_array_elements(unmarked.split) WITH ORDINALITY AS share (part, place)
WHERE NOT unmarked.agreed AND (share.part->>1)::bigint <> 0"""
_MARK = f"""
UPDATE journal_line
SET in_cash = unmarked.split = '[]' AND NOT unmarked.agreed, document_id = unmarked.document_id
FROM ({_UNMARKED}) AS unmarked
WHERE journal_line.business_id = %(business_id)s AND journal_line.id = unmarked.id"""


def mark_lines(owner: Owner, business_id: UUID) -> int:
    """Mark the unmarked lines of a business for the cash basis; return their number.

    Writes to the business wait meanwhile. Afterwards, its months and tagged lines must be rebuilt.
    Raises UnusableDatabase if there are such lines and this login lacks the privilege.
    """
    mine = {"business_id": business_id}
    try:
        with owner.transaction():
            owner.execute(_SET_TENANT, mine)
            if owner.execute(_ANY, mine).fetchone() == (False,):
                return 0
            owner.execute(CLOSE_GATE, mine)
            owner.execute(_ADD_PARTS, mine)
            return owner.execute(_MARK, mine).rowcount
    except InsufficientPrivilege:
        raise UnusableDatabase(
            "A server of an older version has posted lines without a cash basis, which only the"
            " login that owns the schema can mark: name it in ACCOUNTING_ADMIN_DATABASE_URL."
        ) from None
