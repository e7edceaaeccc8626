"""Serialization of events; a webhook sends the same object as the feed."""

from typing import Any

from handlers.shared.links import record_address
from persistence.feed.events import Event


def serialize(event: Event, *, business_external_id: str, is_sandbox: bool) -> dict[str, Any]:
    """Serialize an event of a business."""
    exists = event.change != "deleted"
    return {
        "id": event.id,
        "sequence": event.sequence,
        "type": event.type,
        "occurred_at": event.occurred_at,
        "business_id": event.business_id,
        "business_external_id": business_external_id,
        "object": {
            "type": event.object_type,
            "id": event.object_id,
            "external_id": event.external_id,
            "version": event.version,
            "url": _address(event) if exists else None,
        },
        "change": event.change,
        "previous_status": event.previous_status,
        "status": event.status,
        "changed": event.changed or [],
        "journal_entry_ids": event.journal_entry_ids or [],
        "counts": event.counts,
        "cause": {
            "operation": event.operation,
            "request_id": event.request_id,
            "actor": {"kind": event.actor_kind, "key_id": event.key_id},
        },
        "is_sandbox": is_sandbox,
    }


def _address(event: Event) -> str | None:
    return record_address(event.business_id, event.object_type, event.object_id, event.holder_id)
