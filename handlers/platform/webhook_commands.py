"""Bodies of requests about webhook endpoints."""

from accounting.absent import or_else, or_none
from accounting.webhooks.endpoints import ChangeEndpoint, CreateEndpoint, ReplayEvents
from handlers.bodies import WebhookEndpointCreate, WebhookEndpointUpdate, WebhookReplay


def create_endpoint(body: WebhookEndpointCreate) -> CreateEndpoint:
    """Parse a new endpoint."""
    return CreateEndpoint(
        url=body["url"],
        types=or_none(body["types"]),
        business_ids=or_none(body["business_ids"]),
        ordered=or_else(body["ordered"], False),
        description=or_none(body["description"]),
    )


def change_endpoint(body: WebhookEndpointUpdate) -> ChangeEndpoint:
    """Parse changes of an endpoint."""
    return ChangeEndpoint(
        url=body["url"],
        types=body["types"],
        business_ids=body["business_ids"],
        ordered=body["ordered"],
        description=body["description"],
        is_active=body["is_active"],
    )


def replay(body: WebhookReplay) -> ReplayEvents:
    """Parse a replay."""
    return ReplayEvents(body["business_id"], or_else(body["after"], 0), or_none(body["until"]))
