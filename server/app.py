"""Assembly of the server: builds the ASGI application from its settings."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

import structlog
from starlette.types import ASGIApp, Scope

from access import api_keys
from access.links import Keys, LinkSigner
from access.tokens import Keyring
from access.webhook_secrets import SecretVault
from jobs.upkeep import Upkeep
from libraries.outbound.client import Client
from persistence.partners.request_counts import RequestCounts
from persistence.resources import Resources, make_resources
from server.clock import Clock, utc_now
from server.config.settings import Settings
from server.contract.document import read_source
from server.docs.application import Documentation
from server.docs.page_file import Pages
from server.http.dispatch import BoundStack, Services
from server.http.downloads import Downloads, is_document
from server.http.drain import DrainState
from server.http.edge import Edge, HttpsRule, Limits, Origins, Page
from server.http.health import LIVE, OK, READY, Health
from server.http.limiter import FailedLogins, RequestLimits, SharedCounts
from server.http.security import Authenticator
from server.http.stack import stack_of
from server.outbound import make_client
from server.telemetry import logs
from server.telemetry.request_watch import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """Hooks by which the parent process of a worker supports it; all are optional.

    `before_opening` returns when the database is available; it may block, in a thread of its own.
    `pages_written` returns the documentation pages once another process has written them.
    `contract` returns the contract without parsing it again. `stack` is that of the contract, if it
    is built already. `draining` is set when the whole server is about to stop.
    """

    before_opening: Callable[[], None] | None = None
    pages_written: Callable[[], Pages | None] | None = None
    contract: Callable[[], dict[str, Any]] | None = None
    stack: ASGIApp | None = None
    draining: DrainState = field(default_factory=DrainState)


def create_app(
    settings: Settings,
    database_url: str,
    *,
    durable: bool = True,
    parent: Parent | None = None,
    clock: Clock = utc_now,
    watch: Watch | None = None,
    outbound: Client | None = None,
) -> ASGIApp:
    """Build the application of one worker process; `database_url` is its database.

    `durable` refuses a database that could lose an acknowledged write; only tests turn it off.
    `watch` records telemetry. `outbound` sends requests to hosts of strangers.
    """
    parent, watch = parent or Parent(), watch or Watch()
    logs.configure(settings.log_format, settings.log_level)
    storage = settings.documents
    resources = make_resources(
        database_url,
        size=settings.database_connections,
        key_matches=api_keys.opens,
        storage=storage,
        read_url=settings.read_database_url,
        read_lag_seconds=settings.read_lag_seconds,
    )
    ring = settings.secrets
    keys = Keys(Keyring(ring), LinkSigner(ring, settings.public_url), SecretVault(ring))
    outbound = outbound or make_client(settings)
    source = read_source()
    counts = SharedCounts(RequestCounts(resources.pool).report, workers=settings.workers)
    authenticator = Authenticator(
        keys.keyring,
        resources.admission,
        FailedLogins(counts),
        RequestLimits(
            counts,
            partner=settings.requests_per_minute_partner,
            business=settings.requests_per_minute_business,
        ),
        proxies=settings.forwarded_allow,
        clock=clock,
    )
    health = Health(partial(probe, resources), draining=parent.draining)
    every = timedelta(seconds=settings.upkeep_seconds)
    upkeep = Upkeep(resources.pool, resources.blobs, every) if every else None
    life = partial(
        lifespan, resources, upkeep, counts, watch, outbound, durable=durable, parent=parent
    )
    services = Services(resources, keys, clock, settings.development, outbound)
    downloads = Downloads(resources, keys.signer, clock)
    documentation = Documentation(source, parent.pages_written, parent.contract)
    return Edge(
        BoundStack(parent.stack or stack_of(source), services, authenticator, life),
        https=HttpsRule(settings.forwarded_allow, settings.development),
        origins=Origins(settings.allowed_origins, settings.development),
        limits=Limits(answer_seconds=settings.answer_seconds, slow_seconds=settings.slow_seconds),
        watch=watch,
        find_page=partial(find_page, health, downloads, documentation),
    )


async def find_page(
    health: Health, downloads: Downloads, documentation: Documentation, path: str, scope: Scope
) -> Page | None:
    """Return the non-API page for a path (without trailing slash), or None."""
    if path == LIVE:
        return health.live
    if path == READY:
        return health.ready
    if is_document(path):
        return downloads.answer
    return await documentation.find(path, scope)


@asynccontextmanager
async def lifespan(
    resources: Resources,
    upkeep: Upkeep | None,
    counts: SharedCounts,
    watch: Watch,
    outbound: Client,
    _app: Any,
    *,
    durable: bool,
    parent: Parent,
) -> AsyncIterator[None]:
    """Open the resources before the first request and close them after the last."""
    log = structlog.get_logger("accounting.server")
    parent.draining.listen()
    if parent.before_opening is not None:
        await asyncio.to_thread(parent.before_opening)
    await resources.open(durable=durable)
    log.info("open", pid=os.getpid())
    keeping = asyncio.create_task(upkeep.run()) if upkeep else None
    try:
        async with watch.beating(lambda: resources.pool.occupancy):
            yield
    finally:
        if keeping is not None:
            keeping.cancel()
            await asyncio.wait([keeping])
        outbound.close()
        await counts.close()
        await resources.close()
        log.info("closed", pid=os.getpid())


async def probe(resources: Resources) -> Mapping[str, str]:
    """Check everything that a request needs; return "ok" or the fault of each by name."""
    checks = await probe_database(resources)
    writable = await resources.blobs.seem_writable()
    if writable is not None:
        checks["files"] = OK if writable else "not writable"
    return checks


async def probe_database(resources: Resources) -> dict[str, str]:
    """Check that the database answers and that its schema version can be served."""
    try:
        unserved = await resources.ping()
    except Exception as error:
        return {"database": type(error).__name__}
    return {"database": OK, "migrations": unserved or OK}
