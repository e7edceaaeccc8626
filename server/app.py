"""The one place where everything meets: settings in, a running ASGI application out."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
from starlette.types import ASGIApp

from access import api_keys
from access.keys import Keys
from access.links import LinkSigner
from access.tokens import Keyring
from persistence.resources import Resources, make_resources
from server import logs
from server.clock import Clock, utc_now
from server.contract import read_source
from server.cors import Origins
from server.dispatch import Services
from server.docs import Documentation, Pages
from server.downloads import Downloads
from server.edge import Edge, Limits, Page
from server.health import OK, Health
from server.https import HttpsRule
from server.limiter import FailedLogins
from server.requests.security import Authenticator
from server.settings import Settings
from server.stack import BoundStack, stack_of
from server.watching.requests import Watch


@dataclass(frozen=True, slots=True)
class Shared:
    """What workers are forked with: the stack of the contract, which is built already.

    `pages_written` gives the pages of the documentation, which another process writes.
    """

    stack: ASGIApp
    pages_written: Callable[[], Pages | None]


def create_app(
    settings: Settings,
    database_url: str,
    *,
    durable: bool = True,
    before_opening: Callable[[], None] | None = None,
    shared: Shared | None = None,
    clock: Clock = utc_now,
    watch: Watch | None = None,
) -> ASGIApp:
    """Build the application of one worker process; `database_url` is its database.

    `durable` refuses a database that could lose an acknowledged write; only tests turn it off.
    `before_opening` returns when the database is there; it may block, in a thread of its own.
    `watch` hears of all that goes on.
    """
    logs.configure(settings.log_format, settings.log_level)
    watch = watch or Watch()
    storage = settings.documents
    resources = make_resources(
        database_url,
        size=settings.database_connections,
        key_matches=api_keys.opens,
        storage=storage,
    )
    keys = Keys(Keyring(settings.secrets), LinkSigner(settings.secrets, settings.public_url))
    source = read_source()
    written = shared.pages_written if shared else None
    authenticator = Authenticator(
        keys.keyring,
        resources.admission,
        FailedLogins(),
        proxies=settings.forwarded_allow,
        clock=clock,
    )
    health = Health(partial(probe, resources))
    life = partial(lifespan, resources, watch, durable, before_opening)
    services = Services(resources, keys, clock, clocks_move=settings.development)
    behind = BoundStack(shared.stack if shared else stack_of(source), services, authenticator, life)
    return Edge(
        Downloads(behind, resources, keys.signer, clock),
        https=HttpsRule(settings.forwarded_allow, settings.development),
        origins=Origins(settings.allowed_origins, settings.development),
        limits=Limits(answer_seconds=settings.answer_seconds, slow_seconds=settings.slow_seconds),
        watch=watch,
        find_page=partial(find_page, health, Documentation(source, written)),
    )


async def find_page(health: Health, documentation: Documentation, path: str) -> Page | None:
    """Find what stands beside the API at an address, of which the final slash is cut off."""
    if path == "/health/live":
        return health.live
    if path == "/health/ready":
        return health.ready
    return await documentation.find(path)


@asynccontextmanager
async def lifespan(
    resources: Resources,
    watch: Watch,
    durable: bool,
    before_opening: Callable[[], None] | None,
    _app: Any,
) -> AsyncIterator[None]:
    """Open the resources before the first request and close them after the last."""
    log = structlog.get_logger("accounting.server")
    if before_opening is not None:
        await asyncio.to_thread(before_opening)
    await resources.open(durable=durable)
    log.info("open", pid=os.getpid())
    try:
        async with watch.beating(lambda: resources.pool.occupancy):
            yield
    finally:
        await resources.close()
        log.info("closed", pid=os.getpid())


async def probe(resources: Resources) -> Mapping[str, str]:
    """Ask for everything a request needs."""
    checks = {"database": await outcome(resources.ping())}
    writable = await resources.blobs.seem_writable()
    if writable is not None:
        checks["files"] = OK if writable else "not writable"
    return checks


async def outcome(question: Awaitable[None]) -> str:
    """Say how a question ended, in one word."""
    try:
        await question
    except Exception as error:
        return type(error).__name__
    return OK
