"""The events of a transaction: staged with its rows, from the values that were loaded and saved."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounting.books.businesses import Context
from accounting.books.numbers import EVENTS, PendingNumber
from accounting.events.changes import NO_PAYMENTS, Change, PaymentsOf, change_of
from accounting.trade.refunds import VendorRefund, VendorRefundPayment
from persistence.engine.ids import new_id
from persistence.engine.sql import Row
from persistence.engine.unit_of_work import UnitOfWork
from persistence.scope import Scope
from persistence.tables import event, journal_entry, unplaced_event

NO_ENTRIES: Final[Sequence[UUID]] = ()


@dataclass(frozen=True, slots=True)
class ChangedObject:
    """An object with its change, and the entries that the change posts."""

    type: str
    id: UUID
    external_id: str | None
    version: int
    change: Change
    entries: Sequence[UUID] = NO_ENTRIES
    holder_id: UUID | None = None
    counts: Mapping[str, int] | None = None


def stage_events(scope: Scope, context: Context | None) -> None:
    """Stage an event for each object that the transaction changes: causes first, entries last.

    `context` is None where nothing was read: then no record has a status that depends on it.
    """
    entries = scope.staged_rows(journal_entry)
    posted: dict[UUID, list[UUID]] = defaultdict(list)
    for row in entries:
        posted[row["source_id"]].append(row["id"])
    changed = [
        *_changed(scope, context, posted),
        *_imported(scope),
        *_locked(scope),
        *_entries(scope, entries),
    ]
    stage_changes(scope.staging, scope.now, scope.cause, changed)


def stage_changes(
    staging: UnitOfWork, now: datetime, cause: Row, changed: Iterable[ChangedObject]
) -> None:
    """Stage the events of changed objects in their order, and the note for the partner's feed."""
    first = None
    for each in changed:
        place = staging.take_number(EVENTS)
        first = first or place
        staging.insert(event, _row(each, place, now) | cause)
    if first is not None:
        staging.insert(unplaced_event, {"first_sequence": first, "last_sequence": place})


def _changed(
    scope: Scope, context: Context | None, posted: Mapping[UUID, Sequence[UUID]]
) -> Iterator[ChangedObject]:
    for id_, (object_type, value) in scope.changes.items():
        before = scope.loaded(id_)
        if object_type == "bank_transaction" and before is None:
            continue  # It is part of its import.
        payments = _payments(scope, value) if isinstance(value, VendorRefund) else NO_PAYMENTS
        change = change_of(object_type, before, value, context, payments)
        found = before if value is None else value
        external_id = getattr(found, "external_id", None)
        version = scope.etag(id_)
        entries = posted.get(id_, NO_ENTRIES)
        holder = holder_of(object_type, found)
        yield ChangedObject(object_type, id_, external_id, version, change, entries, holder)


def _payments(scope: Scope, refund: VendorRefund) -> PaymentsOf:
    """Return the payments of a vendor refund, which are loaded wherever it is saved."""
    saved = [value for _, value in scope.changes.values()]
    before = _of_refund(refund, scope.all_loaded())
    return PaymentsOf([*before.values()], [*(before | _of_refund(refund, saved)).values()])


def _of_refund(refund: VendorRefund, values: Iterable[Any]) -> dict[UUID, VendorRefundPayment]:
    return {
        each.id: each
        for each in values
        if isinstance(each, VendorRefundPayment) and each.refund_id == refund.id
    }


# The attribute with the record that has another in its address.
_HOLDERS: Final = {
    "write_off": "document_id",
    "bill_write_off": "document_id",
    "invoice_refund_payment": "refund_id",
    "bank_reconciliation": "bank_account_id",
}


def holder_of(object_type: str, value: Any) -> UUID | None:
    """Return the record that has a record in its address, such as the refund of a payment."""
    name = _HOLDERS.get(object_type)
    return None if name is None else getattr(value, name)


def _imported(scope: Scope) -> Iterator[ChangedObject]:
    """Yield one event for the new lines of a bank account."""
    for account, counts in scope.imports:
        if counts["imported"]:
            change = Change("bank_transactions.imported", "updated", None, None)
            named = getattr(account, "external_id", None)
            yield ChangedObject(
                "bank_account", account.id, named, scope.etag(account.id), change, counts=counts
            )


def _locked(scope: Scope) -> Iterator[ChangedObject]:
    """Yield the event of the period that the filing of a tax return locks."""
    if scope.locks_period:
        facts = scope.facts
        yield ChangedObject(
            "business", scope.business_id, facts["external_id"], facts["version"] + 1, _LOCKED
        )


_LOCKED: Final = Change("business.period_locked", "updated", None, None, ("lock_date",))


def _entries(scope: Scope, entries: Iterable[Row]) -> Iterator[ChangedObject]:
    """Yield the event of each posted entry, after that of the entry that it reverses."""
    for row in entries:
        reversed_id, version = row["reversal_of_id"], row["version"]
        if reversed_id is not None:
            reversed_version = scope.loaded_version(reversed_id)
            yield _entry(reversed_id, reversed_version + 1, _REVERSED)
        yield _entry(row["id"], version, _POSTED if version == 1 else _APPROVED)


_REVERSED: Final = Change(
    "journal_entry.reversed", "updated", "approved", "approved", ("reversed_by_id",)
)
_POSTED: Final = Change("journal_entry.posted", "created", None, "approved")
_APPROVED: Final = Change(
    "journal_entry.posted",
    "updated",
    "draft",
    "approved",
    ("is_posted", "posted_at", "sequence_number", "status", "status_display"),
)


def _entry(id_: UUID, version: int, change: Change) -> ChangedObject:
    return ChangedObject("journal_entry", id_, None, version, change)


def _row(changed: ChangedObject, place: PendingNumber, now: datetime) -> dict[str, Any]:
    change = changed.change
    fields = change.fields
    return {
        "sequence": place,
        "id": new_id(),
        "occurred_at": now,
        "type": change.type,
        "change": change.kind,
        "object_type": changed.type,
        "object_id": changed.id,
        "external_id": changed.external_id,
        "holder_id": changed.holder_id,
        "version": changed.version,
        "previous_status": change.previous_status,
        "status": change.status,
        "changed": None if fields is None else list(fields),
        "journal_entry_ids": list(changed.entries) or None,
        "counts": changed.counts,
    }
