"""Delivery of webhooks: a process makes deliveries of new events, and sends those that are due.

Any number of processes on any number of servers do this side by side. A process holds no connection
to the database while it sends or waits. What it has claimed is held by a lease, which it renews; so
nothing is lost when it is killed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import random
from time import monotonic
from typing import Any, Final, Protocol
from uuid import UUID, uuid4

import structlog

from access.webhook_secrets import SecretVault, UnreadableSecret
from accounting.webhooks.attempts import Attempt, broken_off, outcome_of, postponed
from handlers.shared.webhook_requests import attempt_or_refusal, webhook_of
from libraries.outbound.client import Client, OwnFault
from persistence.engine.pool import Pool
from persistence.partners import due_deliveries
from persistence.partners.due_deliveries import ClaimedDelivery, FinishedAttempt
from persistence.partners.event_placements import place_all
from persistence.partners.new_deliveries import make_deliveries
from persistence.partners.webhook_upkeep import replace_seal, secrets_under_older_keys

POLL_SECONDS: Final = 0.25
RENEW_SECONDS: Final = 1.0
SEAL_SECONDS: Final = 60.0
PAUSE_AFTER_FAILURE_SECONDS: Final = 1.0
MOST_SENDING: Final = 1_000
MOST_RECORDED: Final = 200
END_SECONDS: Final = 3.0
UNREADABLE: Final = Attempt(error="The server cannot read the secret of this endpoint.")
NOT_MADE: Final = Attempt(error="The server could not make the request. It tries again soon.")


class DeliveryCounts(Protocol):
    """The counters of a process that delivers."""

    def webhook(self, outcome: str, seconds: float | None, /) -> None:
        """Count an attempt by its outcome, with its duration if there was an answer."""

    def beat(self, in_flight: int, /) -> None:
        """Report that the process is alive, and how many requests it is sending."""


@dataclass
class Deliverer:
    """The deliveries of one process."""

    pool: Pool
    client: Client
    vault: SecretVault
    counts: DeliveryCounts
    worker: UUID = field(default_factory=uuid4)

    def __post_init__(self) -> None:
        self._log = structlog.get_logger("accounting.webhooks")
        self._sending: dict[UUID, asyncio.Task[None]] = {}
        self._finished: list[FinishedAttempt] = []
        self._news = asyncio.Event()  # An attempt has ended.

    async def run(self, stopping: asyncio.Event) -> None:
        """Deliver until `stopping` is set; then release what is not sent within 3 seconds."""
        loops = [
            asyncio.create_task(self._repeat(each, pause))
            for each, pause in (
                (self.make, POLL_SECONDS),
                (self._renew, RENEW_SECONDS),
                (self.seal_again, SEAL_SECONDS),
            )
        ]
        try:
            while not stopping.is_set():
                await self._guard(self.step)
                await self._wait(stopping)
        finally:
            for each in loops:
                each.cancel()
            await asyncio.wait(loops)
            await self._end()

    async def step(self) -> None:
        """Record what was sent, and begin to send what is due."""
        await self._record()
        free = MOST_SENDING - len(self._sending)
        claimed = await due_deliveries.claim(self.pool, self.worker, free) if free else []
        for each in claimed:
            # One that is still being sent had lost its lease; it is not sent twice.
            if each.id not in self._sending:
                self._sending[each.id] = asyncio.create_task(self._send(each))
        self.counts.beat(len(self._sending))

    async def make(self) -> None:
        """Place new events, and make the deliveries of all placements."""
        await place_all(self.pool)
        while await make_deliveries(self.pool, webhook_of):
            self._news.set()

    async def seal_again(self) -> None:
        """Seal each secret under the newest master secret, so that an older one can go."""
        for each in await secrets_under_older_keys(self.pool, self.vault.newest):
            try:
                secret = self.vault.open(each.sealed, each.endpoint_id)
            except UnreadableSecret as error:
                self._log.error(
                    "webhook_secret_unreadable",
                    endpoint_id=str(each.endpoint_id),
                    reason=str(error),
                )
                continue
            await replace_seal(self.pool, each, self.vault.seal(secret, each.endpoint_id))

    async def _send(self, delivery: ClaimedDelivery) -> None:
        try:
            finished = await self._attempt(delivery)
        except (OwnFault, UnreadableSecret) as error:
            self._log.error(
                "webhook_postponed", endpoint_id=str(delivery.endpoint_id), reason=str(error)
            )
            attempt = UNREADABLE if isinstance(error, UnreadableSecret) else NOT_MADE
            finished = FinishedAttempt(delivery, attempt, postponed(datetime.now(UTC)))
            self.counts.webhook("postponed", None)
        except Exception as error:  # A fault of ours must not hold other deliveries.
            self._log.error(
                "webhook_attempt_broken", endpoint_id=str(delivery.endpoint_id), exc_info=error
            )
            outcome = broken_off(delivery.attempts, datetime.now(UTC))
            finished = FinishedAttempt(delivery, NOT_MADE, outcome)
            self.counts.webhook("postponed", None)
        self._finished.append(finished)
        self._news.set()

    async def _attempt(self, delivery: ClaimedDelivery) -> FinishedAttempt:
        secrets = self.vault.open_valid(delivery.secrets, delivery.endpoint_id)
        attempt = await attempt_or_refusal(
            self.client, delivery.url, secrets, str(delivery.event_id), delivery.body
        )
        now = datetime.now(UTC)
        outcome = outcome_of(attempt, delivery.attempts, now, delivery.failing_since, random())
        seconds = None if attempt.milliseconds is None else attempt.milliseconds / 1000
        self.counts.webhook("delivered" if attempt.succeeded else "failed", seconds)
        return FinishedAttempt(delivery, attempt, outcome)

    async def _record(self) -> None:
        """Record finished attempts; they stay held, and are recorded later, where that fails."""
        while finished := self._finished[:MOST_RECORDED]:
            switched_off = await due_deliveries.record(self.pool, self.worker, finished)
            del self._finished[: len(finished)]
            for each in finished:
                self._sending.pop(each.delivery.id, None)
            for endpoint_id, reason in switched_off:
                self._log.warning(
                    "webhook_endpoint_off", endpoint_id=str(endpoint_id), reason=reason
                )

    async def _renew(self) -> None:
        if self._sending:
            await due_deliveries.renew(self.pool, self.worker, [*self._sending])

    async def _wait(self, stopping: asyncio.Event) -> None:
        """Wait for an attempt that ends, for new deliveries, or for the next look."""
        waits = [asyncio.create_task(each.wait()) for each in (self._news, stopping)]
        await asyncio.wait(waits, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for each in waits:
            each.cancel()
        self._news.clear()

    async def _repeat(self, work: Callable[[], Awaitable[None]], pause: float) -> None:
        while True:
            await self._guard(work)
            await asyncio.sleep(pause)

    async def _guard(self, work: Callable[[], Awaitable[Any]]) -> None:
        """Run a step; a failure, such as of the database, is logged, and the next try continues."""
        try:
            await work()
        except Exception as error:
            self._log.error("webhooks_interrupted", reason=f"{type(error).__name__}: {error}"[:500])
            await asyncio.sleep(PAUSE_AFTER_FAILURE_SECONDS)

    async def _end(self) -> None:
        """Wait shortly for what is being sent, record it, and release the rest."""
        running: Sequence[asyncio.Task[None]] = [*self._sending.values()]
        if running:
            began = monotonic()
            await asyncio.wait(running, timeout=END_SECONDS)
            self._log.info("webhooks_ended", seconds=round(monotonic() - began, 1))
        for each in running:
            each.cancel()
        try:
            await self._record()
            if self._sending:
                await due_deliveries.release(self.pool, self.worker, [*self._sending])
        except Exception as error:  # Their leases end by themselves.
            self._log.warning("webhooks_not_released", reason=type(error).__name__)
