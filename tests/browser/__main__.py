"""`python -m tests.browser FOLDER`: serve the reference, and hold its pages in Debian's Chromium.

What is held stands in `pages.mjs`. Pictures of the pages, and what they are on paper, go to FOLDER.
"""

import logging
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

import structlog

from embedded.postgres import EmbeddedPostgres
from embedded.settings import TEST_SETTINGS
from tests.api_server import ApiServer, Databases

NAMES = ("chromium", "chromium-browser", "google-chrome")


def main(folder: Path) -> int:
    """Return 0 when all holds, or when there is no browser."""
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        sys.stdout.write("There is no Chromium here: no page was looked at.\n")
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as data,
        EmbeddedPostgres(Path(data) / "postgres", TEST_SETTINGS) as postgres,
        ApiServer(Databases(postgres).clone("browser")) as api_server,
    ):
        # Requests are no news here.
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
        words = ["tests/browser/pages.mjs", browser, to_try(api_server), str(folder)]
        return subprocess.call(["node", *words])


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
