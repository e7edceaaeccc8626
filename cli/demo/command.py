"""`accounting demo`: a partner and a business with a year behind it, and how to call them."""

import asyncio
import json
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Self

import httpx
import typer

from access import api_keys
from cli.databases import Database, ready
from cli.demo import in_process
from cli.demo.clerk import Clerk, answered
from cli.demo.roaster import BUSINESS, CUSTOMERS, VENDORS
from cli.demo.year import plan
from cli.proving import progress_bar
from persistence.engine.pool import make_pool
from persistence.partners import partners
from server import logs, settings
from server.app import create_app
from server.settings import Settings

FILE = "demo.json"
PARTNER = "Demo partner"
HERE = "https://demo.invalid"  # Nobody listens there: the calls stay in this process.
V1 = "/v1/platform"


@dataclass(frozen=True, slots=True)
class Access:
    """How the demo is reached; kept in the data folder, since a key is shown only once.

    `day` is the one that its year ends on, `finished` whether that year is whole.
    """

    partner_id: str
    api_key: str
    business_id: str
    day: str
    finished: bool

    @classmethod
    def kept_in(cls, folder: Path) -> Self | None:
        """Read what an earlier run has kept."""
        try:
            return cls(**json.loads((folder / FILE).read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def keep_in(self, folder: Path) -> None:
        """Write it where only its owner can read it, whole or not at all."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = folder / f".{FILE}.{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(os.open(draft, flags, 0o600), "w") as file:
            json.dump(asdict(self), file)
        draft.replace(folder / FILE)


def show_demo(*, port: int, serve: bool) -> None:
    """Fill the demo where it is not there yet, print how to call it, and serve it if asked."""
    loaded = settings.load(port=port, workers=2, development=True)
    with ready(loaded) as database:
        access = asyncio.run(Demo(loaded, database).ready())
        show(access, f"http://{loaded.host}:{port}", serve=serve)
        if serve:
            from server.process.serving import serve as serve_api

            serve_api(loaded)


class Demo:
    """The demo in one database; all of it goes through the API, and none of it past it."""

    def __init__(self, loaded: Settings, database: Database) -> None:
        self._settings = loaded
        self._database = database
        self._folder = loaded.data_dir

    async def ready(self) -> Access:
        """Return the way in, after doing whatever is not done yet."""
        async with self._client() as api:
            kept = Access.kept_in(self._folder)
            access = kept if kept and await self._lets_in(api, kept) else await self._begun(api)
            if access.finished:
                return access
            await self._fill(api, access)
        finished = replace(access, finished=True)
        finished.keep_in(self._folder)
        return finished

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[httpx.AsyncClient]:
        # What it does can be done again, so it also runs where a commit may be lost.
        application = create_app(self._settings, self._database.url, durable=False)
        transport = httpx.ASGITransport(app=application)
        with logs.quietly():
            async with (
                in_process.started(application),
                httpx.AsyncClient(transport=transport, base_url=HERE) as api,
            ):
                yield api

    async def _lets_in(self, api: httpx.AsyncClient, access: Access) -> bool:
        """Tell whether the kept way in leads to a business of this database."""
        key = access.partner_id, access.api_key
        found = await api.get(f"{V1}/businesses/{access.business_id}/", auth=key)
        return found.is_success

    async def _begun(self, api: httpx.AsyncClient) -> Access:
        """Make the partner and its business."""
        key = api_keys.make("test")
        now = datetime.now(UTC)
        async with make_pool(self._database.url, size=1) as pool:
            sealed = api_keys.seal(key.text)
            partner_id = await partners.create_partner(pool, PARTNER, key.key_id, sealed, now)
        partner = str(partner_id)
        business = answered(
            await api.post(f"{V1}/businesses/", json=BUSINESS, auth=(partner, key.text))
        )
        access = Access(partner, key.text, business["id"], f"{now.date()}", finished=False)
        access.keep_in(self._folder)
        return access

    async def _fill(self, api: httpx.AsyncClient, access: Access) -> None:
        key = access.partner_id, access.api_key
        grant = {"grant_type": "client_credentials"}
        token = answered(await api.post(f"{V1}/oauth2/token/", data=grant, auth=key))
        bearer = {"Authorization": f"Bearer {token['access_token']}"}
        path = f"{V1}/{access.business_id}/oauth2/token/"
        token = answered(await api.post(path, headers=bearer))
        api.headers["Authorization"] = f"Bearer {token['access_token']}"
        api.base_url = httpx.URL(f"{HERE}{V1}/businesses/{access.business_id}/")
        await live_through(api, date.fromisoformat(access.day))


async def live_through(api: httpx.AsyncClient, today: date) -> None:
    """Do everything that the year up to `today` lays out, with a bar that says how far it is."""
    steps = plan(today)
    parties = (*CUSTOMERS, *VENDORS)
    with progress_bar() as bar:
        task = bar.add_task("A year of trade", total=len(parties) + len(steps))
        clerk = Clerk(api, bar.console.out)
        await clerk.set_up_accounts()
        for party in parties:
            await clerk.welcome(party)
            bar.advance(task)
        for step in steps:
            await clerk.take(step)
            bar.advance(task)


def show(access: Access, url: str, *, serve: bool) -> None:
    """Print the way in and three calls to paste; each is one line, whatever the terminal."""
    business = f"{url}{V1}/businesses/{access.business_id}"
    pretty = "| python3 -m json.tool"
    read = "python3 -c 'import json, sys; print(json.load(sys.stdin)[\"access_token\"])'"
    bearer = '-H "Authorization: Bearer $TOKEN"'
    chart = "general-ledger/chart-of-accounts/?page_size=100"
    for line in (
        f"Partner    {access.partner_id}",
        f"API key    {access.api_key}",
        f"Business   {access.business_id} ({BUSINESS['name']})",
        f"Reference  {url}/docs/",
        "",
        "Get a token, list what is overdue, read every account with its balance:",
        "",
        f"TOKEN=$(curl -s {url}{V1}/oauth2/token/ -u {access.partner_id}:{access.api_key}"
        f" -d grant_type=client_credentials | {read})",
        f"curl -s {bearer} '{business}/invoices/?status=overdue' {pretty}",
        f"curl -s {bearer} '{business}/{chart}' {pretty}",
        "",
        f"Serving on {url} until Ctrl-C."
        if serve
        else "Serve it with: accounting serve --development",
    ):
        typer.echo(line)
