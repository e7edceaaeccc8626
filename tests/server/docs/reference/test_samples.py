"""The samples: each is executed as a reader would copy it."""

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

from server.docs.reference.calls import FORM, JSON, MULTIPART, Call, read_call
from server.docs.reference.fields import Describer
from server.docs.reference.languages import HOST, curl, python, typescript
from server.docs.reference.operations import METHODS, samples
from tests.server.docs import node
from tests.server.docs.small_contract import DOCUMENT

SECRETS = {name: f"the-{name}" for name in ("BUSINESS_TOKEN", "PARTNER_TOKEN", "API_KEY")}

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
    describer = Describer(contract)
    return {
        item[method]["operationId"]: read_call(path, method, item, describer)
        for path, item in contract["paths"].items()
        for method in METHODS & item.keys()
    }


@pytest.fixture(scope="module")
def variables(calls: dict[str, Call]) -> dict[str, str]:
    """Return the environment of a caller, in which each ID is its own name."""
    parts = {part for call in calls.values() for part in call.path.split("/")}
    names = {part[1:-1].upper() for part in parts if part.startswith("{")}
    return {**SECRETS, "PARTNER_ID": "me", **{name: name for name in names}}


def address(call: Call) -> str:
    """Return the address of a call with these IDs."""
    parts = (part[1:-1].upper() if part[:1] == "{" else part for part in call.path.split("/"))
    return HOST + "/".join(parts)


class TestSamples:
    def test_samples_have_a_call_in_each_language_and_an_answer(self) -> None:
        path = "/v1/things/{thing_id}/"
        item, describer = DOCUMENT["paths"][path], Describer(DOCUMENT)
        shown = list(samples(read_call(path, "post", item, describer), item["post"], describer))
        assert [sample.title for sample in shown] == ["curl", "Python", "TypeScript", "200"]
        assert [sample.shown for sample in shown] == [True, False, False, True]
        assert json.loads(shown[3].code.striptags()) == {"name": "a", "note": None}


class TestCurl:
    def test_each_is_a_command_with_the_body_of_the_contract(self, calls: dict[str, Call]) -> None:
        for name, call in calls.items():
            command, *words = shlex.split(curl(call).replace("\\\n", ""))
            assert command == "curl", name
            assert words[-1].startswith(HOST), name
            if call.media_type == JSON:
                assert json.loads(words[words.index("-d") + 1]) == call.body, name

    def test_quotes_of_the_body_stay_in_it(self, calls: dict[str, Call]) -> None:
        call = replace(calls["create_customer"], body={"name": "Maya's"})
        assert json.dumps(call.body, indent=2) in shlex.split(curl(call))

    def test_a_call_that_may_be_a_form_is_sent_as_json(self, calls: dict[str, Call]) -> None:
        assert calls["update_invoice_payment"].media_type == JSON

    def test_a_file_is_sent_as_a_part(self, calls: dict[str, Call]) -> None:
        sent = curl(calls["create_document"])
        assert "-F file=@file.pdf" in sent
        assert "-F 'linked_type=invoice_refund'" in sent


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
                assert json.loads(asked["body"]) == call.body, name
            elif call.media_type is not None:
                parts = {field for field, _ in asked["body"]}
                assert parts == call.body.keys(), name


def scheme_of(call: Call) -> str:
    """Return the beginning of the header with the credentials."""
    return f"Bearer {SECRETS[call.token]}" if call.token else "Basic "


def fields_sent(call: Call, content: str) -> bool:
    """Return whether every field in the contract was sent."""
    if call.media_type == JSON:
        return bool(json.loads(content) == call.body)
    if call.media_type == FORM:
        return {name: [value] for name, value in call.body.items()} == parse_qs(content)
    if call.media_type == MULTIPART:
        return all(f'name="{name}"' in content for name in call.body)
    return content == ""
