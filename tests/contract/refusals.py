"""The examples of refusals in the contract, and the comparison of an answer with one of them."""

import re
from functools import cache

import httpx

from tests.contract.document import Node, document


@cache
def refusals() -> dict[str, Node]:
    """Return every example of a refusal by its name."""
    values = {name: each["value"] for name, each in document()["components"]["examples"].items()}
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, dict) and "error_code" in value
    }


def is_as_shown(name: str, answer: httpx.Response) -> bool:
    """Return whether an answer is like an example; if not, pytest shows the difference."""
    assert facts(answer.json()) == facts(refusals()[name])
    return True


def facts(refusal: Node) -> tuple[Node, set[str]]:
    """Return the texts of a refusal without its numbers, and the names of its details."""
    words = {name: re.sub(r"\d+", "1", str(refusal[name])) for name in refusal.keys() - {"detail"}}
    return {**words, "request_id": ""}, set(refusal["detail"])
