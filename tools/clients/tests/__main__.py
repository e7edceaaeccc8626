"""`python -m tools.clients.tests PROGRAMS [long]`: generate clients of the contract and run them.

PROGRAMS is the folder of the generators. The table has a row for each client. `long` adds only
those of `make check-long`.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from server.docs.reference.generators import generators
from tests.api_server import ApiServer, Databases
from tools.clients.tests import collections, histories, mocked, receivers, sdk, settings
from tools.clients.tests.generators import CLIENTS, Client, ClientError
from tools.clients.tests.java import JAVA
from tools.clients.tests.journey import STEPS, travel


def main(programs: Path, share: str = "") -> int:
    """Return 0 when every client was generated, has right types and made the journey."""
    lines = [line("", "made of the contract", "checked", "calls", "took")]
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            EmbeddedPostgres(Path(folder) / "postgres", TEST_SETTINGS) as postgres,
        ):
            databases = Databases(postgres)
            for row in (rows_for_long if share == "long" else rows)(programs, databases):
                lines.append(row)
    except ClientError as failure:
        sys.stdout.write("\n".join([*lines, str(failure), ""]))
        return 1
    sys.stdout.write("\n".join([*lines, f"Each journey has {len(STEPS)} steps.", ""]))
    return 0


def rows(programs: Path, databases: Databases) -> Iterator[str]:
    """Generate each client of every check, and check the other products of the contract."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        mocking = pool.submit(mock_checked)
        receiving = pool.submit(receivers_checked, programs)
        making = partial(made, programs=programs, databases=databases)
        yield from pool.map(making, (*CLIENTS, sdk.PYTHON, sdk.TYPESCRIPT))
    yield line(JAVA.name, "in make check-long")
    begun = time.monotonic()
    with ApiServer(databases.clone("collections")) as api_server:
        requests = str(collections.hold(api_server))
    yield line(
        "the collection for Postman",
        f"{requests} requests",
        "run in newman",
        requests,
        seconds(begun),
    )
    begun = time.monotonic()
    with ApiServer(databases.clone("history")) as api_server:
        rate = histories.hold(api_server)
    yield line("a history by bulk, killed halfway", rate, "saved once", "", seconds(begun))
    yield mocking.result()
    yield receiving.result()


def rows_for_long(programs: Path, databases: Databases) -> Iterator[str]:
    """Run the collection for Bruno, each generator as shown, and the client for Java."""
    begun = time.monotonic()
    with ApiServer(databases.clone("bruno")) as api_server:
        requests = str(collections.hold_bruno(api_server))
    yield line("the collection for Bruno", f"{requests} requests", "run", requests, seconds(begun))
    for generator in generators():
        begun = time.monotonic()
        files = f"{settings.hold(generator, programs)} files"
        checked = "typed" if generator.types else "generated"
        yield line(generator.name, files, checked, "", seconds(begun))
    lacking = JAVA.missing()
    if lacking:
        yield line(JAVA.name, f"skipped: no {lacking} here")
    else:
        yield made(JAVA, programs, databases)


def made(client: Client, programs: Path, databases: Databases) -> str:
    """Generate a client, check its types, and run its journey; return a row of the table."""
    begun = time.monotonic()
    client.generate(programs)
    modules = client.check(programs)
    with ApiServer(databases.clone(client.folder.name.lower())) as api_server:
        calls = travel(
            api_server, lambda caller: client.call(programs, caller), repeats=client.repeats
        )
    how_many = f"{modules} module{'s' if modules > 1 else ''}"
    return line(client.name, how_many, client.checked, str(calls), seconds(begun))


def mock_checked() -> str:
    """Check the mock; return a row of the table."""
    begun = time.monotonic()
    return line("a mock, Prism", f"{mocked.hold()} requests", "answered", "", seconds(begun))


def receivers_checked(programs: Path) -> str:
    """Check the document of webhooks; return a row of the table."""
    begun = time.monotonic()
    generated = f"{receivers.hold(programs)} generators"
    return line("the document of webhooks", generated, "typed", "", seconds(begun))


def seconds(begun: float) -> str:
    """Return the time since a start, in seconds."""
    return f"{time.monotonic() - begun:.0f} s"


def line(name: str, made: str, checked: str = "", calls: str = "", took: str = "") -> str:
    """Return a row of the table."""
    return f"{name:36}{made:21}{checked:16}{calls:>6}{took:>7}".rstrip()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
