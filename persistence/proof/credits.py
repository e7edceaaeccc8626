"""Integrity checks of customer and vendor credits: numbers, totals and allocations."""

from persistence.proof.shapes import behind_series, by_part, net_of, part_of, shares, sum_of
from persistence.proof.sides import BOTH, SideTables


def _sum(taxes: str) -> str:
    """Return SQL for the sum of a list of taxes of a line; 0 for old lines without tax codes."""
    return (
        "coalesce((SELECT sum((tax->>0)::bigint)"
        f" FROM jsonb_array_elements(item->'{taxes}') AS tax), 0)"
    )


def _totals(tables: SideTables) -> str:
    return f"""
SELECT coalesce(c.number, c.id::text) AS name,
       c.tax_total = line.tax AND c.total_amount = line.net + line.tax - line.withheld AS holds
FROM {tables.credit} c, LATERAL (
  SELECT coalesce(sum((item->>'amount')::bigint), 0) AS net,
         coalesce(sum(coalesce((item->>'tax_amount')::bigint, {_sum("taxes")})), 0) AS tax,
         coalesce(sum({_sum("withheld")}), 0) AS withheld
  FROM jsonb_array_elements(c.lines) AS item
) AS line
WHERE c.business_id = %(business_id)s"""


def _applied(tables: SideTables) -> str:
    return f"""
SELECT coalesce(c.number, c.id::text) AS name,
       c.applied = coalesce(a.amount, 0) AND c.refunded = coalesce(r.amount, 0) AS holds
FROM {tables.credit} c
LEFT JOIN (
  SELECT credit_id, sum(amount) AS amount FROM {tables.credit_allocation}
  WHERE business_id = %(business_id)s AND end_on IS NULL GROUP BY credit_id
) AS a ON a.credit_id = c.id
LEFT JOIN (
  SELECT refunded_credit_id, sum(amount) AS amount FROM {tables.refund_allocation}
  WHERE business_id = %(business_id)s AND end_on IS NULL AND refunded_credit_id IS NOT NULL
  GROUP BY refunded_credit_id
) AS r ON r.refunded_credit_id = c.id
WHERE c.business_id = %(business_id)s"""


def _parts_applied(tables: SideTables) -> str:
    """Compare, per part, the used amounts of a credit with its live allocations and refunds."""
    paid_out = "end_on IS NULL AND refunded_credit_id IS NOT NULL"
    return by_part(
        tables.credit,
        "coalesce(t.number, t.id::text)",
        kept="settled",
        sums_to="t.applied + t.refunded",
        parts=f"""
      SELECT id, {net_of("item")} AS part, (item->>'amount')::bigint AS amount
      FROM {tables.credit}, jsonb_array_elements(lines) AS item
      WHERE business_id = %(business_id)s
      UNION ALL
      SELECT id, tax_account_id::text, (item->>'tax_amount')::bigint
      FROM {tables.credit}, jsonb_array_elements(lines) AS item
      WHERE business_id = %(business_id)s AND item ? 'tax_amount'
      UNION ALL
      SELECT id, {part_of("tax", 1)}, sign * (tax->>0)::bigint
      FROM {tables.credit}, jsonb_array_elements(lines) AS item,
           (VALUES ('taxes', 1), ('withheld', -1)) AS kind (name, sign),
           jsonb_array_elements(item->kind.name) AS tax
      WHERE business_id = %(business_id)s""",
        taken=" UNION ALL ".join(
            (
                shares(tables.credit_allocation, "credit_id", "own_split", "end_on IS NULL"),
                shares(tables.refund_allocation, "refunded_credit_id", "split", paid_out),
            )
        ),
    )


def _allocations(tables: SideTables) -> str:
    """Check that a live allocation connects an open credit and an open document of one party."""
    return f"""
SELECT a.id::text AS name,
       share.amount = a.amount AND own.amount = a.amount
       AND (
         a.end_on IS NOT NULL
         OR c.state = 'open' AND d.state = 'open' AND d.party_id = c.party_id
         AND a.document_date = d.opened_on
       ) AS holds
FROM {tables.credit_allocation} a
JOIN {tables.credit} c ON c.business_id = %(business_id)s AND c.id = a.credit_id
JOIN {tables.document} d ON d.business_id = %(business_id)s AND d.id = a.document_id,
{sum_of("a.split")} AS share,
{sum_of("a.own_split")} AS own
WHERE a.business_id = %(business_id)s"""


def _checks(tables: SideTables) -> dict[str, str]:
    noun = tables.credits
    return {
        f"{noun}_numbers": behind_series(tables.credit, tables.side.credit_series),
        f"{noun}_totals": _totals(tables),
        f"{noun}_applied": _applied(tables),
        f"{noun}_parts_applied": _parts_applied(tables),
        f"{noun}_allocations": _allocations(tables),
    }


CHECKS = {name: check for tables in BOTH for name, check in _checks(tables).items()}
