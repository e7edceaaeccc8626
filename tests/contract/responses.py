"""The check of every answer of every test against the contract.

`check_response` is a hook of each client of the tests. It checks as `accounting verify` does, with
the contract in the tree.
"""

from functools import cache

import httpx

from tests.contract.document import document
from tools.verify.answers import SERVER_FAULT, Answers
from tools.verify.contract import Contract
from tools.verify.schemas import Schemas

FAULTS_EXPECTED = "faults_expected"


def check_response(response: httpx.Response) -> None:
    """Raise AssertionError if the contract does not document an answer.

    A test that expects a 500 sends `extensions={"faults_expected": True}`.
    """
    response.read()
    judgement = answers().judge(response)
    if judgement is None:
        return
    expected = {SERVER_FAULT} if response.request.extensions.get(FAULTS_EXPECTED) else set()
    if faults := [fault for fault in judgement.faults if fault not in expected]:
        complain(response, judgement.operation_id or "no operation", "\n".join(faults))
    seen().add((judgement.operation_id, response.status_code))


def complain(response: httpx.Response, operation_id: str, why: str) -> None:
    """Raise AssertionError with the request, the answer and the place to correct."""
    request = response.request
    raise AssertionError(
        f"{request.method} {request.url} ({operation_id}) answered {response.status_code}.\n{why}\n"
        f"Answer: {response.text[:600]}\n"
        "Either the server is wrong, or openapi/accounting.yaml does not tell the whole truth."
    )


@cache
def answers() -> Answers:
    """Return the checker of answers for the contract in the tree."""
    return Answers(contract())


@cache
def contract() -> Contract:
    return Contract(document())


@cache
def schemas() -> Schemas:
    """Return the schemas of the contract in the tree."""
    return Schemas(contract())


@cache
def seen() -> set[tuple[str, int]]:
    """Return every (operation, status) that this process received; `check_response` adds to it."""
    return set()
