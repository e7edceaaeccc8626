"""The signed request of a webhook, as a receiver gets it (Standard Webhooks)."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from access.webhook_secrets import signature
from accounting.webhooks.attempts import Attempt
from handlers.shared import event_responses
from libraries.outbound.client import SECONDS, Client, NoAnswer
from libraries.outbound.targets import RefusedUrl
from persistence.feed.events import Event
from persistence.partners.new_deliveries import BusinessNames

_OPTIONS = orjson.OPT_UTC_Z


def body_of(event_type: str, at: datetime, data: Any) -> str:
    """Return the body of a webhook: type, timestamp, and the event itself."""
    return orjson.dumps(
        {"type": event_type, "timestamp": at, "data": data}, option=_OPTIONS
    ).decode()


def webhook_of(event: Event, names: BusinessNames) -> str:
    """Return the body of the webhook of an event, which is the event as in the feed."""
    data = event_responses.serialize(
        event, business_external_id=names.external_id, is_sandbox=names.is_sandbox
    )
    return body_of(event.type, event.occurred_at, data)


async def attempt(
    client: Client,
    url: str,
    secrets: Sequence[str],
    message_id: str,
    text: str,
    *,
    seconds: float = SECONDS,
) -> Attempt:
    """Sign the body under each secret, send it, and return how that went.

    Raises RefusedUrl.
    """
    now = datetime.now(UTC)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "accounting-platform-webhooks",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": signature(secrets, message_id, now, text),
    }
    try:
        answer = await client.post(url, headers, text.encode(), seconds)
    except NoAnswer as error:
        return Attempt(error=str(error))
    start = answer.start.decode(errors="replace").replace("\0", "\ufffd")
    return Attempt(answer.status, answer.milliseconds, start, retry_after=answer.retry_after)


async def attempt_or_refusal(
    client: Client, url: str, secrets: Sequence[str], message_id: str, text: str
) -> Attempt:
    """Send the body as `attempt` does; a refused URL is a failed attempt."""
    try:
        return await attempt(client, url, secrets, message_id, text)
    except RefusedUrl as refused:
        return Attempt(error=str(refused))
