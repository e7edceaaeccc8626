"""Rendering of a handler's value as a response: status, ETag, Location, pages, previews, files."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from typing import Any
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

import orjson
from starlette.types import Scope, Send
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from accounting.books.numbers import NumberedTitle, PendingNumber
from handlers.results import AnswerFormat, Created, Csv, Pdf
from persistence.books import Books
from persistence.engine.idempotency import Outcome
from persistence.engine.pages import Page
from persistence.partners.registry import Registry
from server.contract.document import Contract, Operation
from server.http.csv_files import csv_of

_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_PASSTHROUGH_DATACLASS  # No dataclass is written.
_JSON = {"content-type": "application/json"}
_CSV = "text/csv; charset=utf-8"
# The formats by the names that a client may accept; the first of equals is chosen.
_FORMATS = {
    "application/json": AnswerFormat.JSON,
    "text/csv": AnswerFormat.CSV,
    _CSV: AnswerFormat.CSV,
    "application/pdf": AnswerFormat.PDF,
}


class ReplyWriter:
    """A writer of the answers of one operation, as its contract describes them."""

    def __init__(self, operation: Operation, contract: Contract) -> None:
        self._tagged = operation.has_etag
        self._formats = {
            name: each for name, each in _FORMATS.items() if each in operation.media_types
        }
        self._negotiates = len(operation.media_types) > 1
        self._address = _address_of_created(operation, contract)

    def format_for(self, scope: Scope) -> AnswerFormat:
        """Return the format that the client prefers; JSON if it states none, or accepts none."""
        accepted = b", ".join(text for name, text in scope["headers"] if name == b"accept")
        types = parse_accept_header(accepted.decode("latin-1"), MIMEAccept)
        return self._formats[types.best_match(self._formats, default=AnswerFormat.JSON)]

    def render(
        self,
        value: Any,
        opened: Books | Registry,
        scope: Scope,
        *,
        preview: bool = False,
        entries: list[Any] | None = None,
    ) -> Outcome:
        """Return status, headers and bytes.

        The status of a preview is always 200, since nothing was created. It has `entries`, unless
        it is an item of a batch.
        """
        if isinstance(value, Csv):
            return _file(csv_of(value), _CSV, value.file_name)
        created = isinstance(value, Created)
        shown = value.value if isinstance(value, Created) else value
        if isinstance(shown, Page):
            shown = envelope(shown, scope)
        headers = dict(_JSON)
        if self._tagged and not preview:  # A record that was not saved has no version.
            headers["etag"] = f'"{opened.etag(_subject(shown))}"'
        if created and self._address and not preview:
            headers["location"] = self._address(scope["path_params"], _subject(shown))
        if entries is not None:
            shown = {**shown, "journal_entries": entries}
        number = _no_number if preview else partial(_numbered, opened)
        body = orjson.dumps(shown, default=number, option=_OPTIONS)
        return Outcome(201 if created and not preview else 200, headers, body)

    async def render_read(self, value: Any, opened: Books | Registry, scope: Scope) -> Outcome:
        """Render the result of a read; a PDF is drawn in a thread."""
        if isinstance(value, Pdf):
            drawn = await asyncio.to_thread(value.draw)
            found = _file(drawn, AnswerFormat.PDF, value.file_name)
        else:
            found = self.render(value, opened, scope)
        if self._negotiates:
            found.headers["vary"] = "Accept"
        return found

    async def send(self, send: Send, outcome: Outcome, *, replayed: bool) -> None:
        """Send an outcome."""
        headers = [
            (name.encode(), value.encode("latin-1")) for name, value in outcome.headers.items()
        ]
        if "content-length" not in outcome.headers:
            headers.append((b"content-length", b"%d" % len(outcome.body)))
        if replayed:
            headers.append((b"idempotent-replayed", b"true"))
        await send({"type": "http.response.start", "status": outcome.status, "headers": headers})
        await send({"type": "http.response.body", "body": outcome.body})


def written(value: Any) -> Outcome:
    """Render a value without numbers that are taken, as JSON with status 200."""
    return Outcome(200, dict(_JSON), orjson.dumps(value, default=_no_number, option=_OPTIONS))


def _file(content: bytes, content_type: str, file_name: str) -> Outcome:
    headers = {
        "content-type": content_type,
        "content-disposition": f'attachment; filename="{file_name}"',
    }
    return Outcome(200, headers, content)


def envelope(page: Page[Any], scope: Scope) -> dict[str, Any]:
    """Serialize a page in both documented forms: page_info, and next and previous."""
    wanted = page.wanted
    by_cursor = wanted.cursor is not None
    following = {"cursor": page.next_cursor} if by_cursor else {"page": wanted.page + 1}
    earlier = not by_cursor and wanted.page > 1
    return {
        "count": page.total,
        "next": _sibling(scope, following) if page.next_cursor else None,
        "previous": _sibling(scope, {"page": wanted.page - 1}) if earlier else None,
        "page_info": page.info,
        "results": page.rows,
    }


def _sibling(scope: Scope, changed: Mapping[str, Any]) -> str:
    """Return the address of another page of the same list.

    It is relative to the host: links never use the Host header, which the client can set.
    """
    asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    kept = [(name, value) for name, value in asked if name not in ("page", "cursor")]
    return f"{scope['path']}?{urlencode([*kept, *changed.items()])}"


def _subject(shown: Mapping[str, Any]) -> UUID:
    """Return the id of the record that an answer is about.

    That is the id of the answer itself, or of the first object in it. An answer that only confirms
    an action has that id as its first field named `..._id`.
    """
    if "id" in shown:
        subject: UUID = shown["id"]
        return subject
    wrapped = (each["id"] for each in shown.values() if isinstance(each, dict) and "id" in each)
    named = (value for name, value in shown.items() if name.endswith("_id"))
    first: UUID = next(chain(wrapped, named))
    return first


def _address_of_created(
    operation: Operation, contract: Contract
) -> Callable[[Mapping[str, str], UUID], str] | None:
    """Return a function for the address of a created record, from the links of a 201.

    It uses the first link to a GET of a single record; None if there is no such link.
    """
    created = contract.follow(operation.document["responses"].get("201", {}))
    for link in created.get("links", {}).values():
        target = contract.operations[contract.follow(link)["operationId"]]
        if target.method == "GET" and target.path.endswith("_id}/"):
            before, _, _ = target.path.rpartition("{")
            return lambda path, id_: f"{before.format(**path)}{id_}/"
    return None


def _numbered(opened: Books | Registry, value: Any) -> Any:
    """Return the number that the flush has assigned.

    It is not a closure, which would refer to itself and form a cycle.
    """
    if isinstance(value, PendingNumber) and isinstance(opened, Books):
        return opened.staging.number(value)
    if isinstance(value, NumberedTitle):
        return f"{value.words} {_numbered(opened, value.number)}"
    raise TypeError(f"{type(value).__name__} has no place in an answer")


def _no_number(value: Any) -> Any:
    """Return no number, since a preview assigns none."""
    if isinstance(value, PendingNumber):
        return None
    if isinstance(value, NumberedTitle):
        return value.words
    raise TypeError(f"{type(value).__name__} has no place in an answer")
