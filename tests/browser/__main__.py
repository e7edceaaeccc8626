"""`python -m tests.browser FOLDER`: test the reference and the page in Debian's Chromium.

`pages.mjs` has the checks. Pictures of the pages, and their PDFs, go to FOLDER.
"""

import asyncio
import json
import logging
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode
from uuid import UUID

import httpx
import structlog

from access.tokens import FULL_SCOPE, READ_SCOPE, TOKEN_LIFETIME_SECONDS, Keyring
from cli.demo.access import Access
from cli.demo.demo_books import fill
from cli.progress import Progress
from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from persistence.files.blobs import Folder
from server.docs import app_page
from tests.api_server import ApiServer, Databases, settings

# The lifetime of a token that expires while a page is open.
ENDING_SECONDS = 90
MOST_EVENTS = 120
NAMES = ("chromium", "chromium-browser", "google-chrome")


def main(folder: Path) -> int:
    """Return 0 if all checks pass or no browser is installed."""
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        sys.stdout.write("There is no Chromium here: no page was looked at.\n")
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as data,
        EmbeddedPostgres(Path(data) / "postgres", TEST_SETTINGS) as postgres,
        ApiServer(Databases(postgres).clone("browser"), documents=Folder(Path(data))) as api_server,
    ):
        # The log of requests would hide the output.
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
        addresses = {"tryIt": to_try(api_server), **to_read(api_server, Path(data))}
        words = ["tests/browser/pages.mjs", browser, json.dumps(addresses), str(folder)]
        return subprocess.call(["node", *words])


def to_read(api_server: ApiServer, data: Path) -> dict[str, str]:
    """Return addresses of the page with the demo's books: with a lasting and an expiring token."""
    loaded = settings(data_dir=data, documents=api_server.settings.documents)
    with Progress() as progress:
        filled = fill(loaded, api_server.database_url, None, progress, given_up=lambda: False)
        demo = asyncio.run(filled)
    taken_since(api_server, demo, timedelta(days=1))
    declare(api_server, demo)
    lasting, ending = (
        page_address(api_server, demo, timedelta(seconds=good_for))
        for good_for in (TOKEN_LIFETIME_SECONDS, ENDING_SECONDS)
    )
    return {"lasting": lasting, "ending": ending}


def declare(api_server: ApiServer, demo: Access) -> None:
    """Create what the demo does not have: a tax return, and more events than one page shows.

    The token of the page only reads, and the feed of a copied business begins empty.
    """
    keyring = Keyring(api_server.settings.secrets)
    ids = (UUID(demo.partner_id), UUID(demo.business_id))
    token = keyring.issue_business_token(*ids, datetime.now(UTC), FULL_SCOPE)
    home = f"{api_server.url}/v1/platform/businesses/{demo.business_id}/"
    with httpx.Client(base_url=home, headers={"Authorization": f"Bearer {token}"}) as api:
        tax_return = {"start_date": "2026-01-01", "end_date": "2026-03-31", "scheme": "accrual"}
        api.post("tax-returns/", json=tax_return).raise_for_status()
        customers = api.get("customers/").raise_for_status().json()["results"]
        changes = [
            {
                "key": f"{number} {customer['id']}",
                "operation": "update_customer",
                "path": {"customer_id": customer["id"]},
                "body": {"notes": f"Call {number}"},
            }
            for number in range(-(-MOST_EVENTS // len(customers)))
            for customer in customers
        ]
        batch = {"mode": "atomic", "items": changes}
        api.post("batch/", json=batch, timeout=60).raise_for_status()


def taken_since(api_server: ApiServer, demo: Access, ago: timedelta) -> None:
    """Accept tokens issued before the demo was created, as the expiring one seems to be."""
    since = datetime.now(UTC) - ago
    ids = {"partner": demo.partner_id, "business": demo.business_id}
    for table, id in ids.items():
        set_back = f"UPDATE {table} SET tokens_valid_from = %s WHERE id = %s RETURNING id"
        api_server.query(set_back, since, id)


def page_address(api_server: ApiServer, demo: Access, good_for: timedelta) -> str:
    """Return the address of the page with a token that is valid for `good_for`."""
    issued = datetime.now(UTC) + good_for - timedelta(seconds=TOKEN_LIFETIME_SECONDS)
    keyring = Keyring(api_server.settings.secrets)
    ids = (UUID(demo.partner_id), UUID(demo.business_id))
    token = keyring.issue_business_token(*ids, issued, READ_SCOPE)
    return f"{api_server.url}{app_page.ROOT}#token={token}"


def to_try(api_server: ApiServer) -> str:
    """Return the address of the reference with credentials, as `accounting demo --serve` does."""
    partner = api_server.partner("Reader")
    given = {
        "partner_id": partner.partner_id,
        "api_key": partner.api_key,
        "business_id": partner.business().id,
    }
    return f"{api_server.url}/docs/#{urlencode(given)}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
