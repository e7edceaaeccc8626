"""What every write promises: one key is one request, and a version that is gone is refused."""

from typing import Any
from uuid import uuid4

import httpx

from tests.bookkeeping import Ledger
from tests.builders.trade import Record
from tests.partner import Business


def keeps_its_key(
    shop: Business, ledger: Ledger, path: str, body: Record, **other: Any
) -> httpx.Response:
    """Create by a key: the same bytes again, and another body is refused. Return the answer."""
    key = {"Idempotency-Key": str(uuid4())}
    first = shop.api.post(path, json=body, headers=key)
    with ledger.untouched():
        again = shop.api.post(path, json=body, headers=key)
        reused = shop.api.post(path, json={**body, **other}, headers=key)
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    assert (reused.status_code, reused.json()["error_code"]) == (422, "idempotency_key_reused")
    return first


def keeps_its_key_and_version(
    shop: Business, ledger: Ledger, method: str, path: str, name: str
) -> None:
    """Change a field of version 1 by a key: the same bytes again, and version 1 is gone."""
    version, body = {"If-Match": '"1"'}, {name: "a"}
    headers = {"Idempotency-Key": str(uuid4()), **version}
    first = shop.api.request(method, path, json=body, headers=headers)
    with ledger.untouched():
        again = shop.api.request(method, path, json=body, headers=headers)
        stale = shop.api.request(method, path, json={name: "b"}, headers=version)
    assert (first.headers["etag"], again.content) == ('"2"', first.content)
    assert (stale.status_code, stale.json()["error_code"]) == (412, "precondition_failed")
