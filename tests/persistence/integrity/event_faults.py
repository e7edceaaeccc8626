"""Faults of the feed to plant in `traded_business.traded`: removed, doubled, invented events."""

from collections.abc import Mapping

from persistence.tables import event
from tests.persistence.integrity.fault import Fault, change

_BAKER = "(SELECT id FROM customer WHERE business_id = %(b)s AND external_id = 'baker')"
_OF_THE_BAKER = f"object_id = {_BAKER} AND change = 'created'"
_LAST = "(SELECT max(sequence) FROM event WHERE business_id = %(b)s)"
_COUNTED = (
    "UPDATE number_series SET last = last + 1 WHERE business_id = %(b)s AND series = 'EVENT'; "
)


def put_in(**said: str) -> str:
    """Return an insert of a changed copy of the first event of the baker, counted at the end."""
    told = {"sequence": f"{_LAST} + 1", "id": "gen_random_uuid()", **said}
    names = [column.name for column in event.columns]
    values = ", ".join(told.get(name, name) for name in names)
    return (
        f"{_COUNTED}INSERT INTO event ({', '.join(names)}) SELECT {values} FROM event"
        f" WHERE business_id = %(b)s AND {_OF_THE_BAKER}"
    )


EVENTS: Mapping[str, Fault] = {
    "an event is deleted": (
        f"DELETE FROM event WHERE business_id = %(b)s AND {_OF_THE_BAKER}",
        {"event_sequence", "event_records", "event_trail"},
    ),
    "an event is doubled": (put_in(), {"event_versions"}),
    "an event of a change that never was is put in": (
        put_in(change="'updated'", version="version + 1", request_id="'never'"),
        {"event_records", "event_trail"},
    ),
    "an event of what was never there is put in": (
        put_in(object_id="gen_random_uuid()"),
        {"event_records", "event_trail"},
    ),
    "the last event is deleted with its number": (
        "UPDATE number_series SET last = last - 1 WHERE business_id = %(b)s AND series = 'EVENT'; "
        f"DELETE FROM event WHERE business_id = %(b)s AND sequence = {_LAST}",
        {"event_records", "event_trail"},
    ),
    "an event names another version": (
        change("event", "version = version + 1", _OF_THE_BAKER),
        {"event_records", "event_versions"},
    ),
    "an event names another request": (
        change("event", "request_id = 'other'", _OF_THE_BAKER),
        {"event_trail"},
    ),
}
