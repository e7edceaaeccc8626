"""`accounting demo`: a partner, a business with a year of trade, and instructions to call the API.

The code that fills the demo is loaded only if the demo is missing or incomplete.
"""

import asyncio
from datetime import UTC, datetime
from urllib.parse import urlencode
from uuid import UUID

import typer

from cli.demo.access import Access
from cli.demo.roaster import BUSINESS
from cli.progress import Progress
from server.config import settings
from server.config.settings import Settings
from server.docs import app_page
from server.docs.reference.first_calls import exports, first_calls
from server.process.database import GivenUp


def show_demo(*, port: int, serve: bool) -> None:
    """Fill the demo unless it exists, serve it if `serve` is set, and print how to call it."""
    loaded = settings.load(port=port, workers=2, development=True)
    with Progress() as progress:
        demo = Demo(loaded, progress)
        if serve:
            from server.process import startup

            start = startup.Start(
                begin=progress.begin, fill=demo.prepare, when_serving=demo.show_served
            )
            startup.serve(loaded, start)
        else:
            from cli.databases import ready

            with ready(loaded, progress.begin) as database:
                demo.prepare(database.url, given_up=lambda: False)
            progress.end()
            demo.show("Serve it with: accounting serve --development")


class Demo:
    """The demo in one data folder."""

    def __init__(self, loaded: Settings, progress: Progress) -> None:
        self._settings = loaded
        self._progress = progress
        self._access: Access | None = None

    def prepare(self, database_url: str, given_up: GivenUp) -> None:
        """Find the demo in a database, or create it there."""
        self._access = asyncio.run(self._prepared(database_url, given_up))

    async def _prepared(self, database_url: str, given_up: GivenUp) -> Access:
        from persistence.engine.pool import make_pool

        self._progress.begin("Looking for the demo business")
        known = Access.kept_in(self._settings.data_dir)
        async with make_pool(database_url, size=1) as pool:
            known = known and await known.found_in(pool)
        if known is not None and known.finished:
            return known
        self._progress.begin("Loading the API")
        from cli.demo.demo_books import fill

        return await fill(self._settings, database_url, known, self._progress, given_up)

    def show_served(self) -> None:
        """Print how to call the demo, when the server is ready."""
        self._progress.end()
        self.show(f"Serving on {self._url} until Ctrl-C.")

    def show(self, ending: str) -> None:
        """Print the credentials and the first calls to paste, without wrapping."""
        if self._access is not None:
            page = f"{self._url}{app_page.ROOT}#token={self._token(self._access)}"
            for line in (*how_to_call(self._access, self._url, page), "", ending):
                typer.echo(line)

    def _token(self, access: Access) -> str:
        """Return a business token that opens the page for an hour, and only reads."""
        # Heavy; not needed by a server that only starts.
        from access.tokens import READ_SCOPE, Keyring

        partner_id, business_id = UUID(access.partner_id), UUID(access.business_id)
        keyring = Keyring(self._settings.secrets)
        return keyring.issue_business_token(partner_id, business_id, datetime.now(UTC), READ_SCOPE)

    @property
    def _url(self) -> str:
        return f"http://{self._settings.host}:{self._settings.port}"


def how_to_call(access: Access, url: str, page: str) -> list[str]:
    """Return the lines to print: credentials, links (also to the demo's page) and first calls."""
    tried = {name: getattr(access, name) for name in ("partner_id", "api_key", "business_id")}
    return [
        f"Partner    {access.partner_id}",
        f"API key    {access.api_key}",
        f"Business   {access.business_id} ({BUSINESS['name']})",
        f"Reference  {url}/docs/",
        f"Try it     {url}/docs/#{urlencode(tried)}",
        f"Page       {page}",
        "",
        "Paste these lines. The first sets the variables that all samples of the reference use.",
        "",
        *first_calls(exports(url, **tried)).split("\n"),
    ]
