"""`python -m tests.clients`: let the generated TypeScript client call a real server."""

import subprocess
import sys
import tempfile
from pathlib import Path

from embedded.postgres import EmbeddedPostgres
from embedded.settings import TEST_SETTINGS
from tests.api_server import ApiServer, Databases

QUICKSTART = Path("dist/client/clients/quickstart.mjs")
EXPECTED = (
    *("INV-000001: 20880 GBP sent", "1 not paid yet"),
    "asked for what is not there: invoice_not_found",
)


def main() -> int:
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedPostgres(Path(folder) / "postgres", TEST_SETTINGS) as postgres,
        ApiServer(Databases(postgres).clone("clients")) as api_server,
    ):
        partner = api_server.partner("Acme")
        caller = [api_server.url, str(partner.partner_id), partner.api_key]
        ran = subprocess.run(
            ["node", str(QUICKSTART), *caller], capture_output=True, text=True, check=False
        )
    sys.stdout.write(ran.stdout + ran.stderr)
    said = set(ran.stdout.splitlines())
    return ran.returncode or int(not said.issuperset(EXPECTED))


if __name__ == "__main__":
    sys.exit(main())
