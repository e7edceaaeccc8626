"""`make newcomer`: from a bare clone to an invoice by curl, both SDKs, newman and an agent.

Each line has the commands that a newcomer types and the seconds that they take. The clone, its
environment and the home folder are new, so the first line includes all installation.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import UUID

import anyio
import httpx
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from server.docs.reference.first_calls import CALLS
from tests.partner import Partner
from tools.clients.tests import downloads
from tools.clients.tests.generators import ClientError

PORT: Final = 8171
URL: Final = f"http://127.0.0.1:{PORT}"
BUILD: Final = ("make", "sdk", "sdk-typescript", "profiles")
FOLDERS: Final = ("Access", "Businesses", "Customers", "Invoices")
LONGEST_START_SECONDS: Final = 600
# The end of the calls that `make run` prints once the server is ready.
LAST_LINE: Final = CALLS.splitlines()[-1]
INVOICE: Final = {
    "line_items": [{"description": "House blend, 1 kg", "quantity": 10, "unit_price": 1000}]
}


def main() -> int:
    """Create an invoice by every tool, from a bare clone on; return 0 if each succeeded."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clone = folder / "clone"
        subprocess.run(["git", "clone", "--quiet", ".", clone], check=True)
        environment = {"PATH": os.environ["PATH"], "HOME": name, "LANG": "C.UTF-8"}
        with serving("make run: installs, fills a demo, serves", clone, environment) as lines:
            by_curl(lines, environment)
        with timed(" ".join(BUILD), 1):
            subprocess.run(BUILD, cwd=clone, env=environment, check=True, stdout=subprocess.DEVNULL)
        with serving("make run again", clone, environment) as lines:
            by_clients(lines, clone, environment)
    return 0


@contextmanager
def serving(what: str, clone: Path, environment: dict[str, str]) -> Iterator[str]:
    """Run `make run`; yield its output once the server is ready."""
    output = clone.parent / "output"
    with output.open("wb") as file:
        server = subprocess.Popen(
            ["make", "run", f"PORT={PORT}"],
            cwd=clone,
            env=environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        with timed(what, 1):
            ends = time.monotonic() + LONGEST_START_SECONDS
            while LAST_LINE not in (said := output.read_text(encoding="utf-8")):
                expect(server.poll() is None and time.monotonic() < ends, said)
                time.sleep(0.2)
        yield said
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def by_clients(lines: str, clone: Path, environment: dict[str, str]) -> None:
    """Make an invoice by each SDK, the collection and the tools for agents."""
    folder = clone.parent
    given = dict(re.findall(r"(PARTNER_ID|API_KEY|BUSINESS_ID)=(\S+)", lines))
    partner = Partner(URL, UUID(given["PARTNER_ID"]), given["API_KEY"])
    page = httpx.get(f"{URL}{downloads.PAGE}", timeout=60).text
    for kind, call in (("whl", downloads.call_from_python), ("tgz", downloads.call_from_node)):
        found = re.search(rf'href="({downloads.PAGE}[\w.-]+\.{kind})"', page)
        assert found is not None, f"{downloads.PAGE} has no .{kind}"
        with timed(f"the SDK in .{kind}: installed from the server, its first example", 3):
            call(f"{URL}{found[1]}", folder / kind, partner)
    with timed(f"newman: the folders {', '.join(FOLDERS)}", 2):
        by_newman(folder, clone, given, environment)
    with timed("an agent: accounting mcp, a preview and its commit", 3):
        anyio.run(by_agent, given)


def by_curl(lines: str, environment: dict[str, str]) -> None:
    """Run the printed lines in a shell; the last one creates an invoice."""
    pasted = lines[lines.index("export API=") :].split("\n\n")
    calls = [each for each in pasted if each.lstrip().startswith(("export", "curl"))]
    with timed("curl: the lines that make run prints", len(calls)):
        done = subprocess.run(
            ["sh", "-c", ";\n".join(calls)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    expect('"invoice_number":"INV-' in done.stdout, done.stdout)


def by_newman(
    folder: Path, clone: Path, given: dict[str, str], environment: dict[str, str]
) -> None:
    """Run the first folders of the collection that the server offers."""
    collection = folder / "accounting.postman.json"
    address = f"{URL}{downloads.PAGE}accounting.postman.json"
    collection.write_bytes(httpx.get(address, timeout=60).content)
    values = {
        "baseUrl": URL,
        "basicAuthUsername": given["PARTNER_ID"],
        "basicAuthPassword": given["API_KEY"],
    }
    words = [word for each in values.items() for word in ("--env-var", "=".join(each))]
    words += [word for name in FOLDERS for word in ("--folder", name)]
    newman = clone / "node_modules/.bin/newman"
    subprocess.run([newman, "run", collection, "--silent", *words], env=environment, check=True)


async def by_agent(given: dict[str, str]) -> None:
    """Preview and commit a draft of an invoice by the tools for agents."""
    names = {f"ACCOUNTING_{name}": value for name, value in given.items()}
    host = StdioServerParameters(
        command=str(Path(sys.executable).with_name("accounting")),
        args=["mcp"],
        env={**names, "ACCOUNTING_URL": URL, "PATH": os.environ["PATH"]},
    )
    async with stdio_client(host) as streams, ClientSession(*streams) as session:
        await session.initialize()
        found = await session.call_tool("find", {"kinds": ["customer"]})
        customer = json.loads(found.content[0].text)["customer"]["results"][0]["id"]
        preview = await session.call_tool("preview_invoice", {"customer_id": customer, **INVOICE})
        named = {"preview_id": json.loads(preview.content[0].text)["preview_id"]}
        committed = await session.call_tool("commit_invoice", named)
    expect(not committed.is_error, str(committed.content))


def expect(fine: bool, said: str) -> None:
    """Raise ClientError with the output of a tool that made no invoice."""
    if not fine:
        raise ClientError(said)


@contextmanager
def timed(what: str, commands: int) -> Iterator[None]:
    """Print what was done, in how many commands and seconds."""
    begun = time.monotonic()
    yield
    sys.stdout.write(f"{what:70}{commands:3} commands{time.monotonic() - begun:7.1f} s\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
