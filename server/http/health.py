"""Health endpoints for operators: whether the server is alive, and whether it is ready.

Both return a small JSON object: `{"status": "alive"}` with 200 and, for readiness, `{"status":
"ready" | "unavailable", "checks": {...}}` with 200 or 503. The checks are `database`, `migrations`
and `files`, each "ok" or a short description of the fault. A bucket is not checked, so `files` is
there for a folder only. A server that is about to stop is not ready; its only check is `{"server":
"stopping"}`.

Plain HTTP is allowed, since load balancers and supervisors use it and the answers contain no
secret.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import orjson
import structlog
from starlette.types import Scope

from server.http.drain import DrainState
from server.http.errors import Answer

# Checks everything a request needs; returns "ok" or a short description of the fault, by name.
Probe = Callable[[], Awaitable[Mapping[str, str]]]

OK: Final = "ok"
LIVE: Final = "/health/live"
READY: Final = "/health/ready"
RETRY_AFTER: Final = (b"retry-after", b"1")


class Health:
    """The answers to both requests; `probe` runs at most once every `kept_seconds`."""

    def __init__(
        self,
        probe: Probe,
        *,
        draining: DrainState | None = None,
        kept_seconds: float = 1.0,
        probe_seconds: float = 3.0,
        log: Any = None,
    ) -> None:
        self.probe = probe
        self.draining = draining or DrainState()
        self.kept_seconds = kept_seconds
        self.probe_seconds = probe_seconds
        self.log = log or structlog.get_logger("accounting.health")
        self.asking = asyncio.Lock()
        self.checks: Mapping[str, str] = {}
        self.asked_at: float | None = None

    async def live(self, _scope: Scope | None = None) -> Answer:
        """Answer that the event loop runs, without a check of the database."""
        return as_json(200, {"status": "alive"})

    async def ready(self, _scope: Scope | None = None) -> Answer:
        """Answer whether requests can be served, from a check at most `kept_seconds` old."""
        if self.draining.begun:
            return as_json(503, {"status": "unavailable", "checks": {"server": "stopping"}})
        checks = await self.recent_checks()
        if all(result == OK for result in checks.values()):
            return as_json(200, {"status": "ready", "checks": dict(checks)})
        return as_json(503, {"status": "unavailable", "checks": dict(checks)})

    async def recent_checks(self) -> Mapping[str, str]:
        """Return the checks, and run the probe unless they are recent.

        Concurrent callers share one run.
        """
        async with self.asking:
            now = asyncio.get_running_loop().time()
            if self.asked_at is None or now - self.asked_at >= self.kept_seconds:
                self.checks = await self.run_probe()
                self.asked_at = asyncio.get_running_loop().time()
            return self.checks

    async def run_probe(self) -> Mapping[str, str]:
        """Run the probe; failure or a time-out is a result too."""
        try:
            return await asyncio.wait_for(self.probe(), self.probe_seconds)
        except TimeoutError:
            return {"probe": "timed out"}
        except Exception as error:
            self.log.warning("probe_failed", exc_info=error)
            return {"probe": "failed"}


def as_json(status: int, body: Mapping[str, Any]) -> Answer:
    """Return a small JSON answer."""
    content = orjson.dumps(body)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(content)),
    ]
    if status == 503:
        headers.append(RETRY_AFTER)
    return Answer(status, headers, content)
