"""Every answer of every test is held against the contract.

`check_response` hangs as a hook in each client the tests use. It judges as `accounting verify`
does, by the contract in the tree.
"""

from functools import cache

import httpx

from tests.contract.document import document
from tools.verify.answers import SERVER_FAULT, Answers
from tools.verify.contract import Contract
from tools.verify.schemas import Schemas

FAULTS_EXPECTED = "faults_expected"


def check_response(response: httpx.Response) -> None:
    """Fail the test when an answer is not one that the contract documents.

    A test that wants to see a 500 says so: `extensions={"faults_expected": True}`.
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
    """Fail with the request, the answer and where to correct it."""
    request = response.request
    raise AssertionError(
        f"{request.method} {request.url} ({operation_id}) answered {response.status_code}.\n{why}\n"
        f"Answer: {response.text[:600]}\n"
        "Either the server is wrong, or openapi/accounting.yaml does not tell the whole truth."
    )


@cache
def answers() -> Answers:
    """What judges by the contract in the tree."""
    return Answers(contract())


@cache
def contract() -> Contract:
    """The contract in the tree."""
    return Contract(document())


@cache
def schemas() -> Schemas:
    """The schemas of the contract in the tree."""
    return Schemas(contract())


@cache
def seen() -> set[tuple[str, int]]:
    """Every (operation, status) that this process was answered; written by `check_response`."""
    return set()
