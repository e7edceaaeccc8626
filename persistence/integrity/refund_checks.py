"""Integrity checks of refunds: amounts, allocations and payments."""

from accounting.books.chart import Role
from persistence.integrity.definitions import (
    BOTH,
    SideTables,
    by_part,
    part_of,
    quoted,
    shares,
    sum_of,
)

_LIVE = "end_on IS NULL"

# A refund to a customer equals its allocations, which are live until it is cancelled. It was
# completed by the payment that paid its last part.
_WHOLE = """r.amount = CASE WHEN r.cancelled_at IS NULL THEN given.live ELSE given.ever END
       AND (r.completed_at IS NOT NULL) = (r.paid = r.amount)
       AND (r.completed_at IS NULL OR r.completed_at = ANY (money.moments))"""
# A refund from a vendor is at least the sum of its allocations. Its payments, cancelled ones
# included, sum to the part that is not a credit. It is cancelled with its last payment.
_WAITING = """coalesce(given.live, 0) <= r.amount
       AND (r.cancelled_at IS NULL) = (money.living > 0)
       AND (r.cancelled_at IS NOT NULL
            OR money.announced = r.amount - coalesce(given.credited, 0))"""


def given_back(tables: SideTables) -> str:
    """Return SQL with the allocations of each refund: `ever`, `live` and kept as `credited`."""
    credited = "coalesce(sum(amount) FILTER (WHERE end_on IS NULL AND credit_id IS NOT NULL), 0)"
    return f"""
  SELECT refund_id, sum(amount) AS ever, sum(amount) FILTER (WHERE end_on IS NULL) AS live,
         {credited if tables.refunds_paid_later else 0} AS credited
  FROM {tables.refund_allocation} WHERE business_id = %(business_id)s GROUP BY refund_id"""


def _amounts(tables: SideTables) -> str:
    return f"""
SELECT r.id::text AS name,
       {_WAITING if tables.refunds_paid_later else _WHOLE}
       AND (r.cancelled_at IS NULL OR given.live IS NULL)
       AND r.paid = coalesce(money.paid, 0) AS holds
FROM {tables.refund} r
LEFT JOIN ({given_back(tables)}
) AS given ON given.refund_id = r.id
LEFT JOIN (
  SELECT refund_id, sum(amount) AS announced,
         sum(amount) FILTER (WHERE status = 'completed') AS paid,
         count(*) FILTER (WHERE status <> 'cancelled') AS living,
         array_agg(completed_at) FILTER (WHERE status = 'completed') AS moments
  FROM {tables.refund_payment} WHERE business_id = %(business_id)s GROUP BY refund_id
) AS money ON money.refund_id = r.id
WHERE r.business_id = %(business_id)s"""


def _parts_paid(tables: SideTables) -> str:
    """Compare, per part, the paid amount of a refund with its completed payments."""
    parts, also = shares(tables.refund_allocation, "refund_id", "split", _LIVE), "true"
    if tables.refunds_paid_later:  # The unallocated amount is on the suspense account.
        parts += f"""
      UNION ALL
      SELECT r.id, a.id::text, r.amount - coalesce(given.live, 0)
      FROM account a, {tables.refund} r LEFT JOIN ({given_back(tables)}
      ) AS given ON given.refund_id = r.id
      WHERE a.business_id = %(business_id)s AND a.role = '{Role.SUSPENSE}'
        AND r.business_id = %(business_id)s"""
        also = f"""t.amount >= coalesce((
         SELECT sum(amount) FROM {tables.refund_allocation}
         WHERE business_id = %(business_id)s AND refund_id = t.id AND {_LIVE}), 0)"""
    return by_part(
        tables.refund,
        "t.id::text",
        kept="settled",
        sums_to="t.paid",
        parts=parts,
        taken=shares(tables.refund_payment, "refund_id", "splits->-1", "status = 'completed'"),
        also=also,
    )


def _allocations(tables: SideTables) -> str:
    """Check that refunds belong to the party of their targets, which are open while refunded.

    After the allocation has ended, the document may change its party.
    """
    kept, holds = "", "share.amount = a.amount"
    party = "coalesce(d.party_id, p.party_id, c.party_id)"
    if tables.refunds_paid_later:
        kept = f"""
LEFT JOIN {tables.credit} k ON k.business_id = %(business_id)s AND k.id = a.credit_id"""
        holds = f"(k.id IS NOT NULL AND share.amount IS NULL OR {holds})"
        party = "coalesce(d.party_id, p.party_id, c.party_id, k.party_id)"
    return f"""
SELECT a.id::text AS name,
       {holds}
       AND (d.id IS NOT NULL AND a.end_on IS NOT NULL OR {party} = r.party_id)
       AND (a.end_on IS NOT NULL OR coalesce(d.state, c.state, 'open') = 'open') AS holds
FROM {tables.refund_allocation} a
JOIN {tables.refund} r ON r.business_id = %(business_id)s AND r.id = a.refund_id
LEFT JOIN {tables.document} d ON d.business_id = %(business_id)s AND d.id = a.document_id
LEFT JOIN {tables.payment} p ON p.business_id = %(business_id)s AND p.id = a.payment_id
LEFT JOIN {tables.credit} c
  ON c.business_id = %(business_id)s AND c.id = a.refunded_credit_id{kept},
{sum_of("a.split")} AS share
WHERE a.business_id = %(business_id)s"""


def _credits(tables: SideTables) -> str:
    """Check that a credit from a refund equals its allocation, and is void once that has ended."""
    return f"""
SELECT coalesce(c.number, a.credit_id::text, c.id::text) AS name,
       c.refund_id = a.refund_id AND c.total_amount = a.amount
       AND c.state = CASE WHEN a.end_on IS NULL THEN 'open' ELSE 'void' END AS holds
FROM (
  SELECT * FROM {tables.refund_allocation}
  WHERE business_id = %(business_id)s AND credit_id IS NOT NULL
) AS a
FULL JOIN (
  SELECT * FROM {tables.credit} WHERE business_id = %(business_id)s AND refund_id IS NOT NULL
) AS c ON c.id = a.credit_id"""


def _releases(tables: SideTables) -> str:
    """Check that the amounts a refund released had been settled, and sum to at most the refund."""
    return f"""
SELECT a.id::text AS name,
       bool_and(coalesce(one.amount BETWEEN 1 AND settled.amount, false))
       AND sum(one.amount) <= a.amount AS holds
FROM {tables.refund_allocation} a
CROSS JOIN LATERAL (
  SELECT (item->>0)::uuid AS document_id, (item->>1)::bigint AS amount, item->2 AS split
  FROM jsonb_array_elements(a.released) AS item
) AS one
LEFT JOIN (
  SELECT DISTINCT payment_id, document_id, split, amount FROM {tables.allocation}
  WHERE business_id = %(business_id)s AND end_on IS NOT NULL
) AS settled ON settled.payment_id = a.payment_id
  AND settled.document_id = one.document_id AND settled.split = one.split
WHERE a.business_id = %(business_id)s
GROUP BY a.id, a.amount"""


def _payments(tables: SideTables) -> str:
    """Check that a refund payment has one split for each completed period.

    The last period is open while the payment is completed, and the refund is then not cancelled.
    For vendor refunds, the last split must have the amount only while the payment is completed.
    """
    known, pays = ["cancelled", "completed"], "share.amount = p.amount"
    if tables.refunds_paid_later:
        known = list(tables.side.payment_moves)
        pays = "(p.status <> 'completed' OR coalesce(share.amount, 0) = p.amount)"
    return f"""
SELECT p.id::text AS name,
       p.status IN ({quoted(known)}) AND {pays}
       AND jsonb_array_length(p.splits) = jsonb_array_length(p.completions)
       AND (p.status = 'completed')
         = (p.completions->-1->>1 IS NULL AND jsonb_array_length(p.completions) > 0)
       AND (p.status <> 'completed' OR r.cancelled_at IS NULL) AS holds
FROM {tables.refund_payment} p
JOIN {tables.refund} r ON r.business_id = %(business_id)s AND r.id = p.refund_id,
{sum_of("p.splits->-1")} AS share
WHERE p.business_id = %(business_id)s"""


# A payment's `shares` (by target) sum to its `splits`, for each completed period.
_SHARES = """
SELECT p.id::text AS name, coalesce(one.holds, true) AS holds
FROM {payment} p
LEFT JOIN (
  SELECT id, bool_and(amount = 0) AS holds
  FROM (
    SELECT id, span, part, sum(amount) AS amount
    FROM (
      SELECT p.id, spans.place AS span, {part} AS part, (share->>1)::bigint AS amount
      FROM {payment} p, jsonb_array_elements(p.splits) WITH ORDINALITY AS spans (split, place),
           jsonb_array_elements(spans.split) AS share
      WHERE p.business_id = %(business_id)s AND spans.place <= jsonb_array_length(p.shares)
      UNION ALL
      SELECT p.id, spans.place, {part}, -(share->>1)::bigint
      FROM {payment} p, jsonb_array_elements(p.shares) WITH ORDINALITY AS spans (shares, place),
           jsonb_array_elements(spans.shares) AS target, jsonb_array_elements(target->1) AS share
      WHERE p.business_id = %(business_id)s
    ) AS amounts
    GROUP BY id, span, part
  ) AS parts
  GROUP BY id
) AS one ON one.id = p.id
WHERE p.business_id = %(business_id)s AND p.shares <> '[]'"""

# Per target and part of a refund, completed payments pay at most its amount, and exactly that once
# the refund is paid in full.
_TARGETS_PAID = """
SELECT r.id::text AS name, coalesce(one.holds, true) AS holds
FROM {refund} r
LEFT JOIN (
  SELECT refund_id, bool_and(taken BETWEEN least(whole, 0) AND greatest(whole, 0)
                             AND (NOT in_full OR taken = whole)) AS holds
  FROM (
    SELECT r.id AS refund_id, target_id, part, sum(whole) AS whole, sum(taken) AS taken,
           r.paid = r.amount - coalesce(given.credited, 0) AS in_full
    FROM (
      SELECT refund_id, coalesce(document_id, payment_id, refunded_credit_id) AS target_id,
             {part} AS part, (share->>1)::bigint AS whole, 0 AS taken
      FROM {allocation}, jsonb_array_elements(split) AS share
      WHERE business_id = %(business_id)s AND end_on IS NULL
      UNION ALL
      SELECT refund_id, (target->>0)::uuid, {part}, 0, (share->>1)::bigint
      FROM {payment}, jsonb_array_elements(shares->-1) AS target,
           jsonb_array_elements(target->1) AS share
      WHERE business_id = %(business_id)s AND status = 'completed'
    ) AS amounts
    JOIN {refund} r ON r.business_id = %(business_id)s AND r.id = amounts.refund_id
    LEFT JOIN ({given}
    ) AS given ON given.refund_id = r.id
    WHERE target_id IS NOT NULL AND r.by_target
    GROUP BY r.id, target_id, part, r.paid, r.amount, given.credited
  ) AS parts
  GROUP BY refund_id
) AS one ON one.refund_id = r.id
WHERE r.business_id = %(business_id)s AND r.by_target"""


def _by_target(tables: SideTables) -> dict[str, str]:
    names = {
        "refund": tables.refund,
        "allocation": tables.refund_allocation,
        "payment": tables.refund_payment,
        "given": given_back(tables),
        "part": part_of("share"),
    }
    checks = {"shares": _SHARES, "targets_paid": _TARGETS_PAID}
    return {f"{tables.refunds}_{name}": check.format(**names) for name, check in checks.items()}


def _checks(tables: SideTables) -> dict[str, str]:
    noun = tables.refunds
    checks = {
        f"{noun}_amounts": _amounts(tables),
        f"{noun}_parts_paid": _parts_paid(tables),
        f"{noun}_allocations": _allocations(tables),
        f"{noun}_payments": _payments(tables),
    }
    if tables.refunds_paid_later:
        checks |= {f"{noun}_credits": _credits(tables), f"{noun}_releases": _releases(tables)}
        checks |= _by_target(tables)
    return checks


CHECKS = {name: check for tables in BOTH for name, check in _checks(tables).items()}
