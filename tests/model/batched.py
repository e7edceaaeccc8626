"""Writes that are sent as the only item of a batch, and have the answer of the request alone."""

import re
from functools import cache
from typing import Any

import httpx

from tests.contract.document import operations
from tests.contract.responses import check_response

IN_BUSINESS = "/v1/platform/businesses/{business_id}/"
UNLIKE = frozenset({"content-length", "etag", "location"})


@cache
def patterns() -> dict[tuple[str, str], re.Pattern[str]]:
    """Return the pattern of each path below a business, by method and operationId."""
    return {
        (each.method.upper(), each.name): re.compile(
            re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", each.path.removeprefix(IN_BUSINESS))
        )
        for each in operations()
        if each.path.startswith(IN_BUSINESS)
    }


def item_of(method: str, path: str, body: Any, if_match: str | None) -> dict[str, Any]:
    """Return a write as an item; a path without variables takes precedence."""
    found = [
        (name, match.groupdict())
        for (verb, name), pattern in patterns().items()
        if verb == method and (match := pattern.fullmatch(path))
    ]
    name, names = min(found, key=lambda each: len(each[1]))
    item = {"key": "only", "operation": name, "path": names, "body": body}
    return item if if_match is None else {**item, "if_match": if_match}


def alone(answer: httpx.Response, method: str, address: str) -> httpx.Response:
    """Return the answer that the only item would have had alone, checked against the contract."""
    shown = answer.json()
    results = shown.get("results") or shown.get("detail", {}).get("results")
    if not results:
        return answer
    [result] = results
    headers = {name: text for name, text in answer.headers.items() if name not in UNLIKE}
    if result["etag"] is not None:
        headers["etag"] = result["etag"]
    if result["status"] == 201:
        headers["location"] = address
    request = httpx.Request(method, address)
    found = httpx.Response(result["status"], json=result["body"], headers=headers, request=request)
    if shown.get("committed", True):  # In a preview the entries are those of the batch.
        check_response(found)
    return found
