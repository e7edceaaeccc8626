"""`python -m tests.clients PROGRAMS`: generate clients of the contract, and let them call a server.

PROGRAMS is the folder of the generators. The table tells what each made.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from embedded.postgres import EmbeddedPostgres
from embedded.settings import TEST_SETTINGS
from tests.api_server import ApiServer, Databases
from tests.clients import collections, mocked, sdk
from tests.clients.generators import CLIENTS, Client, Failed
from tests.clients.journey import STEPS, travel

HEADINGS = ("made of the contract", "how much", "and then", "calls", "took")


def main(programs: Path) -> int:
    """Return 0 when every client was made, has right types and made the journey."""
    lines = [line(*HEADINGS)]
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            EmbeddedPostgres(Path(folder) / "postgres", TEST_SETTINGS) as postgres,
        ):
            databases = Databases(postgres)
            for client in (*CLIENTS, sdk.PYTHON, sdk.TYPESCRIPT):
                lines.append(made(client, programs, databases))
        lines += held()
    except Failed as failure:
        sys.stdout.write("\n".join([*lines, str(failure), ""]))
        return 1
    sys.stdout.write("\n".join([*lines, f"The journey has {len(STEPS)} steps.", ""]))
    return 0


def made(client: Client, programs: Path, databases: Databases) -> str:
    """Make a client, check its types, let it make the journey."""
    begun = time.monotonic()
    client.generate(programs)
    modules = client.check(programs)
    with ApiServer(databases.clone(client.folder.name)) as api_server:
        calls = travel(
            api_server, lambda caller: client.call(programs, caller), repeats=client.repeats
        )
        if client is sdk.PYTHON:
            sdk.send_first_invoice(programs, api_server.partner("Newcomer"))
    return line(client.name, f"{modules} modules", client.checked, str(calls), seconds(begun))


def held() -> Iterator[str]:
    """Hold what else is made of the contract against it."""
    begun = time.monotonic()
    requests = f"{collections.hold()} requests"
    yield line("collections for Postman, Bruno", requests, "compared", "", seconds(begun))
    begun = time.monotonic()
    requests = f"{mocked.hold()} requests"
    yield line("a mock, Prism", requests, "answered", "", seconds(begun))


def seconds(begun: float) -> str:
    """Write how long something took."""
    return f"{time.monotonic() - begun:.0f} s"


def line(name: str, made: str, done: str, calls: str, took: str) -> str:
    """Write a line of the table."""
    return f"{name:36}{made:15}{done:17}{calls:>5}{took:>7}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
