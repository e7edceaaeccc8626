"""Deliverers of webhooks under test, in the process of the test."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from access.webhook_secrets import SecretVault
from jobs.deliveries import Deliverer
from libraries.outbound.client import Client
from persistence.engine.pool import make_pool
from tests.api_server import SECRET, ApiServer, look_up
from tests.partner import Business, Partner

ENDPOINTS = "/v1/platform/webhook-endpoints/"


@dataclass
class Tally:
    """Counters that a test can read."""

    outcomes: list[str] = field(default_factory=list)
    in_flight: int = 0

    def webhook(self, outcome: str, _seconds: float | None) -> None:
        self.outcomes.append(outcome)

    def beat(self, in_flight: int) -> None:
        self.in_flight = in_flight


def delivering(
    server: ApiServer,
    work: Callable[..., Awaitable[Any]],
    *,
    processes: int = 1,
    ring: Any = (SECRET,),
    client: Client | None = None,
) -> Any:
    """Run an asynchronous function with the deliverers of some processes."""

    async def go() -> Any:
        reached = client or Client(loopback=True, lookup=look_up)
        async with make_pool(server.database_url, size=8) as pool:
            made = [Deliverer(pool, reached, SecretVault(ring), Tally()) for _ in range(processes)]
            return await work(*made)

    return asyncio.run(go())


def delivered(server: ApiServer, **options: Any) -> Any:
    """Make all deliveries, and send those that are due until none is."""

    async def work(one: Deliverer) -> Any:
        await one.make()
        await send_all(one)
        return one.counts

    return delivering(server, work, **options)


async def begin(one: Deliverer) -> int:
    """Begin to send what is due; return how many requests are in flight."""
    await one.step()
    assert isinstance(one.counts, Tally)
    return one.counts.in_flight


async def send_all(one: Deliverer) -> None:
    """Send what is due until nothing is."""
    while await begin(one):
        await asyncio.sleep(0.005)


def endpoint(partner: Partner, url: str, **facts: Any) -> dict[str, Any]:
    """Create an endpoint."""
    answer = partner.api.post(ENDPOINTS, json={"url": url, **facts})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def deliveries(partner: Partner, made: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    """List the deliveries of an endpoint, oldest first."""
    params = {"sort": "created_at", "page_size": 100, **query}
    answer = partner.api.get(f"{ENDPOINTS}{made['id']}/deliveries/", params=params)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def shown(partner: Partner, made: dict[str, Any]) -> dict[str, Any]:
    """Return an endpoint as it is now."""
    found: dict[str, Any] = partner.api.get(f"{ENDPOINTS}{made['id']}/").json()
    return found


def feed(business: Business) -> list[dict[str, Any]]:
    """Return the events of a business."""
    found: list[dict[str, Any]] = business.api.get("events/?page_size=500").json()["results"]
    return found


def due_now(server: ApiServer) -> None:
    """Make every waiting delivery due, and every slow endpoint quick again."""
    server.watcher.execute(
        "UPDATE webhook_delivery SET next_attempt_at = now() WHERE status = 'pending'"
    )
    server.watcher.execute("UPDATE webhook_health SET slow_until = NULL")
