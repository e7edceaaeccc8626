"""Faults of the audit trail itself, to plant in `traded_business.traded` before it is sealed."""

import re
from collections.abc import Mapping

from persistence.tables import audit_record, customer
from tests.persistence.integrity.fault import Fault, change, planted

_BAKER = "(SELECT id FROM customer WHERE business_id = %(b)s AND external_id = 'baker')"
_KEPT = ", ".join(column.name for column in customer.columns if not column.computed)
_AS_ANOTHER = re.sub(r"\bid\b", "gen_random_uuid()", re.sub(r"\bexternal_id\b", "NULL", _KEPT))
_OF_THE_BAKER = f"object_id = {_BAKER} AND change = 'insert'"
_SAID = [column.name for column in audit_record.columns if column.name != "digest"]
_OWN_DIGEST = f"audit_record_digest({', '.join(_SAID)})"


def put_in(digest: str = _OWN_DIGEST, **said: str) -> str:
    """Return an insert of a changed copy of the baker's first record, with a valid digest."""
    shown = ", ".join(f"{said.get(name, name)} AS {name}" for name in _SAID)
    return (
        f"INSERT INTO audit_record SELECT *, {digest} FROM (SELECT {shown} FROM audit_record"
        f" WHERE business_id = %(b)s AND {_OF_THE_BAKER}) AS forged"
    )


TRAIL: Mapping[str, Fault] = {
    "a customer is renamed past the trail": planted(
        "customer", "company_name = 'Other'", f"id = {_BAKER}", "audit_rows"
    ),
    "a customer is put in past the trail": (
        f"INSERT INTO customer ({_KEPT}) SELECT {_AS_ANOTHER} FROM customer"
        f" WHERE business_id = %(b)s AND id = {_BAKER}",
        {"audit_rows"},
    ),
    "a record names somebody else": planted(
        "audit_record", "actor_kind = 'operator'", _OF_THE_BAKER, "audit_records"
    ),
    "a record ends with another digest": (
        change("audit_record", "after_digest = before_digest", "change = 'update'"),
        {"audit_records", "audit_rows"},
    ),
    "a record is deleted": (
        f"DELETE FROM audit_record WHERE business_id = %(b)s AND {_OF_THE_BAKER}",
        {"audit_rows", "event_trail"},
    ),
    "the records of all changes are deleted": (
        "DELETE FROM audit_record WHERE business_id = %(b)s AND change = 'update'",
        {"audit_rows", "event_trail"},
    ),
    "a record is put in a second time": (put_in(id="gen_random_uuid()"), {"audit_rows"}),
    "a change that never was is put in": (
        put_in(
            id="gen_random_uuid()",
            change="'update'",
            before_digest="after_digest",
            after_digest="sha256('')",
        ),
        {"audit_rows"},
    ),
    "a record of what was never there is put in": (
        put_in(id="gen_random_uuid()", object_id="gen_random_uuid()"),
        {"audit_rows", "event_trail"},
    ),
    "a record that says it is older than the proof is put in": (
        put_in("NULL", id="gen_random_uuid()", object_id="gen_random_uuid()"),
        {"audit_records", "event_trail"},
    ),
    "a stored answer has another status": planted(
        "reply", "status = 200", "true", "stored_answers"
    ),
    "a stored answer has another header": planted(
        "reply", 'headers = headers || \'{"etag": "1"}\'', "true", "stored_answers"
    ),
    "a byte of a stored answer is changed": planted(
        "reply", "body = set_byte(body, 9, get_byte(body, 9) # 1)", "true", "stored_answers"
    ),
    "a stored answer belongs to another key": planted(
        "reply", "key = 'other'", "true", "stored_answers"
    ),
    "a seal is put in": (
        "INSERT INTO audit_seal VALUES (%(b)s, 1, now(), '{}', '{}', NULL, sha256(''))",
        {"audit_seals"},
    ),
}
