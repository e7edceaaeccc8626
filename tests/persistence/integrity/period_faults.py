"""Faults of locked periods, to plant in the books of `traded_business.traded`.

February was closed there after all postings, and opened again immediately.
"""

from collections.abc import Mapping

from tests.persistence.integrity.fault import Fault, change, planted

_FOUND = {"nothing_inside_the_lock"}
_EDITED = {*_FOUND, "audit_records"}
_DELETED = {*_FOUND, "audit_rows", "event_trail"}
_CLOSED = "changes #>> '{lock_date,to}' = '2025-02-28'"
_OPENED = "changes #>> '{lock_date,from}' = '2025-02-28'"
_IN_JUNE = (
    "object_id = (SELECT id FROM journal_entry WHERE business_id = %(b)s"
    " AND entry_date = '2025-02-28' LIMIT 1)"
)
_WHILE_CLOSED = f"(SELECT created_at FROM audit_record WHERE business_id = %(b)s AND {_CLOSED})"


def _told(which: str, end: str, day: str) -> str:
    """Return a change of the day that a record of the trail states."""
    moved = f"changes = jsonb_set(changes, '{{lock_date,{end}}}', '{day}')"
    return change("audit_record", moved, which)


PERIODS: Mapping[str, Fault] = {
    "an entry was posted into a period while that was locked": planted(
        "audit_record", f"created_at = {_WHILE_CLOSED}", _IN_JUNE, *_EDITED
    ),
    "an entry has left no trace and says that it was posted while its period was locked": (
        "WITH forgotten AS (DELETE FROM audit_record WHERE business_id = %(b)s"
        f" AND {_IN_JUNE}) UPDATE journal_entry SET posted_at = {_WHILE_CLOSED}"
        " WHERE business_id = %(b)s AND entry_date = '2025-02-28'",
        _DELETED,
    ),
    "a period was locked before it was posted to": planted(
        "audit_record", "created_at = '2020-01-01'", _CLOSED, *_EDITED
    ),
    "the lock date is another one than the trail tells": (
        _told(_OPENED, "to", '"2025-01-31"'),
        _EDITED,
    ),
    "a change of the lock date has left no record": (
        f"DELETE FROM audit_record WHERE business_id = %(b)s AND {_CLOSED}",
        _DELETED,
    ),
    "the trail begins with a lock date that was set before it": (
        _told(_CLOSED, "from", '"2025-01-31"'),
        _EDITED,
    ),
}
