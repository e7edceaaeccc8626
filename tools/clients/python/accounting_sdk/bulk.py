"""Many writes of one business: they are sent in batches, and a repeat saves nothing twice."""

import hashlib
import inspect
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable
from uuid import UUID

import httpx

from accounting_sdk.core.api import BusinessOperations
from accounting_sdk.errors import KEY, AccountingError, BadRequest, error_of
from accounting_sdk.session import Retries

MOST_ITEMS: Final = 500
# The bounds of a batch are 5 MiB and 100,000 fields and list items; the frame of it needs some.
MOST_BYTES: Final = 5 * 2**20 - 100
MOST_FIELDS: Final = 99_990
# A limit per minute lets a batch through in the next minute; a new release takes some minutes.
PATIENT: Final = Retries(attempts=1_000, seconds=900.0, longest_wait=15.0)


@runtime_checkable
class Model(Protocol):
    """A body, such as InvoiceCreate."""

    def to_dict(self) -> dict[str, Any]: ...


class Item(NamedTuple):
    """A write: the operation by its id, its body, and the other parameters of its path."""

    operation: str
    body: Model | Mapping[str, Any] | None = None
    path: Mapping[str, str] = {}


Items = Iterable[Model | tuple[Any, ...]]
"""The items: each a body to create a record with, or a tuple of the fields of Item."""


@dataclass(frozen=True, slots=True)
class BulkResult:
    """The result of an item; `index` is its place from 0. `error` is None if it succeeded."""

    index: int
    operation: str
    external_id: str | None
    status: int
    id: str | None
    etag: str | None
    error: AccountingError | None


@dataclass(slots=True)
class BulkReport:
    """The results so far; `skipped` counts items that an earlier run has finished."""

    results: list[BulkResult] = field(default_factory=list)
    failures: list[BulkResult] = field(default_factory=list)
    skipped: int = 0

    @property
    def done(self) -> int:
        """The number of all items so far."""
        return len(self.results) + self.skipped


class Batch:
    """Items to send together; `key` is the same for the same items of the same business."""

    def __init__(self, business_id: UUID, name: str, items: list["EncodedItem"]) -> None:
        self.items = items
        listed = b",".join(item.text for item in items)
        self.body = b'{"mode":"independent","items":[%s]}' % listed
        digest = hashlib.sha256(f"{business_id} {name}\n".encode() + self.body)
        self.key = f"bulk-{digest.hexdigest()}"


@dataclass(frozen=True, slots=True)
class EncodedItem:
    """An item as it is sent; `fields` is at least the number of its fields and list items."""

    index: int
    operation: str
    external_id: str | None
    text: bytes
    fields: int


class Bulk:
    """A run of many writes in one business."""

    def __init__(
        self, http: httpx.Client, business_id: UUID, name: str, retries: Retries, size: int
    ) -> None:
        if not 1 <= size <= MOST_ITEMS:
            raise ValueError(f"size is {size}, and not from 1 to {MOST_ITEMS}.")
        self._http = http
        self._business_id = business_id
        self._name = name
        self._retries = retries
        self._size = size

    def run(
        self,
        items: Items,
        progress: Callable[[BulkReport], object] | None,
        state: Path | str | None,
    ) -> BulkReport:
        """Send all items; see `Books.bulk`."""
        report = BulkReport()
        finished = FinishedBatches(state)
        for group in groups(items, self._size):
            batch = self._batch(group)
            if batch.key in finished:
                report.skipped += len(group)
            else:
                results = self._results(batch)
                failures = [each for each in results if each.error is not None]
                report.results += results
                report.failures += failures
                if not failures:
                    finished.add(batch.key)
            if progress is not None:
                progress(report)
        return report

    def _batch(self, items: list[EncodedItem]) -> Batch:
        return Batch(self._business_id, self._name, items)

    def _results(self, batch: Batch) -> list[BulkResult]:
        """Return the results of a batch in the order of its items.

        A malformed item refuses the whole batch, so the others are sent once more without it.
        """
        try:
            answer = self._answer(batch)
        except BadRequest as error:
            malformed = by_item(error, batch.items)
            if not malformed:
                raise
            others = [each for each in batch.items if each not in malformed]
            results = [refused(item, fault) for item, fault in malformed.items()]
            results += self._results(self._batch(others)) if others else []
            return sorted(results, key=lambda each: each.index)
        return [
            result(item, told) for item, told in zip(batch.items, answer["results"], strict=True)
        ]

    def _answer(self, batch: Batch) -> Any:
        address = f"/v1/platform/businesses/{self._business_id}/batch/"
        headers = {"Content-Type": "application/json", KEY: batch.key}
        with_retries = {"retries": self._retries}
        return self._http.post(
            address, content=batch.body, headers=headers, extensions=with_retries
        ).json()


class FinishedBatches:
    """The keys of batches that succeeded as a whole; a file keeps them for the next run."""

    def __init__(self, path: Path | str | None) -> None:
        self._path = None if path is None else Path(path)
        exists = self._path is not None and self._path.exists()
        self._keys = set(self._path.read_text("utf-8").split()) if self._path and exists else set()

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def add(self, key: str) -> None:
        """Keep a key, also if the machine stops now."""
        self._keys.add(key)
        if self._path is None:
            return
        with self._path.open("a", encoding="utf-8") as file:
            # It begins with the line break: a line that was cut off stays alone.
            file.write(f"\n{key}")
            file.flush()
            os.fsync(file.fileno())


def groups(items: Items, size: int) -> Iterator[list[EncodedItem]]:
    """Yield the items in groups that fit into a batch each; the same items make the same groups."""
    group: list[EncodedItem] = []
    size_bytes = fields = 0
    for index, item in enumerate(items):
        encoded = encode(index, item)
        size_bytes += len(encoded.text) + 1
        fields += encoded.fields
        if group and (len(group) == size or size_bytes > MOST_BYTES or fields > MOST_FIELDS):
            yield group
            group, size_bytes, fields = [], len(encoded.text) + 1, encoded.fields
        group.append(encoded)
    if group:
        yield group


def encode(index: int, given: Model | tuple[Any, ...]) -> EncodedItem:
    """Return an item as it is sent; raises TypeError if it names no operation."""
    item = Item(*given) if isinstance(given, tuple) else Item(operation_for(type(given)), given)
    body = item.body.to_dict() if isinstance(item.body, Model) else item.body
    sent = {"key": str(index), "operation": item.operation, "path": dict(item.path), "body": body}
    text = json.dumps(sent, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Each list or object has an entry more than commas.
    fields = text.count(",") + text.count("[") + text.count("{")
    external_id = body.get("external_id") if body is not None else None
    return EncodedItem(index, item.operation, external_id, text.encode(), fields)


@cache
def operations_by_body() -> Mapping[type, list[str]]:
    """Return the operations that create a record from each type of body, and need nothing else."""
    found = defaultdict(list)
    for name, method in vars(BusinessOperations).items():
        if name.startswith("create_"):
            _, first, *_ = inspect.signature(method).parameters.values()
            if first.name == "body":
                found[first.annotation].append(name)
    return found


def operation_for(kind: type) -> str:
    """Return the only operation that creates a record from a type of body, or raise TypeError."""
    names = operations_by_body().get(kind, [])
    if len(names) != 1:
        told = f"one of {', '.join(names)}" if names else "(operation, body)"
        raise TypeError(f"A {kind.__name__} does not tell its operation; give {told} with it.")
    return names[0]


def by_item(error: BadRequest, items: list[EncodedItem]) -> dict[EncodedItem, AccountingError]:
    """Return the error of each item that a refused batch names, with its own field errors."""
    faults: dict[int, dict[str, Any]] = defaultdict(dict)
    for path, messages in error.detail.get("field_errors", {}).items():
        words = path.split(".", 2)
        if words[0] == "items" and len(words) == 3 and words[1].isdecimal():
            faults[int(words[1])][words[2]] = messages
    return {
        items[place]: BadRequest(
            error.status,
            error.error_code,
            "; ".join(f"{name}: {' '.join(messages)}" for name, messages in fields.items()),
            {"field_errors": fields},
            error.request_id,
            error.doc_url,
        )
        for place, fields in faults.items()
        if place < len(items)
    }


def refused(item: EncodedItem, error: AccountingError) -> BulkResult:
    """Return the result of an item that was refused."""
    return BulkResult(item.index, item.operation, item.external_id, error.status, None, None, error)


def result(item: EncodedItem, told: Mapping[str, Any]) -> BulkResult:
    """Return the result of an item from its part of the answer."""
    status, body = told["status"], told["body"] or {}
    if told["outcome"] == "succeeded":
        found = body.get("id")
        return BulkResult(
            item.index, item.operation, item.external_id, status, found, told["etag"], None
        )
    return refused(item, error_of(status, body))
