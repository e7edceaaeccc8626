"""The SDKs as a partner gets them from a server: downloaded, installed, called."""

import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Final

import httpx

from tests.api_server import ApiServer
from tests.partner import Partner
from tools.clients.tests.generators import ClientError, TypeScriptClient, run

README: Final = Path("tools/clients/python/README.md")
README_OF_TYPESCRIPT: Final = Path("tools/clients/typescript/README.md")
PAGE: Final = "/docs/downloads/"
# The text of the page says this in place of the server's own address.
HOST: Final = "https://api.accounting.example"
TYPES: Final = {"whl": "application/zip", "tgz": "application/gzip"}
FIRST_INVOICE: Final = "INV-000001"


def hold(api_server: ApiServer) -> int:
    """Install both SDKs from the server's page, and send an invoice with each; return how many."""
    page = httpx.get(f"{api_server.url}{PAGE}", timeout=60).text
    wheel, package = downloaded(page, "whl", api_server), downloaded(page, "tgz", api_server)
    with tempfile.TemporaryDirectory() as folder:
        call_from_python(wheel, Path(folder) / "python", api_server.partner("Python"))
        call_from_node(package, Path(folder) / "node", api_server.partner("Node"))
    return 2


def downloaded(page: str, kind: str, api_server: ApiServer) -> str:
    """Return the address of the file of a kind; raise ClientError if the page is wrong about it.

    The page has its digest; the server has its type, its ETag and its exact bytes for any client.
    """
    found = re.search(rf'<a href="({PAGE}[\w.-]+\.{kind})">.*?<code>([0-9a-f]{{64}})<', page, re.S)
    if found is None:
        raise ClientError(f"{PAGE} has no .{kind}:\n{page[:2000]}")
    address = f"{api_server.url}{found[1]}"
    first = httpx.get(address, headers={"Accept-Encoding": "gzip"})
    told = (hashlib.sha256(first.content).hexdigest(), first.headers["content-type"])
    again = httpx.get(address, headers={"If-None-Match": first.headers["etag"]})
    if told != (found[2], TYPES[kind]) or again.status_code != 304:
        raise ClientError(f"{address} is {told} and then {again.status_code}")
    if f"{HOST}{found[1]}" not in page:
        raise ClientError(f"{PAGE} does not show how to install {found[1]}")
    return f"{address}#sha256={found[2]}" if kind == "whl" else address


def call_from_python(wheel: str, folder: Path, partner: Partner) -> None:
    """Install a wheel into a new environment, and run the first example of its README."""
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    given = "import sys; BASE_URL, PARTNER_ID, API_KEY, BUSINESS_ID = sys.argv[1:]\n"
    expect(run(folder / "bin/python", "-c", given + example(README, "python"), *caller(partner)))


def call_from_node(package: str, folder: Path, partner: Partner) -> None:
    """Install a package into a new folder; compile and run the first example of its README."""
    folder.mkdir()
    about = {"name": "newcomer", "private": True, "type": "module"}
    (folder / "package.json").write_text(json.dumps(about), encoding="utf-8")
    run("npm", "install", "--silent", "--prefix", folder, package)
    given = (
        "declare const process: { argv: string[] };\n"
        'const [BASE_URL = "", PARTNER_ID = "", API_KEY = "", BUSINESS_ID = ""] =\n'
        "  process.argv.slice(2);\n"
    )
    source = folder / "first.mts"
    source.write_text(given + example(README_OF_TYPESCRIPT, "ts"), encoding="utf-8")
    TypeScriptClient.compile(source)
    expect(run("node", folder / "first.mjs", *caller(partner)))


def caller(partner: Partner) -> tuple[str, ...]:
    """Return what an example needs: address, partner, key, business."""
    return partner.url, str(partner.partner_id), partner.api_key, partner.business().id


def example(readme: Path, language: str) -> str:
    """Return the first example of the SDK in a README."""
    found = re.search(rf"```{language}\n(.*?)```", readme.read_text(encoding="utf-8"), re.S)
    assert found is not None
    return found[1]


def expect(said: str) -> None:
    """Raise ClientError unless an example has sent the first invoice of its business."""
    if said.split()[:1] != [FIRST_INVOICE]:
        raise ClientError(f"The first example of the README says {said}")
