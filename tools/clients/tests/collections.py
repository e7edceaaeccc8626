"""The collections for Postman and Bruno, run from top to bottom against a server."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.api_server import ApiServer
from tests.builders.files import PDF as PAPER
from tests.contract.document import Node, operations
from tools.clients.tests.generators import NODE, ClientError, run
from tools.clients.tests.settings import PROGRAMS_IN_NODE
from tools.clients.typescript_operations import PARTNERS_TAGS

FOLDER: Final = Path("dist/profiles")
POSTMAN: Final = FOLDER / "accounting.postman.json"
BRUNO: Final = FOLDER / "accounting.bruno.json"
A_PARTNERS: Final = ("Access", *sorted(PARTNERS_TAGS))


def hold(api_server: ApiServer) -> int:
    """Run the collection for Postman; return the number of its requests.

    What belongs to the partner runs once more with the same partner: nothing may collide. Raises
    ClientError for an operation that is missing, in either collection, or that has another status
    than the recorded one.
    """
    for inner, items in (("item", read(POSTMAN)["item"]), ("items", read(BRUNO)["items"])):
        names = {each["name"] for each in requests(items, inner)}
        if missing := [name for name in summaries() if name not in names]:
            raise ClientError(f"Requests that are missing: {', '.join(missing)}")
    variables = variables_for(api_server)
    made = run_in_newman(variables)
    run_in_newman([*variables, *(word for name in A_PARTNERS for word in ("--folder", name))])
    return made


def variables_for(api_server: ApiServer) -> list[str]:
    """Return the words that tell a runner about the server and a new partner."""
    api_server.prepare_sandboxes()
    partner = api_server.partner("Collections")
    given = {
        "baseUrl": api_server.url,
        "basicAuthUsername": str(partner.partner_id),
        "basicAuthPassword": partner.api_key,
    }
    return [word for name, value in given.items() for word in ("--env-var", f"{name}={value}")]


def run_in_newman(variables: list[str]) -> int:
    """Run the collection for Postman; return how many requests it made."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        words = ("--reporters", "json,progress", "--reporter-json-export", report)
        run(NODE / "newman", "run", POSTMAN, *words, *variables)
        stats = read(report)["run"]["stats"]
    made: int = stats["requests"]["total"]
    if stats["assertions"]["total"] != made:
        raise ClientError(f"{made} requests, but {stats['assertions']['total']} tests of a status")
    return made


def hold_bruno(api_server: ApiServer) -> int:
    """Run the collection for Bruno; return the number of its requests."""
    made = sum(1 for _ in requests(read(BRUNO)["items"], "items"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run("node", "tools/clients/tests/bruno_folder.cjs", BRUNO, folder)
        (folder / "paper.pdf").write_bytes(PAPER)
        bru = PROGRAMS_IN_NODE.resolve() / "bru"
        words = ("-r", "--reporter-json", "report.json", *variables_for(api_server))
        run(bru, "run", *words, folder=folder)
        [report] = json.loads((folder / "report.json").read_text("utf-8"))
    if report["summary"]["passedRequests"] != made:
        raise ClientError(f"{made} requests, but {report['summary']}")
    return made


def summaries() -> Iterator[str]:
    """Yield the name of the request of each operation."""
    return (operation.node["summary"] for operation in operations())


def requests(found: list[Node], inner: str) -> Iterator[Node]:
    """Yield every request, in any folder."""
    for each in found:
        if inner in each:
            yield from requests(each[inner], inner)
        else:
            yield each


def read(file: Path) -> Node:
    """Read a file of JSON."""
    found: Node = json.loads(file.read_text("utf-8"))
    return found
