"""Verification of webhooks, as Standard Webhooks describes."""

from collections.abc import Mapping
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

from accounting_sdk.core.models import WebhookMessage, WebhookPing


class InvalidWebhook(Exception):
    """A request that is no webhook of this API, or is older than 5 minutes. Answer it with 400."""


def verify_webhook(
    body: bytes | str, headers: Mapping[str, str], secret: str
) -> WebhookMessage | WebhookPing:
    """Verify a request, and return its message; `data` of a WebhookMessage is the event.

    `body` is the body as it was received, and `secret` that of the endpoint. Raises InvalidWebhook
    if no signature matches, or if the request was sent over 5 minutes ago.
    """
    content = verified_content(body, headers, secret)
    try:
        kind = WebhookPing if content["type"] == "ping" else WebhookMessage
        return kind.from_dict(content)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidWebhook(f"The body is no message of this API: {error!r}.") from error


def verified_content(body: bytes | str, headers: Mapping[str, str], secret: str) -> Any:
    """Return the JSON of a body whose signature and time are right; raises InvalidWebhook."""
    webhook = Webhook(secret)
    try:
        return webhook.verify(body, dict(headers))
    # The library raises ValueError for a header or a body that it cannot read.
    except (WebhookVerificationError, ValueError) as error:
        raise InvalidWebhook(str(error)) from error
