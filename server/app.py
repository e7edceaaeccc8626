"""The one place where everything meets: settings in, a running ASGI application out."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

import structlog
from connexion import ConnexionMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from access import api_keys
from access.keys import Keys
from access.links import LinkSigner
from access.tokens import Keyring
from accounting.errors import NotFound
from persistence.resources import Resources, make_resources
from server import logs
from server.clock import Clock, utc_now
from server.connexion_seam import LifespanMiddleware, schema_check_skipped
from server.contract import Contract, parse, read_source
from server.cors import Origins
from server.dispatch import ContractResolver, Dispatch
from server.docs import Documentation, Pages, nothing_written
from server.downloads import Downloads
from server.edge import Edge
from server.health import OK, Health
from server.https import HttpsRule
from server.limiter import FailedLogins
from server.requests.routing import Routing
from server.requests.security import SECURITY_MAP, Authenticator, Security
from server.requests.validation import Validation
from server.settings import Settings

CONNECTIONS_IN_ALL = 8  # More than four to eight on two cores only wait for one another.


def create_app(
    settings: Settings,
    database_url: str,
    *,
    durable: bool = True,
    before_opening: Callable[[], None] | None = None,
    pages_written: Callable[[], Pages | None] = nothing_written,
    clock: Clock = utc_now,
) -> ASGIApp:
    """Build the application of one worker process; `database_url` is its database.

    `durable` refuses a database that could lose an acknowledged write; only tests turn it off.
    `before_opening` returns when the database is there; it may block, in a thread of its own.
    `pages_written` gives the pages of the documentation where another process writes them.
    """
    logs.configure(settings.log_format)
    size = max(2, CONNECTIONS_IN_ALL // settings.workers)
    storage = settings.documents
    resources = make_resources(database_url, size=size, key_matches=api_keys.opens, storage=storage)
    keys = Keys(Keyring(settings.secrets), LinkSigner(settings.secrets, settings.public_url))
    source = read_source()
    document = parse(source)
    authenticator = Authenticator(
        keys.keyring,
        resources.admission,
        FailedLogins(),
        proxies=settings.forwarded_allow,
        clock=clock,
    )
    health = Health(partial(probe, resources))
    life = partial(lifespan, resources, durable, before_opening)
    endpoints = Dispatch(resources=resources, keys=keys, clock=clock, beyond=nothing_beyond)
    behind = connexion_stack(document, endpoints, authenticator, life)
    return Edge(
        Downloads(behind, resources, keys.signer, clock),
        https=HttpsRule(settings.forwarded_allow, settings.development),
        origins=Origins(settings.allowed_origins, settings.development),
        pages={
            "/health/live": health.live,
            "/health/ready": health.ready,
            **Documentation(document, source, pages_written).pages(),
        },
    )


def connexion_stack(
    document: Mapping[str, Any],
    endpoints: Dispatch,
    authenticator: Authenticator,
    life: Callable[[Any], AbstractAsyncContextManager[None]],
) -> ASGIApp:
    """Put our compiled layers into Connexion: it loads, checks and resolves the contract."""
    contract = Contract(document)
    stack = ConnexionMiddleware(
        endpoints,
        import_name="accounting",
        middlewares=[
            Routing,
            partial(Security, authenticator=authenticator),
            Validation,
            LifespanMiddleware,
        ],
        security_map=SECURITY_MAP,
        lifespan=life,
        resolver=ContractResolver(contract),
    )
    # The check costs each worker more than a second of its start, and grows with the contract. The
    # master process makes it for all of them, and a stricter one.
    with schema_check_skipped():
        stack.add_api(dict(document))
    application: ASGIApp = stack
    return application


@asynccontextmanager
async def lifespan(
    resources: Resources,
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


async def nothing_beyond(scope: Scope, receive: Receive, send: Send) -> None:
    """Stand behind the last endpoint: start-up and shutdown end here, and no request arrives."""
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    raise NotFound("route_not_found", "There is nothing at this address.")
