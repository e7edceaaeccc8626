"""The samples: each is executed as a reader would copy it."""

import json
import re
import subprocess
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from uuid import uuid4

import httpx
import pytest
from markupsafe import escape

from server.docs.reference.calls import FORM, JSON, MULTIPART, Call, read_call
from server.docs.reference.fields import Describer
from server.docs.reference.first_calls import TOKEN, exports, first_calls
from server.docs.reference.languages import HOST, MARK, curl, python, typescript, with_marks
from server.docs.reference.operations import METHODS, samples
from server.docs.reference.smallest_bodies import SmallestBodies
from tests.server.docs import node
from tests.server.docs.small_contract import DOCUMENT

README = Path(__file__).parents[4] / "README.md"
SECRETS = {name: f"the-{name}" for name in ("BUSINESS_TOKEN", "TOKEN", "API_KEY")}
# A shell in which `curl` writes its arguments, and what it would read, each with a final NUL.
TOLD = """
curl() {
  printf '%s\\0' "$@"
  case " $* " in *" @- "*) cat; printf '\\0' ;; esac
}
"""

MOST_LINES = 16

# Reads samples; writes the requests of each.
FETCHED = """
const { codes, variables } = JSON.parse(require("fs").readFileSync(0));
Object.assign(process.env, variables);
const AsyncFunction = (async () => {}).constructor;
const quiet = { log() {} };
const openAsBlob = async () => new Blob();
const fetched = codes.map(async (code) => {
  let asked;
  const fetch = async (url, options) => {
    asked = { url, ...options };
    return new Response("{}");
  };
  await new AsyncFunction("fetch", "console", "openAsBlob", code)(fetch, quiet, openAsBlob);
  if (typeof asked.body === "object") asked.body = [...asked.body.entries()];
  return asked;
});
Promise.all(fetched).then((found) => console.log(JSON.stringify(found)));
"""


@pytest.fixture(scope="module")
def calls(contract: dict[str, Any]) -> dict[str, Call]:
    describer, smallest = Describer(contract), SmallestBodies(contract)
    return {
        item[method]["operationId"]: read_call(path, method, item, describer, smallest)
        for path, item in contract["paths"].items()
        for method in METHODS & item.keys()
    }


@pytest.fixture(scope="module")
def variables(calls: dict[str, Call]) -> dict[str, str]:
    """Return the environment of a caller, in which each ID is its own name."""
    parts = {part for call in calls.values() for part in call.path.split("/")}
    names = {part[1:-1].upper() for part in parts if part.startswith("{")}
    names |= {name for call in calls.values() for name in marks_in(call)}
    return {**SECRETS, "PARTNER_ID": "me", **{name: name for name in names}}


def marks_in(call: Call) -> list[str]:
    """Return the names of the variables in the body of a call."""
    return MARK.findall(json.dumps(with_marks(call).body))


def sent_body(call: Call) -> Any:
    """Return the body of a call with these IDs."""
    return json.loads(MARK.sub(r"\1", json.dumps(with_marks(call).body)))


def address(call: Call) -> str:
    """Return the address of a call with these IDs."""
    parts = (part[1:-1].upper() if part[:1] == "{" else part for part in call.path.split("/"))
    return HOST + "/".join(parts)


class TestSamples:
    def test_samples_have_a_call_in_each_language_and_an_answer(self) -> None:
        path = "/v1/things/{thing_id}/"
        item, describer = DOCUMENT["paths"][path], Describer(DOCUMENT)
        call = read_call(path, "post", item, describer, SmallestBodies(DOCUMENT))
        shown = list(samples(call, item["post"], describer))
        titles = ["curl", "Python", "TypeScript", "More fields", "200"]
        assert [sample.title for sample in shown] == titles
        assert [sample.shown for sample in shown] == [True, False, False, False, True]
        assert json.loads(shown[3].code.striptags()) == {"name": "a", "size": 2}
        assert json.loads(shown[4].code.striptags()) == {"name": "a", "note": None}

    def test_each_begins_with_its_address_and_names_variables_of_the_demo_only(
        self, calls: dict[str, Call]
    ) -> None:
        for name, call in calls.items():
            assert HOST in curl(call).splitlines()[0], name
            known = {"TOKEN", "BUSINESS_TOKEN", "PARTNER_ID", "API_KEY", *marks_in(call)}
            known |= {variable.upper() for variable in call.variables}
            assert set(re.findall(r"\$(\w+)", curl(call))) <= known, name
            assert set(re.findall(r"environ\[.(\w+)", python(call))) <= known, name
            assert set(re.findall(r"process\.env\.(\w+)", typescript(call))) <= known, name
        with_own_token = [name for name, call in calls.items() if call.token == "BUSINESS_TOKEN"]
        assert with_own_token == ["cancel_vendor_refund_payment"]

    def test_none_is_long(self, calls: dict[str, Call]) -> None:
        lines = {name: len(curl(call).splitlines()) for name, call in calls.items()}
        assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


class TestFirstCalls:
    def test_readme_shows_what_the_demo_prints(self) -> None:
        _, _, section = README.read_text().partition("\n## First calls\n")
        shown = section.partition("```sh\n")[2].partition("\n```")[0]
        assert shown == first_calls(exports("http://127.0.0.1:8000"))

    def test_a_page_shows_how_to_set_the_variables(self, files: dict[str, str]) -> None:
        page = unescape(files["/docs/operations/create_invoice/"])
        assert f"{exports(HOST)}\n{TOKEN}</code>" in page

    def test_a_guide_shows_it_if_its_samples_use_them(self, files: dict[str, str]) -> None:
        for address, page in files.items():
            if address.startswith("/docs/guides/"):
                text = page.replace(escape(TOKEN), "")
                assert (text != page) == ("$API/" in text), address


class TestCurl:
    def test_each_is_a_command_with_the_smallest_body(
        self, calls: dict[str, Call], variables: dict[str, str]
    ) -> None:
        for name, call in calls.items():
            words = words_of(curl(call), variables)
            assert address(call) in words[:3], name
            assert (words[0] == "-X") == (call.method != ("POST" if call.media_type else "GET"))
            if call.media_type == JSON:
                assert body_in(words) == sent_body(call), name

    @pytest.mark.parametrize(
        "value", ["Maya's", '"a" \\ b', "$TOKEN `id` $(id)", "END", "two\nlines", "cafe\u0301"]
    )
    @pytest.mark.parametrize("more", [{}, {"customer_id": str(uuid4())}])
    def test_a_text_of_the_body_stays_as_it_is(
        self, calls: dict[str, Call], variables: dict[str, str], value: str, more: dict[str, str]
    ) -> None:
        call = replace(calls["create_customer"], body={"name": value, **more})
        assert body_in(words_of(curl(call), variables)) == sent_body(call)

    def test_an_id_in_a_form_is_a_variable(
        self, calls: dict[str, Call], variables: dict[str, str]
    ) -> None:
        body = {"linked_id": str(uuid4()), "memo": 'a "b" $c'}
        words = words_of(curl(replace(calls["create_document"], body=body)), variables)
        assert "memo=" + body["memo"] in words
        assert "linked_id=LINKED_ID" in words_of(
            curl(replace(calls["create_document"], body=body)), {"LINKED_ID": "LINKED_ID"}
        )

    def test_a_call_that_may_be_a_form_is_sent_as_json(self, calls: dict[str, Call]) -> None:
        assert calls["update_invoice_payment"].media_type == JSON

    def test_a_body_that_is_optional_is_left_out(self, calls: dict[str, Call]) -> None:
        assert curl(calls["void_invoice"]).startswith("curl -X POST")
        assert " -d " not in curl(calls["void_invoice"])

    def test_a_file_is_sent_as_a_part(self, calls: dict[str, Call]) -> None:
        assert "-F file=@file.pdf" in curl(calls["create_document"])


class TestPython:
    @pytest.fixture
    def sent(self, monkeypatch: pytest.MonkeyPatch) -> list[httpx.Request]:
        """The requests that httpx would have sent."""
        requests: list[httpx.Request] = []

        def answer(_: Any, request: httpx.Request) -> httpx.Response:
            request.read()
            requests.append(request)
            return httpx.Response(200, json={}, request=request)

        monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
        return requests

    def test_each_sends_what_the_contract_shows(
        self,
        calls: dict[str, Call],
        variables: dict[str, str],
        sent: list[httpx.Request],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        (tmp_path / "file.pdf").write_bytes(b"%PDF")
        monkeypatch.chdir(tmp_path)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        for name, call in calls.items():
            exec(compile(python(call), name, "exec"), {"print": str})
            [request] = sent
            assert (request.method, str(request.url)) == (call.method, address(call)), name
            assert ("idempotency-key" in request.headers) == call.repeatable, name
            assert request.headers["authorization"].startswith(scheme_of(call)), name
            assert fields_sent(call, request.content.decode()), name
            sent.clear()


@node.needs_node
class TestTypeScript:
    def test_each_sends_what_the_contract_shows(
        self, calls: dict[str, Call], variables: dict[str, str]
    ) -> None:
        # Code in a function cannot import.
        codes = [typescript(call).rpartition('from "node:fs";')[2] for call in calls.values()]
        fetched = node.run(FETCHED, {"codes": codes, "variables": variables})
        for (name, call), asked in zip(calls.items(), fetched, strict=True):
            assert (asked["method"], asked["url"]) == (call.method, address(call)), name
            assert ("Idempotency-Key" in asked["headers"]) == call.repeatable, name
            assert asked["headers"]["Authorization"].startswith(scheme_of(call)), name
            if call.media_type == JSON:
                assert json.loads(asked["body"]) == sent_body(call), name
            elif call.media_type is not None:
                parts = {field for field, _ in asked["body"]}
                assert parts == call.body.keys(), name


def words_of(command: str, variables: dict[str, str]) -> list[str]:
    """Return the arguments that a shell gives to curl, and what curl would read."""
    told = subprocess.run(
        ["sh", "-c", TOLD + command], env=variables, capture_output=True, text=True, check=True
    )
    return told.stdout.split("\0")[:-1]


def body_in(words: list[str]) -> Any:
    """Return the JSON of a command, which is an argument or read after all of them."""
    body = words[words.index("-d") + 1]
    return json.loads(words[-1] if body == "@-" else body)


def scheme_of(call: Call) -> str:
    """Return the beginning of the header with the credentials."""
    return f"Bearer {SECRETS[call.token]}" if call.token else "Basic "


def fields_sent(call: Call, content: str) -> bool:
    """Return whether every field in the contract was sent."""
    if call.media_type == JSON:
        return bool(json.loads(content) == sent_body(call))
    if call.media_type == FORM:
        return {name: [value] for name, value in call.body.items()} == parse_qs(content)
    if call.media_type == MULTIPART:
        return all(f'name="{name}"' in content for name in call.body)
    return content == ""
