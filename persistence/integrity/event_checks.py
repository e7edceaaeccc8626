"""Checks of the feed: its sequence has no gaps, and its events show each record as it is now.

A record that is older than the feed has no event until it changes: row 0 of the feed is the moment
at which it began. The versions of a record have one event each, so a removed, doubled or invented
event is found, and so is a change without an event. The audit trail must agree.
"""

from accounting.books.numbers import EVENTS
from persistence.tables import metadata

# When the row of a deleted record stays.
_GONE = {
    "bank_rule": "deleted_at IS NOT NULL",
    "payout": "deleted_at IS NOT NULL",
    "bank_transfer": "ended_at IS NOT NULL",
}
TABLES_WITH_EVENTS = (
    *("account", "tax_code", "customer", "vendor", "opening_balance", "tax_return"),
    "revaluation",
    *("invoice", "bill", "invoice_payment", "bill_payment", "customer_credit", "vendor_credit"),
    *("write_off", "bill_write_off", "invoice_refund", "invoice_refund_payment"),
    *("vendor_refund", "vendor_refund_payment", "payout"),
    *("bank_account", "bank_rule", "bank_transaction", "bank_transfer", "bank_reconciliation"),
    *("journal_entry", "journal_draft", "stored_document"),
)
"""The tables whose rows are records with events, beside `business`."""
assert set(TABLES_WITH_EVENTS) <= metadata.tables.keys()

_MINE = "business_id = %(business_id)s"
# Events of new versions of records: neither an import nor the day that makes one overdue has any.
_BY_THE_DAY = "type LIKE '%%.overdue' AND coalesce(operation, 'update_sandbox') = 'update_sandbox'"
_MOVES = f"type <> 'bank_transactions.imported' AND NOT ({_BY_THE_DAY}) AND sequence > 0"
_HAS_START = f"EXISTS (SELECT FROM event WHERE {_MINE} AND sequence = 0)"
_START = f"coalesce((SELECT occurred_at FROM event WHERE {_MINE} AND sequence = 0), '-infinity')"
# On a cluster businesses have no triggers, so a change by an operator makes no event there.
_BY_OPERATOR = "r.object_type = 'business' AND e.version < r.version"
# A sandbox that was reset is given up in the request that opens another business.
_GIVEN_UP = (
    "(SELECT coalesce(sandbox = 'given_up', false) FROM business WHERE id = %(business_id)s)"
)

EVENT_SEQUENCE = f"""
SELECT 'event ' || sequence AS name, sequence = rank AS holds
FROM (
  SELECT sequence, row_number() OVER (ORDER BY sequence) AS rank
  FROM event WHERE {_MINE} AND sequence > 0
) AS counted
UNION ALL
SELECT 'the feed counts ' || coalesce(max(s.last), 0) || ' with ' || count(e.sequence) || ' events',
       coalesce(max(s.last), 0) = count(e.sequence)
FROM (VALUES (1)) AS one
LEFT JOIN event e ON e.{_MINE} AND e.sequence > 0
LEFT JOIN number_series s ON s.{_MINE} AND s.series = '{EVENTS}'"""

EVENT_VERSIONS = f"""
SELECT 'event ' || sequence || ' of ' || object_type || ' ' || object_id AS name,
       CASE
         WHEN previous IS NULL THEN (change = 'created' AND version = 1)
           OR object_type = 'bank_transaction' OR {_HAS_START}
         WHEN previous_change = 'deleted' THEN false
         WHEN change = 'deleted' THEN version - previous IN (0, 1)
         ELSE change = 'updated' AND version = previous + 1
       END AS holds
FROM (
  SELECT sequence, object_type, object_id, change, version,
         lag(version) OVER of_object AS previous, lag(change) OVER of_object AS previous_change
  FROM event WHERE {_MINE} AND {_MOVES}
  WINDOW of_object AS (PARTITION BY object_id ORDER BY sequence)
) AS followed"""


def _rows(table: str) -> str:
    object_type = metadata.tables[table].info["object_type"]
    version = {"stored_document": "1", "journal_entry": _REVERSED}.get(table, "version")
    return (
        f"SELECT '{object_type}' AS object_type, id, {version} AS version,"
        f" {_GONE.get(table, 'false')} AS is_gone FROM {table} WHERE {table}.{_MINE}"
    )


# An entry that is reversed has a version one higher than its row.
_REVERSED = (
    "version + (EXISTS (SELECT FROM journal_entry AS later"
    f" WHERE later.{_MINE} AND later.reversal_of_id = journal_entry.id))::int"
)
_RECORDS = " UNION ALL ".join(
    [
        *map(_rows, TABLES_WITH_EVENTS),
        "SELECT 'business', id, version, false FROM business WHERE id = %(business_id)s"
        f" AND NOT {_GIVEN_UP}",
    ]
)

EVENT_RECORDS = f"""
SELECT coalesce(r.object_type, e.object_type) || ' ' || coalesce(r.id, e.object_id) AS name,
       CASE
         WHEN r.id IS NULL THEN e.change = 'deleted' OR e.object_type = 'business'
         WHEN e.sequence IS NOT NULL THEN (e.change = 'deleted') = r.is_gone
           AND (r.is_gone OR e.version = r.version OR {_BY_OPERATOR})
         WHEN r.object_type = 'bank_transaction' AND r.version = 1 THEN true
         ELSE {_HAS_START} AND NOT EXISTS (
           SELECT FROM audit_record a
           WHERE a.{_MINE} AND a.object_id = r.id AND a.created_at > {_START}
         )
       END AS holds
FROM ({_RECORDS}) AS r
FULL JOIN (
  SELECT DISTINCT ON (object_id) object_id, object_type, sequence, change, version
  FROM event WHERE {_MINE} AND {_MOVES}
  ORDER BY object_id, sequence DESC
) AS e ON e.object_id = r.id"""

# What each request changed, by the feed and by the audit trail.
EVENT_TRAIL = f"""
SELECT coalesce(fed.request_id, audited.request_id) || ' '
         || coalesce(fed.object_id, audited.object_id) AS name,
       fed.object_id IS NOT NULL AND audited.object_id IS NOT NULL AS holds
FROM (
  SELECT DISTINCT object_id, request_id FROM event
  WHERE {_MINE} AND {_MOVES} AND type <> 'journal_entry.reversed' AND request_id IS NOT NULL
    AND occurred_at > {_START} AND NOT (object_type = 'business' AND {_GIVEN_UP})
) AS fed
FULL JOIN (
  SELECT DISTINCT object_id, request_id FROM audit_record
  WHERE {_MINE} AND request_id IS NOT NULL AND created_at > {_START}
    AND object_type NOT IN ('bank_link', 'exchange_rate_table')
    AND NOT (object_type = 'bank_transaction' AND change = 'insert')
    AND NOT (object_type = 'business' AND {_GIVEN_UP})
) AS audited ON audited.object_id = fed.object_id AND audited.request_id = fed.request_id"""

CHECKS = {
    "event_sequence": EVENT_SEQUENCE,
    "event_versions": EVENT_VERSIONS,
    "event_records": EVENT_RECORDS,
    "event_trail": EVENT_TRAIL,
}
