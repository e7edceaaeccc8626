"""Creation of the demo, through the API only.

The filled business is the template of sandboxes; the demo's own business is the first sandbox.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from functools import partial
from uuid import UUID

import httpx

from access import api_keys
from cli.demo import in_process
from cli.demo.access import Access
from cli.demo.client import DemoClient, answered
from cli.demo.roaster import BUSINESS, CUSTOMERS, VENDORS
from cli.demo.year import plan
from cli.progress import Progress
from persistence.engine.pool import make_pool
from persistence.partners import partners, sandboxes
from server.app import create_app
from server.config.settings import Settings
from server.docs.reference.first_calls import V1
from server.process.database import GivenUp
from server.telemetry import logs

PARTNER = "Demo partner"
OF_TEMPLATE = "Template of sandboxes"
HERE = "https://demo.invalid"  # Never resolved: the calls stay in this process.


async def fill(
    loaded: Settings, database_url: str, known: Access | None, progress: Progress, given_up: GivenUp
) -> Access:
    """Create what is missing of the demo, save its credentials and return them.

    `known`: credentials that are valid in this database, or None to begin a new demo. When
    `given_up` returns true, filling stops; the next run continues from there.
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
    """Fill a new template, from which new sandboxes are copied from now on."""
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
    """Fill a business with a year of trade, make it the template and disable its partner.

    Returns False if `given_up` stopped it.
    """
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
    # Filling can be repeated, so a database that may lose commits is good enough.
    application = create_app(loaded, database_url, durable=False)
    transport = httpx.ASGITransport(app=application)
    with logs.quietly():
        async with (
            in_process.started(application),
            httpx.AsyncClient(transport=transport, base_url=HERE) as api,
        ):
            yield api


async def _begun(database_url: str, api: httpx.AsyncClient) -> Access:
    """Create the template's partner and business."""
    partner, key = await _partner(database_url, OF_TEMPLATE)
    business = answered(await api.post(f"{V1}/businesses/", json=BUSINESS, auth=(partner, key)))
    return Access(partner, key, business["id"], f"{datetime.now(UTC).date()}", finished=False)


async def _opened(database_url: str, api: httpx.AsyncClient, day: str) -> Access:
    """Create the demo's partner and its business, which is a sandbox."""
    partner, key = await _partner(database_url, PARTNER)
    body = {name: BUSINESS[name] for name in ("external_id", "name")}
    del api.headers["Authorization"]
    business = answered(await api.post(f"{HERE}{V1}/sandboxes/", json=body, auth=(partner, key)))
    return Access(partner, key, business["id"], day, finished=True)


async def _partner(database_url: str, name: str) -> tuple[str, str]:
    """Create a partner; return its id and its API key."""
    key = api_keys.make_key("test")
    sealed = api_keys.seal_key(key.text)
    async with make_pool(database_url, size=1) as pool:
        made = await partners.create_partner(pool, name, key.key_id, sealed, datetime.now(UTC))
    return str(made), key.text


async def _sign_in(api: httpx.AsyncClient, access: Access) -> None:
    """Get a business token, and set it and the address of the business on the client."""
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
    """Execute all steps of the year up to `today`; return False if `given_up` stopped it."""
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
