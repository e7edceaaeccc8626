"""A mock of the contract, checked with each example request and each refusal."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from server.docs.own_examples import TOLD_BY_CODES
from tests.contract.document import (
    Node,
    Operation,
    bodies,
    document_with_own_examples,
    follow,
    operations,
)
from tests.contract.valid_requests import JSON, Request
from tests.ports import free_port, is_free
from tools.clients.tests.generators import ClientError

PRISM: Final = Path("node_modules/.bin/prism")
FOR_MOCKS: Final = Path("dist/profiles/accounting.mock.yaml")
PATIENCE_SECONDS: Final = 60
UNKNOWN: Final = {"no_such_field": 1}
OWN: Final = document_with_own_examples()


def hold() -> int:
    """Return the number of requests to the mock; each answer must agree with the contract."""
    with mock() as url, httpx.Client(base_url=url, timeout=PATIENCE_SECONDS) as client:
        return sum(hold_one(operation, client) for operation in operations())


@contextmanager
def mock() -> Iterator[str]:
    """Run Prism; yield its address once it listens."""
    port = free_port()
    words = (PRISM, "mock", FOR_MOCKS, "--port", str(port))
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as prism:
        try:
            until = time.monotonic() + PATIENCE_SECONDS
            while is_free(port):
                if prism.poll() is not None or time.monotonic() > until:
                    raise ClientError("The mock does not listen.")
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            prism.terminate()


def hold_one(operation: Operation, client: httpx.Client) -> int:
    """Send all requests of an operation; return their number.

    Raises ClientError for a wrong answer.
    """
    client.headers["Authorization"] = credentials(operation)
    request = shown_request(operation, client)
    status, shown = shown_answers(operation)
    for kind, value in shown.items():
        expect(operation, request.send(headers={"Accept": kind}), status, value)
    told = [*refusals(operation)]
    for preferred, status, value in told:
        expect(operation, request.send(headers={"Prefer": preferred}), status, value)
    sent = len(shown) + len(told)
    if JSON not in bodies(operation):
        return sent
    _, *invalid = told[0]
    expect(operation, request.send(json=UNKNOWN), *invalid)
    return sent + 1


def credentials(operation: Operation) -> str:
    """Return credentials of the first kind that the operation accepts."""
    return "Basic cGFydG5lcjprZXk=" if "PartnerKey" in operation.node["security"][0] else "Bearer t"


def shown_request(operation: Operation, client: httpx.Client) -> Request:
    """Return the first example request of the operation."""
    told = {each["name"]: each["example"] for each in operation.parameters if each["in"] == "path"}
    path = operation.path.format(**told)
    for content_type, media in bodies(operation).items():
        return Request(operation, client, path, first_example(media), content_type)
    return Request(operation, client, path, None)


def shown_answers(operation: Operation) -> tuple[int, dict[str, Any]]:
    """Return the first status of success, and its first example by content type."""
    answers = operation.node["responses"]
    status = next(each for each in answers if each.startswith("2"))
    content = answers[status]["content"].items()
    return int(status), {kind: first_example(media) for kind, media in content}


def first_example(media: Node) -> Any:
    """Return the value of the first example."""
    return follow(next(iter(media["examples"].values())))["value"]


def refusals(operation: Operation) -> Iterator[tuple[str, int, Any]]:
    """Yield preference, status and body: the first example of each status, and each by name."""
    own = OWN["paths"][operation.path][operation.method]["responses"]
    for status in sorted(own.keys() & {"400", *TOLD_BY_CODES}):
        examples = own[status]["content"][JSON]["examples"]
        values = {name: follow(each)["value"] for name, each in examples.items()}
        for value in [*values.values()][:1]:
            yield f"code={status}", int(status), value
        for name, value in values.items():
            yield f"code={status}, example={name}", int(status), value


def expect(operation: Operation, answer: httpx.Response, status: int, value: Any) -> None:
    """Raise ClientError unless an answer has this status and this value."""
    is_json = answer.headers.get("content-type", "").startswith(JSON)
    said = answer.json() if is_json else answer.text
    if (answer.status_code, said) != (status, value):
        raise ClientError(
            f"{operation.name}: {answer.status_code} {answer.text}\nnot {status} {value}"
        )
