import base64
import hashlib
import json
import re
from copy import deepcopy
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import orjson
import pytest

from server.contract import parse, read_source
from server.docs import Documentation, publish
from server.edge import Edge
from server.https import HttpsRule
from server.reference.codes import error_codes
from server.reference.fields import Describer, facts
from server.reference.page import policy, render
from server.reference.samples import samples
from server.reference.text import Writer, json_markup, slug
from tests.server.driver import request

DOCUMENT: dict[str, Any] = {
    "info": {
        "title": "Test API",
        "version": "1.2.3",
        "description": "Hello.\n\n## One thing\n\nX.",
    },
    "tags": [{"name": "Things", "description": "What there is."}],
    "paths": {
        "/v1/things/{thing_id}/": {
            "parameters": [{"$ref": "#/components/parameters/ThingId"}],
            "post": {
                "tags": ["Things"],
                "operationId": "change_thing",
                "summary": "Change a thing",
                "description": "Not 409 `thing_is_stuck`, `thing_is_old`; 422 `thing_is_odd`.",
                "security": [{"BusinessToken": []}, {"PartnerKey": []}],
                "parameters": [
                    {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}
                ],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {"$ref": "#/components/schemas/ThingCreate"},
                            "examples": {"one": {"value": {"name": "a", "size": 2}}},
                        }
                    },
                },
                "responses": {
                    "200": {
                        "description": "Changed.",
                        "content": {
                            "application/json": {
                                "schema": {"$ref": "#/components/schemas/Thing"},
                                "example": {"name": "a", "note": None},
                            }
                        },
                    },
                    "404": {"description": "No thing: `thing_not_found`."},
                },
            },
        }
    },
    "components": {
        "parameters": {
            "ThingId": {
                "name": "thing_id",
                "in": "path",
                "required": True,
                "description": "Which one.",
                "schema": {"type": "string", "format": "uuid"},
            }
        },
        "schemas": {
            "Base": {
                "type": "object",
                "required": ["id"],
                "properties": {"id": {"type": "string", "format": "uuid"}},
            },
            "Thing": {
                "description": "A thing.",
                "allOf": [
                    {"$ref": "#/components/schemas/Base"},
                    {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string", "nullable": True},
                            "parts": {
                                "type": "array",
                                "maxItems": 500,
                                "items": {"$ref": "#/components/schemas/Thing"},
                            },
                        },
                    },
                ],
            },
            "ThingCreate": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "minLength": 1, "maxLength": 255},
                    "size": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 2},
                    "colour": {"allOf": [{"$ref": "#/components/schemas/Colour"}]},
                    "deep": {"type": "object", "properties": {"x": {"type": "boolean"}}},
                    "any": {"description": "Whatever."},
                },
            },
            "Colour": {"type": "string", "enum": ["red", "blue"]},
            "ErrorCode": {
                "type": "string",
                "enum": ["thing_is_stuck", "thing_is_old", "thing_is_odd", "thing_not_found"],
            },
        },
    },
}
SOURCE = orjson.dumps(DOCUMENT)


class Elements(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def values(self, name: str) -> list[str]:
        return [value for _, attributes in self.found if (value := attributes.get(name))]


@pytest.fixture(scope="module")
def contract() -> dict[str, Any]:
    return parse(read_source())


@pytest.fixture(scope="module")
def page(contract: dict[str, Any]) -> str:
    return render(contract)


class TestPage:
    def test_nothing_is_loaded_from_anywhere(self, page: str) -> None:
        elements = Elements(page)
        loading = {"link", "img", "iframe", "object", "embed", "audio", "video", "base", "form"}
        assert not {tag for tag, _ in elements.found} & loading
        assert not elements.values("src")
        assert not elements.values("style")
        assert not [name for _, found in elements.found for name in found if name.startswith("on")]
        assert "@import" not in page
        assert "url(" not in page

    def test_its_links_lead_to_places_within_it_or_to_the_contract(self, page: str) -> None:
        elements = Elements(page)
        anchors = {f"#{anchor}" for anchor in elements.values("id")}
        links = set(elements.values("href"))
        assert links - anchors == {"../openapi.yaml", "../openapi.json"}

    def test_every_anchor_is_given_once(self, page: str) -> None:
        anchors = Elements(page).values("id")
        assert len(anchors) == len(set(anchors))

    def test_every_operation_and_schema_has_its_place(
        self, page: str, contract: dict[str, Any]
    ) -> None:
        anchors = set(Elements(page).values("id"))
        operations = {
            operation["operationId"]
            for item in contract["paths"].values()
            for operation in item.values()
            if "operationId" in operation
        }
        assert operations
        assert operations <= anchors
        assert {f"schema-{name}" for name in contract["components"]["schemas"]} <= anchors

    def test_its_policy_names_its_style_and_its_script_and_nothing_else(self, page: str) -> None:
        for tag, directive in (("style", "style-src"), ("script", "script-src")):
            (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"{directive} 'sha256-{digest}';" in policy()
        assert policy().startswith("default-src 'none';")
        assert policy() in [
            value.replace("&#39;", "'") for value in Elements(page).values("content")
        ]

    def test_hostile_words_stay_words(self) -> None:
        hostile = '"><script>alert(1)</script>'
        document = deepcopy(DOCUMENT)
        document["info"]["title"] = hostile
        document["info"]["description"] = f"{hostile} [a](javascript:alert(1)) ![b](http://c/d)"
        thing = document["components"]["schemas"]["ThingCreate"]
        thing["properties"][hostile] = {"type": "string", "description": hostile, "enum": [hostile]}
        operation = document["paths"]["/v1/things/{thing_id}/"]["post"]
        operation["summary"] = operation["description"] = hostile
        content = operation["requestBody"]["content"]["application/json"]
        content["examples"] = {hostile: {"value": {hostile: hostile}}, "b": {"value": 1}}
        elements = Elements(render(document))
        assert [tag for tag, _ in elements.found].count("script") == 1
        assert not elements.values("src")
        assert not [link for link in elements.values("href") if "javascript" in link]


class TestFields:
    @pytest.fixture
    def fields(self) -> dict[str, Any]:
        describer = Describer(DOCUMENT)
        entries = describer.fields({"$ref": "#/components/schemas/ThingCreate"})
        return {entry.name: entry for entry in entries}

    def test_limits_are_told_in_words(self, fields: dict[str, Any]) -> None:
        assert fields["name"].facts == ("1 to 255 characters",)
        assert fields["size"].facts == ("1 to 99,999", "default `2`")

    def test_what_must_be_sent_is_marked(self, fields: dict[str, Any]) -> None:
        assert [name for name, field in fields.items() if field.required] == ["name"]

    def test_a_named_schema_is_linked_and_its_choices_shown(self, fields: dict[str, Any]) -> None:
        colour = fields["colour"]
        assert (colour.kind, colour.link, colour.choices) == ("string", "Colour", ("red", "blue"))

    def test_an_object_without_a_name_is_told_in_place(self, fields: dict[str, Any]) -> None:
        assert [inner.name for inner in fields["deep"].inner] == ["x"]

    def test_a_schema_without_a_type_takes_anything(self, fields: dict[str, Any]) -> None:
        assert fields["any"].kind == "any JSON"

    @pytest.mark.parametrize(
        ("schema", "words"),
        [
            ({"minimum": 1900, "maximum": 9999}, ["1900 to 9999"]),
            ({"minimum": 0, "exclusiveMinimum": True, "maximum": 9}, ["more than 0", "at most 9"]),
            ({"minimum": -(2**53) + 1, "maximum": 2**53 - 1}, []),
            (
                {"minLength": 2, "maxLength": 2, "pattern": "^[A-Z]+$"},
                ["2 characters", "matches `^[A-Z]+$`"],
            ),
            ({"minLength": 1, "maxLength": 1, "pattern": r"^[^\u0000]*$"}, ["1 character"]),
            ({"pattern": "^x$", "x-pattern-message": "must be x"}, ["must be x"]),
            ({"default": False}, ["default `false`"]),
        ],
    )
    def test_facts_are_few_words(self, schema: dict[str, Any], words: list[str]) -> None:
        assert list(facts(schema)) == words

    def test_alternatives_are_named_by_their_kinds(self) -> None:
        schema = {"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "string"}]}
        field = Describer(DOCUMENT).field("quantity", schema, required=False)
        assert (field.kind, field.inner) == ("number or string", ())

    def test_parts_are_merged_and_a_schema_may_hold_itself(self) -> None:
        entries = Describer(DOCUMENT).fields({"$ref": "#/components/schemas/Thing"})
        assert [(entry.name, entry.kind, entry.link, entry.facts) for entry in entries] == [
            ("id", "uuid", None, ()),
            ("name", "string", None, ("or null",)),
            ("parts", "array of object", "Thing", ("not always there", "up to 500 items")),
        ]


class TestSamples:
    def test_there_is_a_command_a_request_and_an_answer(self) -> None:
        path = "/v1/things/{thing_id}/"
        operation = DOCUMENT["paths"][path]["post"]
        shown = list(samples(path, "post", operation, Describer(DOCUMENT)))
        assert [sample.title for sample in shown] == ["curl", "Request", "200"]
        command = shown[0].code.unescape()
        assert command.startswith("curl -X POST")
        assert '-H "Authorization: Bearer $BUSINESS_TOKEN"' in command
        assert '-H "Idempotency-Key: $(uuidgen)"' in command
        assert command.endswith('"https://api.accounting.example/v1/things/$THING_ID/"')
        assert json.loads(shown[1].code.striptags()) == {"name": "a", "size": 2}

    def test_what_may_be_a_form_is_sent_as_json(self, contract: dict[str, Any]) -> None:
        path = "/v1/platform/businesses/{business_id}/invoices/payments/{payment_id}/"
        operation = contract["paths"][path]["patch"]
        sent = next(samples(path, "patch", operation, Describer(contract))).code.unescape()
        assert "-d @request.json" in sent

    def test_a_file_is_sent_as_a_part(self, contract: dict[str, Any]) -> None:
        path = "/v1/platform/businesses/{business_id}/documents/"
        operation = contract["paths"][path]["post"]
        sent = next(samples(path, "post", operation, Describer(contract))).code.unescape()
        assert "-F file=@file.pdf" in sent
        assert "-F 'linked_type=invoice_refund'" in sent


class TestErrorCodes:
    def test_each_has_the_status_that_stands_before_it(self) -> None:
        codes = error_codes(DOCUMENT, Describer(DOCUMENT))
        assert [(code.code, code.statuses) for code in codes] == [
            ("thing_not_found", ("404",)),
            ("thing_is_stuck", ("409",)),
            ("thing_is_old", ("409",)),
            ("thing_is_odd", ("422",)),
        ]

    def test_every_code_of_the_contract_has_a_status(self, contract: dict[str, Any]) -> None:
        codes = error_codes(contract, Describer(contract))
        assert {code.code for code in codes if not code.statuses} == set()


class TestText:
    def test_json_is_marked_and_reads_as_before(self) -> None:
        text = '{"a<b": [1, -2.5e3, "x\\"y", true, null]}'
        marked = json_markup(text)
        assert marked.striptags() == text
        assert marked.count("<i class=") == 6

    def test_headings_of_the_guide_are_listed(self) -> None:
        html, headings = Writer().guide("## Repeating safely\n\nText.\n\n### Not listed\n")
        assert [heading.anchor for heading in headings] == ["guide-repeating-safely"]
        assert '<h2 id="guide-repeating-safely">' in html

    def test_an_anchor_has_only_plain_characters(self) -> None:
        assert slug("  Größe & Form! ") == "gr-e-form"


class TestDocumentation:
    @pytest.fixture
    def application(self) -> Edge:
        pages = Documentation(SOURCE).pages()
        return Edge(pytest.fail, https=HttpsRule(), pages=pages)

    def test_the_reference_has_its_own_policy(self, application: Edge) -> None:
        reply = request(application, "GET", "/docs")
        assert (reply.status, reply.header("content-type")) == (200, "text/html; charset=utf-8")
        assert reply.header("content-security-policy") == f"{policy()}; frame-ancestors 'none'"
        assert int(reply.header("content-length") or 0) == len(reply.body)
        assert b"Change a thing" in reply.body

    def test_the_contract_is_served_as_it_was_written(self, application: Edge) -> None:
        reply = request(application, "GET", "/openapi.yaml")
        assert (reply.header("content-type"), reply.body) == ("application/yaml", SOURCE)

    def test_the_contract_is_served_as_json(self, application: Edge) -> None:
        assert request(application, "GET", "/openapi.json").json() == DOCUMENT

    def test_they_are_read_only(self, application: Edge) -> None:
        assert request(application, "DELETE", "/docs/").status == 405


class TestPublish:
    def test_the_page_links_to_the_files_beside_it(self, tmp_path: Path) -> None:
        publish(tmp_path / "docs")
        page = (tmp_path / "docs" / "index.html").read_text(encoding="utf-8")
        linked = re.findall(r'href="([^#"][^"]*)"', page)
        assert linked == ["openapi.yaml", "openapi.json"]
        assert all((tmp_path / "docs" / each).is_file() for each in linked)
