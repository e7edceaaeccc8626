"""Integrity checks of the audit trail: it explains every row, and its records are unchanged.

So are the stored answers, which have a digest of their own and no records.

Each record has a digest of the row before and after the change, and a digest of itself. A row that
is changed without the trail has a digest that no record ends with. An edited, deleted or inserted
record breaks its own digest or the chain of records. If someone rewrites all of these consistently,
the seals (`seals.py`) detect it, provided the records were sealed before.
"""

from persistence.engine.idempotency import reply_digest
from persistence.tables import audit_record, partner_audit_record

_OWN_DIGEST, _PARTNERS_OWN_DIGEST = (
    f"{trail.name}_digest({', '.join(f'r.{c.name}' for c in trail.c if c.name != 'digest')})"
    for trail in (audit_record, partner_audit_record)
)


def _explained(trail: str, rows: str, which: str) -> str:
    """Return a check that a row left every state it reached, except for its current one.

    It does not depend on the order of the records, whose ids begin with a clock that may go back.
    """
    return f"""
SELECT object_type || ' ' || object_id AS name, bool_and(times = 0) AS holds
FROM (
  SELECT object_type, object_id, digest, sum(came) AS times
  FROM (
    SELECT object_type, object_id, after_digest AS digest, 1 AS came FROM {trail}
    WHERE {which} AND after_digest IS NOT NULL
    UNION ALL
    SELECT object_type, object_id, before_digest, -1 FROM {trail}
    WHERE {which} AND before_digest IS NOT NULL
    UNION ALL
    SELECT object_type, object_id, digest, -1 FROM {rows} AS standing
  ) AS states
  GROUP BY object_type, object_id, digest
) AS states
GROUP BY object_type, object_id"""


# Records without a digest of their own are left out: their digests cover all columns of that time.
AUDIT_ROWS = _explained(
    "audit_record",
    "audit_record_rows(%(business_id)s)",
    "business_id = %(business_id)s AND digest IS NOT NULL",
)

AUDIT_RECORDS = f"""
SELECT 'record ' || r.id AS name,
       CASE WHEN r.digest IS NOT NULL THEN r.digest = {_OWN_DIGEST}
       ELSE r.id IN (
         SELECT unnest(record_ids) FROM audit_seal
         WHERE business_id = %(business_id)s AND number = 0
       ) END AS holds
FROM audit_record r WHERE r.business_id = %(business_id)s"""

# Every sealed record exists unchanged, and each seal refers to the previous one.
AUDIT_SEALS = f"""
SELECT 'record ' || sealed.id || ' of seal ' || s.number AS name,
       coalesce(r.digest, {_OWN_DIGEST}) = sealed.digest AS holds
FROM audit_seal s
CROSS JOIN unnest(s.record_ids, s.record_digests) AS sealed (id, digest)
LEFT JOIN audit_record r ON r.business_id = %(business_id)s AND r.id = sealed.id
WHERE s.business_id = %(business_id)s
UNION ALL
SELECT 'seal ' || number,
       digest = audit_seal_digest(
         business_id, number, created_at, record_ids, record_digests, before_digest
       )
       AND before_digest IS NOT DISTINCT FROM lag(digest) OVER in_turn
       AND CASE row_number() OVER in_turn WHEN 1 THEN number <= 1
           ELSE number = lag(number) OVER in_turn + 1 END
FROM audit_seal WHERE business_id = %(business_id)s
WINDOW in_turn AS (ORDER BY number)"""


def _answers(table: str, owner: str, which: str) -> str:
    """Return a check that stored answers are unchanged; old ones have no digest."""
    return f"""
SELECT concat_ws(' ', 'the answer to', operation, 'with key', key) AS name,
       digest = {reply_digest(owner)} AS holds
FROM {table} WHERE {which} AND digest IS NOT NULL"""


CHECKS = {
    "audit_rows": AUDIT_ROWS,
    "audit_records": AUDIT_RECORDS,
    "audit_seals": AUDIT_SEALS,
    "stored_answers": _answers("reply", "business_id", "business_id = %(business_id)s"),
}

_CHOSEN = "(%(partner_id)s::uuid IS NULL OR partner_id = %(partner_id)s)"
_PARTNER_ROWS = (
    "(SELECT rows.* FROM partner p, partner_audit_record_rows(p.id) AS rows"
    " WHERE %(partner_id)s::uuid IS NULL OR p.id = %(partner_id)s)"
)
PARTNER_CHECKS = {
    "partner_rows": _explained("partner_audit_record", _PARTNER_ROWS, _CHOSEN),
    "partner_records": (
        f"SELECT 'record ' || r.id AS name, r.digest = {_PARTNERS_OWN_DIGEST} AS holds"
        f" FROM partner_audit_record r WHERE {_CHOSEN}"
    ),
    "partner_answers": _answers("partner_reply", "partner_id", _CHOSEN),
}
"""The checks of partners: the trail of them and their keys, which has no seals, and answers."""
