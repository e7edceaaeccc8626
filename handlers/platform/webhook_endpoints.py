"""Webhook endpoints of a partner: create, change and test them, and list what was delivered."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from access.webhook_secrets import (
    SealedSecret,
    SecretVault,
    UnreadableSecret,
    make_webhook_secret,
)
from accounting.absent import ABSENT, Absent
from accounting.errors import Conflict
from accounting.webhooks import endpoints
from accounting.webhooks.attempts import Attempt
from accounting.webhooks.endpoints import (
    OLD_SECRET_SIGNS,
    ChangeEndpoint,
    CreateEndpoint,
    Endpoint,
)
from handlers.bodies import WebhookEndpointCreate, WebhookEndpointUpdate, WebhookReplay
from handlers.platform import webhook_commands
from handlers.platform.webhook_responses import (
    serialize,
    serialize_attempt,
    serialize_delivery,
)
from handlers.results import Created, Reply
from handlers.shared.outside import Outside, url_refused
from handlers.shared.webhook_requests import attempt, body_of, webhook_of
from libraries.outbound.targets import RefusedUrl
from persistence.engine.ids import new_id
from persistence.engine.pages import Page, PageRequest
from persistence.partners.registry import Registry
from persistence.partners.replays import events_to_replay, replay

PING = "ping"
PING_SECONDS = 10.0  # The client of our API waits for it.


async def create_webhook_endpoint(
    registry: Registry, outside: Outside, vault: SecretVault, body: WebhookEndpointCreate
) -> Created:
    """Create an endpoint; its secret is shown here only."""
    command = webhook_commands.create_endpoint(body)
    endpoints.refuse_another(await registry.webhooks.count())
    await refuse_unknown_businesses(registry, command)
    outside.refuse_url(command.url)
    endpoint = Endpoint(
        id=new_id(),
        version=1,
        created_at=registry.now,
        updated_at=registry.now,
        url=command.url,
        types=command.types,
        business_ids=command.business_ids,
        ordered=command.ordered,
        description=command.description,
    )
    secret = make_webhook_secret()
    registry.webhooks.add(endpoint, vault.seal(secret, endpoint.id))
    return Created({**serialize(endpoint), "secret": secret})


async def list_webhook_endpoints(registry: Registry, page: PageRequest) -> Page[Reply]:
    """List the endpoints of the partner."""
    return (await registry.webhooks.page(page)).of(serialize)


async def get_webhook_endpoint(registry: Registry, webhook_endpoint_id: UUID) -> Reply:
    """Return an endpoint."""
    return serialize(await registry.webhooks.get(webhook_endpoint_id))


async def update_webhook_endpoint(
    registry: Registry, outside: Outside, webhook_endpoint_id: UUID, body: WebhookEndpointUpdate
) -> Reply:
    """Change the supplied fields of an endpoint; a URL is checked."""
    command = webhook_commands.change_endpoint(body)
    found = await registry.webhooks.lock(webhook_endpoint_id)
    await refuse_unknown_businesses(registry, command)
    after = endpoints.changed(found, command, registry.now)
    if command.url is not ABSENT:  # One whose host is gone can still be paused.
        outside.refuse_url(after.url)
    if after != found:
        registry.webhooks.save(after, starts_anew=endpoints.starts_anew(found, after))
    return serialize(after)


async def delete_webhook_endpoint(registry: Registry, webhook_endpoint_id: UUID) -> Reply:
    """Delete an endpoint; nothing more is sent to it."""
    await registry.webhooks.lock(webhook_endpoint_id)
    registry.webhooks.delete(webhook_endpoint_id)
    return {"deleted": True}


async def rotate_webhook_secret(
    registry: Registry, vault: SecretVault, webhook_endpoint_id: UUID
) -> Reply:
    """Make a new secret; the one before it signs as well for 24 hours."""
    found = await registry.webhooks.lock(webhook_endpoint_id)
    secret = make_webhook_secret()
    after = replace(found, updated_at=registry.now)
    registry.webhooks.rotate(after, vault.seal(secret, after.id), registry.now + OLD_SECRET_SIGNS)
    return {**serialize(after), "secret": secret}


async def test_webhook_endpoint(
    registry: Registry,
    outside: Outside,
    vault: SecretVault,
    webhook_endpoint_id: UUID,
    now: datetime,
) -> Reply:
    """Send a `ping` to an endpoint now, also to one that is paused or off."""
    webhooks = registry.webhooks
    found = await webhooks.get(webhook_endpoint_id)
    sealed = await webhooks.secrets(webhook_endpoint_id)
    secrets = readable(vault, sealed, found.id)
    answered = outside.result(PING, lambda: ping(outside, found.url, secrets, now))
    if isinstance(answered, RefusedUrl):
        raise url_refused(answered)
    return serialize_attempt(answered)


async def list_webhook_deliveries(
    registry: Registry, webhook_endpoint_id: UUID, page: PageRequest
) -> Page[Reply]:
    """List the deliveries of an endpoint, of the last 30 days."""
    await registry.webhooks.get(webhook_endpoint_id)
    return (await registry.webhooks.deliveries(webhook_endpoint_id, page)).of(serialize_delivery)


async def retry_webhook_delivery(
    registry: Registry, webhook_endpoint_id: UUID, webhook_delivery_id: UUID
) -> Reply:
    """Deliver an event again, as soon as its endpoint is active."""
    await registry.webhooks.get(webhook_endpoint_id)
    found = await registry.webhooks.delivery(webhook_endpoint_id, webhook_delivery_id)
    return serialize_delivery(registry.webhooks.retry(webhook_endpoint_id, found))


async def replay_webhook_events(
    registry: Registry, webhook_endpoint_id: UUID, body: WebhookReplay
) -> Reply:
    """Deliver events of a business again, at most 1,000 of them."""
    command = webhook_commands.replay(body)
    endpoint = await registry.webhooks.get(webhook_endpoint_id)
    found = await events_to_replay(registry, command.business_id, command.after, command.until)
    count = replay(registry, endpoint, found, webhook_of)
    return {
        "business_id": command.business_id,
        "replayed": count,
        "last_sequence": found.events[-1].sequence if found.events else command.after,
        "has_more": found.has_more,
    }


async def refuse_unknown_businesses(
    registry: Registry, command: CreateEndpoint | ChangeEndpoint
) -> None:
    """Raise RuleViolation if the partner lacks one of the businesses that a command names."""
    named = command.business_ids
    if named and not isinstance(named, Absent):
        await registry.webhooks.check_businesses(named)


def readable(vault: SecretVault, sealed: list[SealedSecret], endpoint_id: UUID) -> list[str]:
    """Decrypt the secrets of an endpoint; raises Conflict `webhook_secret_unreadable`."""
    try:
        return vault.open_valid(sealed, endpoint_id)
    except UnreadableSecret:
        raise Conflict(
            "webhook_secret_unreadable",
            "The server can no longer read the secret of this endpoint. Rotate the secret.",
        ) from None


async def ping(
    outside: Outside, url: str, secrets: list[str], now: datetime
) -> Attempt | RefusedUrl:
    """Send a `ping`, and return how that went."""
    message_id = str(new_id())
    body = body_of(PING, now, {"id": message_id, "type": PING, "occurred_at": now})
    try:
        return await attempt(outside.client, url, secrets, message_id, body, seconds=PING_SECONDS)
    except RefusedUrl as refused:
        return refused
