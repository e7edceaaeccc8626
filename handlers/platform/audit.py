"""The audit trail: who changed which record, and when."""

from typing import Any

from handlers.results import Reply
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest
from persistence.integrity.audit_trail import AuditRecord, audit_records


async def list_audit_records(books: Books, page: PageRequest) -> Page[Reply]:
    """List the audit records of the business."""
    return (await audit_records(books, page)).of(serialize)


def serialize(record: AuditRecord) -> dict[str, Any]:
    """Serialize an audit record."""
    return {
        "id": record.id,
        "created_at": record.created_at,
        "object_type": record.object_type,
        "object_id": record.object_id,
        "action": record.action,
        "change": record.change,
        "actor": {
            "kind": record.actor_kind,
            "partner_id": record.partner_id,
            "key_id": record.key_id,
        },
        "request_id": record.request_id,
        "before_digest": record.before_digest and record.before_digest.hex(),
        "after_digest": record.after_digest and record.after_digest.hex(),
        "changes": record.changes,
    }
