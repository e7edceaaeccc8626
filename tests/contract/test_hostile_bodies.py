"""Every operation refuses every bad body with the documented answer, and stores nothing."""

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.builders.files import PDF
from tests.contract.document import Operation, bodies, follow, operations, share_of
from tests.contract.each import each_of, each_taking
from tests.contract.hostile_bodies import JSON, Hostile, unfit, unreadable, with_nulls
from tests.contract.sockets import exchanged
from tests.contract.valid_requests import Request, Story
from tests.in_turn import in_turn
from tests.partner import Partner

each_taking_json = each_taking(JSON)
each_creating_by_json = each_of(
    each for each in operations() if each.method == "post" and JSON in bodies(each)
)
each_without_body = each_of(each for each in operations() if not bodies(each))
each_with_body = each_of(each for each in operations() if bodies(each))
# One operation for each set of content types: the limit of size depends on nothing else.
KINDS_OF_BODY = {frozenset(bodies(each)): each for each in operations() if bodies(each)}.values()
HUGE_BYTES = 60_000_000
PARTS = 8
SPELLINGS = (
    "APPLICATION/JSON",
    "application/json;charset=utf-8",
    'application/json ; charset="UTF-8"',
)
# The first example with a file, for each operation that accepts a file in its JSON.
WITH_DOCUMENT = "with_a_document"
DOCUMENT = {"file": base64.b64encode(PDF).decode(), "file_name": "paper.pdf", "tags": ["mail"]}


def names_of_examples(operation: Operation) -> list[str]:
    """Return the names of an operation's JSON examples, with one more if it accepts a file."""
    media = bodies(operation)[JSON]
    takes_document = "document" in follow(media["schema"])["properties"]
    return [*media["examples"], *([WITH_DOCUMENT] if takes_document else [])]


def every_example() -> Iterator[Any]:
    """Yield every example of a body: operation, content type and name."""
    for operation in operations():
        for content_type, media in bodies(operation).items():
            is_json = content_type == JSON
            for name in names_of_examples(operation) if is_json else media["examples"]:
                yield pytest.param(operation, content_type, name, id=f"{operation.name}-{name}")


each_example = in_turn(("operation", "content_type", "example"), [*every_example()])


def wrongly_answered(request: Request, hostile: Iterable[Hostile]) -> list[str]:
    """Send all, and return the names of those without the expected answer."""
    found = []
    for each in hostile:
        answer = request.send(content=each.content, headers=each.headers)
        body = answer.json()
        faults = body.get("detail", {}).get("field_errors", {})
        told = each.field is None or any(
            name == each.field or name.startswith(f"{each.field}.") for name in faults
        )
        if answer.status_code != each.status or body["error_code"] not in each.codes or not told:
            found.append(f"{each.name}: {answer.status_code} {answer.text[:200]}")
    return found


def request_of(story: Story, operation: Operation, content_type: str, example: str) -> Request:
    """Return the request of an example of the contract."""
    if example == WITH_DOCUMENT:
        body = story.body(operation) | {"document": DOCUMENT}
    else:
        body = story.body(operation, content_type, example)
    return replace(story.request(operation), body=body, content_type=content_type)


class TestStory:
    # For operations with a body, this request is the first example below.
    @each_without_body
    def test_tells_a_valid_request_for_every_operation_without_a_body(
        self, operation: Operation, rival: Partner
    ) -> None:
        answer = Story.begin(rival).request(operation).send()
        assert answer.status_code in (200, 201), answer.text

    @each_example
    def test_takes_every_example_of_the_contract_for_one(
        self, operation: Operation, content_type: str, example: str, rival: Partner
    ) -> None:
        answer = request_of(Story.begin(rival), operation, content_type, example).send()
        assert answer.status_code in (200, 201), answer.text


class TestJsonBody:
    @each_taking_json
    def test_is_refused_in_every_bad_form(
        self, operation: Operation, story: Story, nothing_kept: None
    ) -> None:
        schema, forms = bodies(operation)[JSON]["schema"], set(bodies(operation)) - {JSON}
        sent: set[str] = set()
        for example in names_of_examples(operation):
            request = request_of(story, operation, JSON, example)
            unread = unreadable(json.dumps(request.body).encode())
            wrong = unfit(
                request.body,
                schema,
                new=operation.method == "post",
                required=operation.node["requestBody"].get("required", False),
            )
            tried = [*share_of(operation, unread, PARTS), *wrong]
            # A body that an earlier example had need not be sent again.
            hostile = [
                each for each in tried if each.content_type not in forms and each.name not in sent
            ]
            sent |= {each.name for each in hostile}
            assert wrongly_answered(request, hostile) == [], example
        assert len(sent) > 20

    @each_creating_by_json
    def test_of_a_create_is_taken_with_null_in_each_field_left_out(
        self, operation: Operation, rival: Partner
    ) -> None:
        request = Story.begin(rival).request(operation)
        body = with_nulls(request.body, bodies(operation)[JSON]["schema"])
        answer = replace(request, body=body).send()
        assert answer.status_code in (200, 201), answer.text

    @each_taking_json
    def test_is_taken_under_any_spelling_of_its_name_and_in_chunks(
        self, operation: Operation, rival: Partner
    ) -> None:
        request = Story.begin(rival).request(operation)
        content = json.dumps(request.body).encode()
        pieces = (content[start : start + 7] for start in range(0, len(content), 7))
        [content_type] = share_of(operation, SPELLINGS, len(SPELLINGS))
        answer = request.send(content=pieces, headers={"content-type": content_type})
        assert answer.status_code in (200, 201), answer.text


class TestNoBody:
    @each_with_body
    def test_is_refused_where_one_is_needed(
        self, operation: Operation, story: Story, nothing_kept: None
    ) -> None:
        if not operation.node["requestBody"].get("required", False):
            return
        answer = story.request(operation).send(content=b"", headers={"content-type": JSON})
        assert answer.status_code == 400
        assert answer.json()["detail"]["field_errors"] == {"body": ["is required"]}

    @each_without_body
    def test_is_all_that_other_operations_take(
        self, operation: Operation, story: Story, nothing_kept: None
    ) -> None:
        request = story.request(operation)
        for headers in ({"content-type": JSON}, {"content-type": "text/plain"}, {}):
            answer = request.send(content=b'{"a": 1}', headers=headers)
            assert answer.status_code == 400, headers
            assert answer.json()["error_code"] == "bad_request"


class TestLargeBody:
    @each_with_body
    def test_is_refused_before_it_was_sent(
        self, operation: Operation, story: Story, nothing_kept: None
    ) -> None:
        answer = announced(story.request(operation), f"Content-Length: {HUGE_BYTES}")
        assert answer.status_code == 413

    @each_of(KINDS_OF_BODY)
    def test_is_refused_while_it_is_sent_in_chunks(
        self, operation: Operation, story: Story, nothing_kept: None
    ) -> None:
        answer = announced(story.request(operation), "Transfer-Encoding: chunked", endless=True)
        assert answer.status_code == 413

    @each_of([each for each in KINDS_OF_BODY if JSON in bodies(each)])
    def test_of_json_may_have_a_mebibyte(
        self, operation: Operation, story: Story, nothing_kept: None
    ) -> None:
        request = story.request(operation)
        limit = 1024 * 1024
        headers = {"content-type": JSON}
        for size, status in ((limit, 400), (limit + 1, 413)):
            content = b'{"nope": "%s"}' % (b"x" * (size - len('{"nope": ""}')))
            assert request.send(content=content, headers=headers).status_code == status


def announced(request: Request, line: str, *, endless: bool = False) -> httpx.Response:
    """Send the head of a request and, if it is endless, chunks until the server refuses."""
    url = request.client.base_url.join(request.path)
    built = request.client.build_request("GET", url)
    lines = [
        f"{request.operation.method.upper()} {request.path} HTTP/1.1",
        f"Host: {url.host}",
        f"Authorization: {authorization(request.client, built)}",
        f"Content-Type: {next(iter(bodies(request.operation)))}; boundary=frontier",
        line,
        "",
        "",
    ]
    head = "\r\n".join(lines).encode()
    chunks = HUGE_BYTES // 0x10000 if endless else 0
    return exchanged(url, request.operation.method.upper(), head, chunks=chunks)


def authorization(client: httpx.Client, built: httpx.Request) -> str:
    flow = client.auth.sync_auth_flow(built) if client.auth else iter([built])
    return str(next(flow).headers["authorization"])
