"""Fills the demo: all of it goes through the API, and none of it past it.

What is filled is the template of sandboxes; the demo's own business is the first of these.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from functools import partial
from uuid import UUID

import httpx

from access import api_keys
from cli.demo import in_process
from cli.demo.access import V1, Access
from cli.demo.client import DemoClient, answered
from cli.demo.roaster import BUSINESS, CUSTOMERS, VENDORS
from cli.demo.year import plan
from cli.progress import Progress
from persistence.engine.pool import make_pool
from persistence.partners import partners, sandboxes
from server import logs
from server.app import create_app
from server.process.database import GivenUp
from server.settings import Settings

PARTNER = "Demo partner"
OF_TEMPLATE = "Template of sandboxes"
HERE = "https://demo.invalid"  # Nobody listens there: the calls stay in this process.


async def fill(
    loaded: Settings, database_url: str, known: Access | None, progress: Progress, given_up: GivenUp
) -> Access:
    """Do whatever is not done yet, and keep and return the way in.

    `known` is one that opens the database; without it a new demo begins. What is given up stays
    unfinished, and goes on where it was another time.
    """
    async with _called(loaded, database_url) as api:
        template = known or await _begun(database_url, api)
        template.keep_in(loaded.data_dir)
        if not await _fill_template(database_url, api, template, progress, given_up):
            return template
        progress.begin("Copying the demo business")
        access = await _opened(database_url, api, template.day)
    access.keep_in(loaded.data_dir)
    return access


async def prepare(loaded: Settings, database_url: str, progress: Progress) -> None:
    """Fill a new template, which sandboxes are copied from now on."""
    async with _called(loaded, database_url) as api:
        template = await _begun(database_url, api)
        await _fill_template(database_url, api, template, progress, given_up=lambda: False)


async def _fill_template(
    database_url: str,
    api: httpx.AsyncClient,
    template: Access,
    progress: Progress,
    given_up: GivenUp,
) -> bool:
    """Let a business live through its year, and shut it; False where it is given up."""
    await _sign_in(api, template)
    progress.begin("Filling the demo business with a year of trade")
    if not await _live_through(api, date.fromisoformat(template.day), progress, given_up):
        return False
    async with make_pool(database_url, size=1) as pool:
        await sandboxes.make_template(pool, UUID(template.business_id))
        await partners.disable_partner(pool, UUID(template.partner_id), datetime.now(UTC))
    return True


@asynccontextmanager
async def _called(loaded: Settings, database_url: str) -> AsyncIterator[httpx.AsyncClient]:
    # What it does can be done again, so it also runs where a commit may be lost.
    application = create_app(loaded, database_url, durable=False)
    transport = httpx.ASGITransport(app=application)
    with logs.quietly():
        async with (
            in_process.started(application),
            httpx.AsyncClient(transport=transport, base_url=HERE) as api,
        ):
            yield api


async def _begun(database_url: str, api: httpx.AsyncClient) -> Access:
    """Make the partner of a template and its business."""
    partner, key = await _partner(database_url, OF_TEMPLATE)
    business = answered(await api.post(f"{V1}/businesses/", json=BUSINESS, auth=(partner, key)))
    return Access(partner, key, business["id"], f"{datetime.now(UTC).date()}", finished=False)


async def _opened(database_url: str, api: httpx.AsyncClient, day: str) -> Access:
    """Make the demo's partner and its business, a sandbox."""
    partner, key = await _partner(database_url, PARTNER)
    body = {name: BUSINESS[name] for name in ("external_id", "name")}
    del api.headers["Authorization"]
    business = answered(await api.post(f"{HERE}{V1}/sandboxes/", json=body, auth=(partner, key)))
    return Access(partner, key, business["id"], day, finished=True)


async def _partner(database_url: str, name: str) -> tuple[str, str]:
    """Make a partner; return its id and its API key."""
    key = api_keys.make("test")
    sealed = api_keys.seal(key.text)
    async with make_pool(database_url, size=1) as pool:
        made = await partners.create_partner(pool, name, key.key_id, sealed, datetime.now(UTC))
    return str(made), key.text


async def _sign_in(api: httpx.AsyncClient, access: Access) -> None:
    """Let the client speak to the demo business alone."""
    key = access.partner_id, access.api_key
    grant = {"grant_type": "client_credentials"}
    token = answered(await api.post(f"{V1}/oauth2/token/", data=grant, auth=key))
    bearer = {"Authorization": f"Bearer {token['access_token']}"}
    path = f"{V1}/{access.business_id}/oauth2/token/"
    token = answered(await api.post(path, headers=bearer))
    api.headers["Authorization"] = f"Bearer {token['access_token']}"
    api.base_url = httpx.URL(f"{HERE}{V1}/businesses/{access.business_id}/")


async def _live_through(
    api: httpx.AsyncClient, today: date, progress: Progress, given_up: GivenUp
) -> bool:
    """Do everything that the year up to `today` lays out; False where it is given up before."""
    steps = plan(today)
    parties = (*CUSTOMERS, *VENDORS)
    client = DemoClient(api, progress.note)
    await client.set_up_accounts()
    created = (partial(client.create_party, party) for party in parties)
    work = [*created, *(partial(client.take, step) for step in steps)]
    for done, do in enumerate(work, 1):
        if given_up():
            return False
        await do()
        progress.advance(done, len(work))
    return True
