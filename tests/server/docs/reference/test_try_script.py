"""The requests that the pages send when a developer tries an operation."""

import json
from html import unescape
from typing import Any

import pytest

from server.docs.reference import ROOT
from server.docs.reference.site import static
from tests.server.docs import node

# Reads calls of a function by its name and arguments; writes the result of each.
ASK = """
const partsOf = (type, fields) => [
  ...bodyOf(type, fields.map(([name, value]) => ({ name, value }))),
];
const calls = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(calls.map(([name, ...given]) => eval(name)(...given) ?? null)));
"""
GIVEN = "#partner_id=p&api_key=k&business_id=b"


def returned(*calls: list[Any]) -> Any:
    return node.run(static("try.js") + ASK, calls)


@node.needs_node
class TestTrying:
    def test_credentials_are_taken_on_a_developers_own_machine_only(self) -> None:
        hosts = ["127.0.0.1", "localhost", "api.example.com"]
        found = returned(*(["credentialsIn", GIVEN, host] for host in hosts))
        taken = {"partner_id": "p", "api_key": "k", "business_id": "b"}
        assert found == [taken, taken, None]

    def test_an_anchor_is_no_credential(self) -> None:
        assert returned(["credentialsIn", "#content", "localhost"]) == [None]

    def test_a_request_is_what_was_filled_in(self) -> None:
        operation = {"method": "PATCH", "path": "/things/{thing_id}/", "repeatable": True}
        given = {"variables": {"thing_id": "a/b"}, "query": "preview=true", "body": "{}"}
        [[address, options]] = returned(["requestOf", operation, given, "Basic abc"])
        assert address == "/things/a%2Fb/?preview=true"
        assert (options["method"], options["body"]) == ("PATCH", "{}")
        headers = options["headers"]
        assert len(headers.pop("Idempotency-Key")) == 36
        assert headers == {"Authorization": "Basic abc", "Content-Type": "application/json"}

    def test_a_read_sends_no_more_than_it_must(self) -> None:
        operation = {"method": "GET", "path": "/things/", "repeatable": False}
        [[address, options]] = returned(
            ["requestOf", operation, {"variables": {}, "query": ""}, "Basic abc"]
        )
        assert (address, options["headers"]) == ("/things/", {"Authorization": "Basic abc"})

    @pytest.mark.parametrize(
        "media_type", ["multipart/form-data", "application/x-www-form-urlencoded"]
    )
    def test_a_form_is_sent_without_what_is_empty(self, media_type: str) -> None:
        fields = [["tags", "a"], ["tags", "b"], ["memo", ""]]
        [sent] = returned(["partsOf", media_type, fields])
        assert sent == [["tags", "a"], ["tags", "b"]]

    def test_a_json_body_is_sent_as_it_was_written(self) -> None:
        assert returned(["bodyOf", "application/json", [{"value": "{} "}]]) == ["{} "]


class TestForm:
    def test_the_form_has_the_path_variables_and_the_smallest_body(
        self, files: dict[str, str]
    ) -> None:
        page = files[f"{ROOT}operations/create_invoice/"]
        assert '<input class="path" name="business_id"' in page
        shown = page.partition("<textarea")[2].partition("</textarea>")[0].partition(">")[2]
        assert json.loads(unescape(shown)).keys() == {"customer_external_id", "line_items"}

    def test_a_form_has_its_fields_and_a_file_is_chosen(self, files: dict[str, str]) -> None:
        page = files[f"{ROOT}operations/import_bank_transactions/"]
        assert page.count("<option>") == page.count("<fieldset") == 2
        form = page.partition('<fieldset data-media-type="multipart/form-data" hidden>')[2]
        assert '<input name="format" value=""' in form
        assert '<input name="file" type="file" accept="text/csv, ' in form
        assert "Date,Amount" in form
        token = files[f"{ROOT}operations/issue_partner_token/"]
        assert '<input name="grant_type" value="client_credentials"' in token
