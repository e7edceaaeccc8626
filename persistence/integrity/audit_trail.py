"""The audit trail: who changed what, and when. The database writes it; this module reads it."""

from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Uuid

from persistence.books import Books
from persistence.engine.listings import Filter, Listing, equal
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Fetch, given
from persistence.store import in_business
from persistence.tables import audit_record

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """A change of a row, as recorded by the database.

    The digests are SHA-256 over the row before and after. `changes` has the old and new values of
    those few facts of a business that determine how its books are read.
    """

    id: UUID
    created_at: datetime
    object_type: str
    object_id: UUID
    change: str
    action: str | None
    actor_kind: str
    partner_id: UUID | None
    key_id: str | None
    request_id: str | None
    before_digest: bytes | None
    after_digest: bytes | None
    changes: dict[str, Any] | None


COLUMNS = tuple(audit_record.c[item.name] for item in fields(AuditRecord))


def first_id(moment: datetime, later_micros: int = 0) -> UUID:
    """Return the lowest id that a record of a moment, or of some microseconds later, can have.

    Ids begin with the moment as the database writes it (`audit_id`), so that the primary key finds
    and orders records by time: 0.5 ms after the beginning of 1970 is 00000000-0000-7800-....
    """
    micro = (moment - _BEGINNING) // timedelta(microseconds=1) + later_micros
    milli, rest = divmod(max(micro, 0), 1000)
    return UUID(int=milli << 80 | 7 << 76 | rest * 4096 // 1000 << 64)


def _since(name: str) -> Filter:
    return Filter(audit_record.c.id >= given(name, Uuid), first_id)


LISTING = Listing(
    source=audit_record,
    key=audit_record.c.id,
    scope=in_business(audit_record),
    columns=COLUMNS,
    filters={
        **equal(audit_record.c.object_type, audit_record.c.object_id),
        **equal(audit_record.c.change, audit_record.c.action),
        **equal(audit_record.c.actor_kind, audit_record.c.key_id, audit_record.c.request_id),
        "created_at_from": _since("created_at_from"),
        "created_at_to": Filter(
            audit_record.c.id < given("created_at_to", Uuid), lambda moment: first_id(moment, 1)
        ),
        "updated_at_from": _since("updated_at_from"),  # A record never changes.
    },
    sorts={"created_at": audit_record.c.id},
    default_sort="-created_at",
)


def audit_records(books: Books, wanted: PageRequest) -> Fetch[Page[AuditRecord]]:
    """List one page of the audit records of a business."""
    mine = {"business_id": books.business_id}
    return LISTING.fetch(books.session, wanted, mine, lambda row: AuditRecord(**row))
