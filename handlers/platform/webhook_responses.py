"""Webhook endpoints and deliveries as JSON."""

from typing import Any

from accounting.webhooks.attempts import Attempt
from accounting.webhooks.endpoints import Endpoint, EndpointStatus
from persistence.partners.webhook_endpoints import Delivery


def serialize(endpoint: Endpoint) -> dict[str, Any]:
    """Serialize an endpoint, without its secret."""
    return {
        "id": endpoint.id,
        "url": endpoint.url,
        "types": endpoint.types,
        "business_ids": endpoint.business_ids,
        "ordered": endpoint.ordered,
        "description": endpoint.description,
        "is_active": endpoint.status is EndpointStatus.ACTIVE,
        "status": endpoint.status.value,
        "off_reason": endpoint.off_reason,
        "off_at": endpoint.off_at,
        "created_at": endpoint.created_at,
        "updated_at": endpoint.updated_at,
    }


def serialize_delivery(delivery: Delivery) -> dict[str, Any]:
    """Serialize a delivery."""
    return {
        "id": delivery.id,
        "event_id": delivery.event_id,
        "event_type": delivery.event_type,
        "business_id": delivery.business_id,
        "sequence": delivery.sequence,
        "status": delivery.status,
        "attempts": delivery.attempts,
        "next_attempt_at": delivery.next_attempt_at,
        "last_attempt_at": delivery.last_attempt_at,
        "status_code": delivery.status_code,
        "milliseconds": delivery.milliseconds,
        "answer": delivery.answer,
        "error": delivery.error,
        "created_at": delivery.created_at,
    }


def serialize_attempt(attempt: Attempt) -> dict[str, Any]:
    """Serialize the attempt of a test."""
    return {
        "delivered": attempt.succeeded,
        "status_code": attempt.status_code,
        "milliseconds": attempt.milliseconds,
        "answer": attempt.answer,
        "error": attempt.error,
    }
