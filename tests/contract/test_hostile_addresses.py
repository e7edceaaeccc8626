"""Bad paths, queries and headers, and IDs of other partners, at every operation."""

import json
from dataclasses import replace
from itertools import product
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest

from tests.contract.document import Node, Operation, follow, operations, share_of
from tests.contract.each import each_of, each_operation, each_taking
from tests.contract.valid_requests import JSON, Request, Story
from tests.partner import Business, Partner

# Headers that differ in each answer.
OWN_TO_EACH = ("x-request-id", "date", "ratelimit")
NOT_TEXT = ["%00", "a%00b", "%ED%A0%80", "%FF", "%C0%AF", "a%2Fb", "%2F", ""]
NOT_WHOLE = ["+1", "%2B1", "1.0", "1e0", " 1", "01", "0x1", "1_0", "%D9%A1", "9" * 30, "true", ""]
METHODS = {"GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "TRACE"}


def parameters(operation: Operation, place: str) -> list[Node]:
    return [each for each in operation.parameters if each["in"] == place]


def names(operation: Operation, place: str) -> list[str]:
    return [each["name"] for each in parameters(operation, place)]


def things(operation: Operation) -> list[str]:
    """Return the names in a path except that of the business."""
    return [name for name in names(operation, "path") if name != "business_id"]


each_about_a_thing = each_of(each for each in operations() if things(each))
each_in_a_business = each_of(each for each in operations() if "business_id" in names(each, "path"))
each_with_a_query = each_of(each for each in operations() if names(each, "query"))
each_with_a_header = each_of(each for each in operations() if names(each, "header"))
pytestmark = pytest.mark.usefixtures("nothing_kept")


@pytest.fixture(scope="module")
def foreign(rival: Partner) -> Story:
    return Story.whole(rival)


@pytest.fixture(scope="module")
def sister(acme: Partner) -> Business:
    return acme.business()


def shown(answer: httpx.Response, *ids: str) -> Any:
    """Return an answer without the parts that identify this request."""
    text = answer.text
    for each in (answer.headers["x-request-id"], *ids):
        text = text.replace(each, "-")
    headers = {k: v for k, v in answer.headers.items() if k not in OWN_TO_EACH}
    return answer.status_code, headers, text


def codes_of_404(operation: Operation) -> list[str]:
    answer = follow(operation.node["responses"]["404"])
    examples = answer["content"][JSON]["examples"].values()
    return [follow(each)["value"]["error_code"] for each in examples]


class TestPath:
    @each_in_a_business
    def test_that_is_no_text_leads_nowhere(self, operation: Operation, story: Story) -> None:
        segments = share_of(operation, NOT_TEXT, 4)
        for name, segment in product(names(operation, "path"), segments):
            answer = story.request(operation, **{name: segment}).send()
            assert answer.status_code == 404, (name, segment)
            assert answer.json()["error_code"] == "route_not_found"

    @each_about_a_thing
    def test_with_a_malformed_id_is_400(self, operation: Operation, story: Story) -> None:
        for parameter in parameters(operation, "path"):
            name, is_uuid = parameter["name"], parameter["schema"].get("format") == "uuid"
            if name != "business_id":
                good = story.id_of(operation, name)
                spellings = [f"{{{good}}}", good.replace("-", ""), f"%20{good}", f"{good}%0A", "x"]
                for bad in [*(spellings if is_uuid else ()), "x" * 300]:
                    answer = story.request(operation, **{name: bad}).send()
                    assert answer.status_code == 400, bad
                    assert list(answer.json()["detail"]["field_errors"]) == [name]

    @each_operation
    def test_that_is_longer_or_shorter_leads_nowhere(
        self, operation: Operation, story: Story
    ) -> None:
        request = story.request(operation)
        path = request.path
        for other in (f"{path}nope/x/y/", f"{path}/", f"/{path}", path.removeprefix("/v1")):
            assert request.send(path=other).status_code == 404, other

    @each_operation
    def test_takes_only_its_methods(self, operation: Operation, story: Story) -> None:
        path = story.path(operation)
        taken = {each.method.upper() for each in operations() if each.path == operation.path}
        for method in METHODS - taken:
            answer = story.client(operation).request(method, path)
            assert answer.status_code == 405, method


class TestQuery:
    @each_operation
    def test_that_nobody_knows_is_400(self, operation: Operation, story: Story) -> None:
        request = story.request(operation)
        unknown = ("nope", "access_token", "Page", "page[]", "", "x" * 100, "__proto__", "cursor[]")
        for name in share_of(operation, unknown, 4):
            answer = request.send(path=f"{request.path}?{name}=1")
            assert answer.status_code == 400
            assert answer.json()["detail"]["field_errors"]

    @each_operation
    def test_that_is_no_text_is_400(self, operation: Operation, story: Story) -> None:
        request = story.request(operation)
        not_text = ("a=%00", "a=%FF", "a=%ED%A0%80", "a=%zz", "a=%", "%00=1", "a=1&" * 1100, "%FF")
        for query in share_of(operation, not_text, 4):
            assert request.send(path=f"{request.path}?{query}").status_code == 400, query

    @each_with_a_query
    def test_that_is_repeated_is_400_unless_it_takes_several_values(
        self, operation: Operation, story: Story
    ) -> None:
        for parameter in parameters(operation, "query"):
            name, good = parameter["name"], quote(good_value(parameter))
            request, query = story.request(operation), f"{name}={good}&{name}={good}"
            if follow(parameter["schema"])["type"] == "array":
                assert request.send(path=f"{request.path}?{query}").status_code == 200, query
            else:
                self.refused(request, query, name)

    @each_with_a_query
    def test_of_a_wrong_kind_is_400(self, operation: Operation, story: Story) -> None:
        for parameter in parameters(operation, "query"):
            name = parameter["name"]
            for bad in bad_values(follow(parameter["schema"])):
                self.refused(story.request(operation), f"{name}={bad}", name)

    @each_with_a_query
    def test_of_a_right_kind_is_not_400(self, operation: Operation, story: Story) -> None:
        if operation.method == "get":
            for parameter in parameters(operation, "query"):
                if parameter["name"] not in ("cursor", "period_year", "period_month"):
                    query = f"{parameter['name']}={quote(good_value(parameter))}"
                    request = story.request(operation)
                    assert request.send(path=f"{request.path}?{query}").status_code == 200, query

    def refused(self, request: Request, query: str, name: str) -> None:
        answer = request.send(path=f"{request.path}?{query}")
        assert answer.status_code == 400, query[:200]
        told = next(iter(answer.json()["detail"]["field_errors"]))
        assert told.partition(".")[0] == name


def good_value(parameter: Node) -> str:
    """Return a value that a parameter accepts."""
    schema = follow(parameter["schema"])
    if "example" in parameter:
        example = parameter["example"]
        return ",".join(example) if isinstance(example, list) else str(example)
    schema = follow(schema["items"]) if schema["type"] == "array" else schema
    if "enum" in schema:
        return str(schema["enum"][0])
    return {"boolean": "true", "integer": str(schema.get("minimum", 1))}.get(schema["type"], "abc")


def bad_values(schema: Node) -> list[str]:
    """Return texts that a parameter does not accept."""
    kind = schema["type"]
    if kind == "array":
        item = follow(schema["items"])
        one = item["enum"][0] if "enum" in item else "0197f0c6-3d51-7a8b-b1e2-6c4d8e9f0a03"
        # A free text may begin with a space, other values may not.
        spaced = [] if item.keys() & {"maxLength"} else [f"{one},%20{one}"]
        return [*bad_values(item), f"{one},", ",".join([str(one)] * 101), *spaced]
    if kind == "integer":
        return [*NOT_WHOLE, str(schema["maximum"] + 1), str(schema["minimum"] - 1)]
    if kind == "boolean":
        return ["yes", "1", "0", "True", "TRUE", "", "null"]
    if "enum" in schema:
        return ["nonsense", "", f"{schema['enum'][0]}%20", f"-{schema['enum'][0]}-"]
    formats = {
        "uuid": ["x", "", "0" * 32, "%7B0197f0c6-3d51-7a8b-b1e2-6c4d8e9f0a03%7D"],
        "date": ["yesterday", "2026-02-30", "20260101", "2026-1-1", "2200-01-01", ""],
        "date-time": ["2026-01-01T00:00:00", "2026-02-30T00:00:00Z", "0", "2026-01-01", ""],
        "cursor": ["x", "W10", "AAAA", "%3D%3D", "x" * 513, "a.b", "e30", ""],
    }
    limit = ["x" * (schema["maxLength"] + 1)] if "maxLength" in schema else []
    return [*formats.get(schema.get("format", ""), [""] if schema.get("minLength") else []), *limit]


class TestHeader:
    @each_with_a_header
    def test_of_a_wrong_kind_is_400(self, operation: Operation, story: Story) -> None:
        wrong = {
            "Idempotency-Key": [b"", b"x" * 256, b"caf\xc3\xa9", b"a\tb", b"\xff"],
            "If-Match": [b"x", b'"x"', b"3", b'"1", "2"', b'""', b"W/", b'"' + b"9" * 30 + b'"'],
        }
        for name in names(operation, "header"):
            for value in wrong[name]:
                answer = story.request(operation).send(headers=[(name.encode(), value)])
                assert answer.status_code == 400, value
                assert list(answer.json()["detail"]["field_errors"]) == [name]

    @each_with_a_header
    def test_that_is_repeated_is_400(self, operation: Operation, story: Story) -> None:
        for name, value in (("Idempotency-Key", "a"), ("If-Match", '"1"')):
            if name in names(operation, "header"):
                twice = [(name, value), (name, value)]
                assert story.request(operation).send(headers=twice).status_code == 400

    @each_operation
    def test_that_names_the_request_badly_is_replaced(
        self, operation: Operation, story: Story
    ) -> None:
        request = story.request(operation)
        for bad in share_of(operation, (b"a b", b"x" * 65, b"\xff", b'"', b"<script>"), 5):
            answer = request.send(path=f"{request.path}?nope=1", headers=[(b"x-request-id", bad)])
            assert answer.headers["x-request-id"].encode() != bad


class TestIdOfAnother:
    @each_about_a_thing
    def test_in_the_path_is_404_like_one_that_nothing_has(
        self, operation: Operation, story: Story, foreign: Story
    ) -> None:
        # The examples are in the reverse order of the path.
        for name, code in zip(things(operation), reversed(codes_of_404(operation)), strict=True):
            theirs, nobodys = foreign.id_of(operation, name), str(uuid4())
            answers = [
                shown(story.request(operation, **{name: each}).send(), each)
                for each in (theirs, nobodys)
            ]
            assert answers[0] == answers[1]
            status, _, text = answers[0]
            assert (status, json.loads(text)["error_code"]) == (404, code)

    @each_in_a_business
    def test_of_the_business_is_refused_like_a_malformed_one(
        self, operation: Operation, story: Story, foreign: Story
    ) -> None:
        tried = [foreign.business.id, str(uuid4()), "x", "%20", f"{story.business.id}x"]
        answers = [shown(story.request(operation, business_id=each).send(), each) for each in tried]
        about_it = operation.node["tags"] == ["Businesses"]
        assert [answer[0] for answer in answers] == [404 if about_it else 403] * len(tried)
        assert len({json.dumps(answer) for answer in answers}) == 1

    @each_in_a_business
    def test_of_the_business_is_403_for_the_token_of_another_business(
        self, operation: Operation, story: Story, foreign: Story, sister: Business
    ) -> None:
        answers = []
        for each in (sister.id, foreign.business.id, str(uuid4()), "x"):
            request = story.request(operation, business_id=each)
            address = f"{story.partner.url}{request.path}"
            answer = replace(request, client=story.business.api).send(path=address)
            answers.append(shown(answer, each))
        assert [answer[0] for answer in answers] == [403] * len(answers)
        assert len({json.dumps(answer) for answer in answers}) == 1

    @each_taking(JSON)
    def test_in_the_body_is_422_like_one_that_nothing_has(
        self, operation: Operation, story: Story, foreign: Story
    ) -> None:
        request = story.request(operation)
        theirs = {**foreign.ids, **foreign.accounts}
        ours = {**story.ids, **story.accounts}
        text = json.dumps(request.body)
        for name in [name for name, id_ in ours.items() if id_ in text]:
            answers = [
                shown(request.send(json=json.loads(text.replace(ours[name], each))), each)
                for each in (theirs[name], str(uuid4()))
            ]
            assert answers[0] == answers[1], name
            assert answers[0][0] == 422, name
            assert '"reference_not_found"' in answers[0][2]

    @each_with_a_query
    def test_in_a_filter_finds_nothing_like_one_that_nothing_has(
        self, operation: Operation, story: Story, foreign: Story
    ) -> None:
        request = story.request(operation)
        for parameter in parameters(operation, "query"):
            theirs = foreign.ids.get(parameter["name"])
            if theirs is not None:
                answers = [
                    shown(request.send(path=f"{request.path}?{parameter['name']}={each}"), each)
                    for each in (theirs, str(uuid4()))
                ]
                assert answers[0] == answers[1]
                empty = "\r\n" if operation.name.startswith("export_") else '"results":[]'
                assert answers[0][2].count("\n") <= 1
                assert empty in answers[0][2]
