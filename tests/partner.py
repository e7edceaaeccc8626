"""Clients of a partner and its businesses; each answer is checked."""

import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any
from uuid import UUID

import httpx

from tests.contract.responses import check_response
from tests.plain_wire import PlainWire

# One context for all clients, without certificates. By default each client loads all certificates,
# although the server under test uses plain HTTP: 22 ms and 0.8 MB for each.
NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
PATIENCE_SECONDS = 60.0  # For a busy machine.
_numbers = count(1)


def within(seconds: float, what: Callable[[], bool], *, every: float = 0.01) -> bool:
    """Return whether `what()` becomes true within some seconds."""
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True


def client(url: str, **options: Any) -> httpx.Client:
    """Return a client that checks every answer against the contract."""
    checked = {"verify": NOBODY, "event_hooks": {"response": [check_response]}}
    checked["timeout"] = PATIENCE_SECONDS
    if url.startswith("http://"):
        checked["transport"] = PlainWire()
    return httpx.Client(base_url=url, **{**checked, **options})


@dataclass
class Partner:
    """A partner with its API key."""

    url: str
    partner_id: UUID
    api_key: str
    clients: list[httpx.Client] = field(default_factory=list, repr=False)

    def client(self, url: str, **options: Any) -> httpx.Client:
        """Return a client that is closed with the server."""
        self.clients.append(client(url, **options))
        return self.clients[-1]

    @cached_property
    def key(self) -> httpx.Client:
        """A client with the API key."""
        return self.client(self.url, auth=(str(self.partner_id), self.api_key))

    @cached_property
    def api(self) -> httpx.Client:
        """A client with the partner's token."""
        answer = self.key.post(
            "/v1/platform/oauth2/token/", data={"grant_type": "client_credentials"}
        )
        token = answer.json()["access_token"]
        return self.client(self.url, headers={"Authorization": f"Bearer {token}"})

    def business(self, **facts: Any) -> "Business":
        """Create a business."""
        body = {
            "external_id": f"business-{next(_numbers)}",
            "legal_name": "Harbour Coffee Ltd",
            "entity_type": "limited",
            "email": "books@harbour.example.com",
            "country": "GB",
            "timezone": "UTC",
            **facts,
        }
        opened = self.api.post("/v1/platform/businesses/", json=body)
        assert opened.status_code == 201, opened.text
        return Business(self, opened.json())


@dataclass
class Business:
    """A business with a token of its own; paths are relative to it."""

    partner: Partner
    record: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.record["id"])

    @cached_property
    def api(self) -> httpx.Client:
        """A client with the token of the business."""
        answer = self.partner.api.post(f"/v1/platform/{self.id}/oauth2/token/")
        token = answer.json()["access_token"]
        return self.partner.client(self.base_url, headers={"Authorization": f"Bearer {token}"})

    @property
    def base_url(self) -> str:
        return f"{self.partner.url}/v1/platform/businesses/{self.id}"

    def customer(self, **facts: Any) -> dict[str, Any]:
        return self.made("customers/", {"company_name": "Blue Door Bakery", **facts})

    def vendor(self, **facts: Any) -> dict[str, Any]:
        return self.made("vendors/", {"company_name": "Raw Coffee Traders", **facts})

    def made(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Post a body; return the created record."""
        answer = self.api.post(path, json=body)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def balance(self, code: str) -> int:
        """Return the balance of an account."""
        answer = self.api.get(f"general-ledger/chart-of-accounts/{code}/")
        return int(answer.json()["current_balance"])
