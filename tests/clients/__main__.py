"""`python -m tests.clients PROGRAMS`: generate clients of the contract, and let them call a server.

PROGRAMS is the folder of the generators. The table tells what each made.
"""

import sys
import tempfile
import time
from pathlib import Path

from embedded.postgres import EmbeddedPostgres
from embedded.settings import TEST_SETTINGS
from tests.api_server import ApiServer, Databases
from tests.clients import collections, mocked, sdk
from tests.clients.generators import PYTHON_CLIENTS, Failed, compile_typescript, run

QUICKSTART = Path("dist/client/clients/quickstart.mjs")
SAID_IN_TYPESCRIPT = {
    *("INV-000001: 20880 GBP sent", "1 not paid yet"),
    "asked for what is not there: invoice_not_found",
}
SAID_IN_PYTHON = {
    *("INV-000001: 20880 GBP sent", "repeated: True", "paid: paid", "walked: 5"),
    "refused: invoice_not_found",
}


def main(programs: Path) -> int:
    """Return 0 when every client was made, has right types and came through its calls."""
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            EmbeddedPostgres(Path(folder) / "postgres", TEST_SETTINGS) as postgres,
        ):
            databases = Databases(postgres)
            lines = [typescript(databases), fetched(programs), *python(programs, databases)]
            lines += [kept(programs, databases), kept_typescript(databases)]
            lines += [collected(), mocking()]
    except Failed as failure:
        sys.stdout.write(f"{failure}\n")
        return 1
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def python(programs: Path, databases: Databases) -> list[str]:
    """Make the clients in Python, check them, let them call."""
    lines = []
    for client in PYTHON_CLIENTS:
        begun = time.monotonic()
        client.generate(programs)
        modules = client.check(programs)
        with ApiServer(databases.clone(client.calls)) as api_server:
            expect(SAID_IN_PYTHON, client.call(programs, caller_of(api_server)))
        lines.append(line(client.name, f"{modules} modules", "called", begun))
    return lines


def kept(programs: Path, databases: Databases) -> str:
    """Check the SDK for Python, let it call with bad luck, and send the README's invoice."""
    begun = time.monotonic()
    modules = sdk.check(programs)
    with ApiServer(databases.clone("sdk")) as api_server:
        expect(sdk.SAID, sdk.call(programs, api_server, caller_of(api_server)))
        sdk.send_first_invoice(programs, api_server.partner("Newcomer"))
    return line(sdk.SDK.name, f"{modules} modules", "called", begun)


def kept_typescript(databases: Databases) -> str:
    """Let the SDK for TypeScript, whose types make has checked, call with bad luck."""
    begun = time.monotonic()
    with ApiServer(databases.clone("sdk_typescript")) as api_server:
        said = sdk.call_typescript(api_server, caller_of(api_server))
        expect(sdk.SAID_IN_TYPESCRIPT, said)
    return line("the SDK for TypeScript", "types", "called", begun)


def typescript(databases: Databases) -> str:
    """Make the types of openapi-typescript, and let openapi-fetch call with them."""
    begun = time.monotonic()
    run("npm", "run", "--silent", "client")
    with ApiServer(databases.clone("typescript")) as api_server:
        expect(SAID_IN_TYPESCRIPT, run("node", QUICKSTART, *caller_of(api_server)))
    return line("openapi-typescript, openapi-fetch", "types", "called", begun)


def fetched(programs: Path) -> str:
    """Make openapi-generator's client for fetch, and compile it."""
    begun = time.monotonic()
    modules = compile_typescript(programs)
    return line("openapi-generator, typescript-fetch", f"{modules} modules", "compiled", begun)


def collected() -> str:
    """Hold the collections for Postman and Bruno against the contract."""
    begun = time.monotonic()
    return line("collections for Postman, Bruno", f"{collections.hold()} requests", "held", begun)


def mocking() -> str:
    """Hold a mock against the contract."""
    begun = time.monotonic()
    return line("a mock, Prism", f"{mocked.hold()} requests", "answered", begun)


def caller_of(api_server: ApiServer) -> list[str]:
    """Open a partner, and return what a client is started with."""
    partner = api_server.partner("Acme")
    return [api_server.url, str(partner.partner_id), partner.api_key]


def expect(wanted: set[str], said: str) -> None:
    """Raise Failed unless all that is wanted was said."""
    missing = wanted - set(said.splitlines())
    if missing:
        raise Failed(f"{said}\nnot said: {', '.join(sorted(missing))}")


def line(name: str, made: str, done: str, begun: float) -> str:
    """Write a line of the table."""
    return f"{name:37}{made:14}{done:10}{time.monotonic() - begun:5.0f} s"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
