from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from server.contract.document import (
    Contract,
    ContractError,
    Operation,
    keep_for_requests,
    module_of,
    parse,
    read_source,
)
from server.http.field_errors import FieldWords
from tests.server.http.contract_chain import SMALL_CONTRACT


class TestParse:
    def test_scalars_are_those_of_json(self) -> None:
        document = parse(
            b"no: NO\nyes: yes\non: on\nday: 2025-01-31\nmoment: 2025-01-31T10:00:00Z\nflag: true\n"
            b"nothing: null\nempty:\nhex: 0x1F\noctal: 017\nclock: 12:30:45\nwhole: -5\nhalf: 0.5\n"
            b"thousand: 1_000\ninfinite: .inf\nexponent: 1e3\nquoted: '5'\nmerge: ~\n"
        )
        assert document == {
            "no": "NO",
            "yes": "yes",
            "on": "on",
            "day": "2025-01-31",
            "moment": "2025-01-31T10:00:00Z",
            "flag": True,
            "nothing": None,
            "empty": None,
            "hex": "0x1F",
            "octal": "017",
            "clock": "12:30:45",
            "whole": -5,
            "half": 0.5,
            "thousand": "1_000",
            "infinite": ".inf",
            "exponent": 1000.0,
            "quoted": "5",
            "merge": None,
        }

    def test_a_status_without_quotes_is_a_text_key(self) -> None:
        assert parse(b"responses: {200: a, '404': b}") == {"responses": {"200": "a", "404": "b"}}

    def test_a_mapping_takes_in_another_and_what_stands_beside_it_wins(self) -> None:
        source = b"a: &x {b: 1, c: 2}\nd: &y {c: 3, <<: *x}\ne: [*x, {<<: *y, f: 4}]"
        assert parse(source) == {
            "a": {"b": 1, "c": 2},
            "d": {"b": 1, "c": 3},
            "e": [{"b": 1, "c": 2}, {"b": 1, "c": 3, "f": 4}],
        }

    def test_templates_stay_text(self) -> None:
        assert parse(b"a: '{{ 7*7 }}'") == {"a": "{{ 7*7 }}"}

    @pytest.mark.parametrize(
        "source",
        [
            b"a: 1\na: 2",
            b"a: {b: 1, b: 2}",
            b"a: {<<: 1}",
            b"a: {<<: [{b: 1}]}",
            b"true: 1",
            b"- 1",
        ],
    )
    def test_ambiguous_yaml_is_refused(self, source: bytes) -> None:
        with pytest.raises(ContractError):
            parse(source)


class TestKeepForRequests:
    def test_examples_answers_and_their_schemas_go(self) -> None:
        named = {
            "type": "object",
            "properties": {"examples": {"$ref": "#/components/schemas/Held"}},
        }
        body = {"schema": {"$ref": "#/components/schemas/Named"}, "examples": {"one": {}}}
        media = {"text/csv": {"schema": {"$ref": "#/components/schemas/Answered"}}}
        answer = {"description": "Fine.", "content": media, "headers": {}}
        post = {
            "parameters": [{"name": "example", "in": "query", "schema": {}, "examples": {}}],
            "requestBody": {"content": {"application/json": body}},
            "responses": {"200": answer},
        }
        document = {
            "paths": {"/things/": {"summary": "Some responses", "post": post}},
            "components": {
                "schemas": {"Named": named, "Held": {"type": "string"}, "Answered": {}},
                "examples": {"One": {"value": {}}},
            },
        }
        keep_for_requests(document)
        assert document["components"] == {"schemas": {"Named": named, "Held": {"type": "string"}}}
        assert set(named["properties"]) == {"examples"}
        assert body == {"schema": {"$ref": "#/components/schemas/Named"}}
        assert post["parameters"] == [{"name": "example", "in": "query", "schema": {}}]
        assert answer == {"description": "Fine.", "content": {"text/csv": {}}, "headers": {}}

    def test_the_kept_part_compiles_to_the_same_operations(self) -> None:
        whole, kept = parse(read_source()), parse(read_source())
        keep_for_requests(kept)
        assert len(kept["components"]["schemas"]) < len(whole["components"]["schemas"])
        for one, other in zip(
            Contract(whole).operations.values(), Contract(kept).operations.values(), strict=True
        ):
            assert of_requests(one) == of_requests(other)

    def test_the_kept_part_describes_patterns_in_the_same_words(self) -> None:
        whole, kept = parse(read_source()), parse(read_source())
        keep_for_requests(kept)
        words, kept_words = (FieldWords(each)._patterns for each in (whole, kept))
        text = str(kept["components"]) + str(kept["paths"])
        assert kept_words == {
            pattern: word for pattern, word in words.items() if repr(pattern) in text
        }


def of_requests(operation: Operation) -> Operation:
    """Return an operation with only the parts that check its requests."""
    return replace(operation, document={})


class TestContract:
    def contract(self, *changes: tuple[str, str]) -> Contract:
        text = SMALL_CONTRACT
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        return Contract(parse(text.encode()))

    def test_an_operation_knows_its_module_path_parameters_and_bodies(self) -> None:
        operation = self.contract().operations["create_draft"]
        assert operation.module == "order_drafts"
        assert (operation.method, operation.path) == ("POST", "/shops/{shop_id}/orders/drafts/")
        assert [(parameter.name, parameter.place) for parameter in operation.parameters] == [
            ("shop_id", "path")
        ]
        assert list(operation.bodies) == ["application/json"]
        assert not operation.body_required

    def test_schemas_keep_their_references(self) -> None:
        operation = self.contract().operations["create_order"]
        assert operation.bodies["application/json"] == {"$ref": "#/components/schemas/OrderCreate"}

    def test_an_operation_knows_whether_its_answer_has_an_etag(self) -> None:
        operations = self.contract().operations
        assert operations["create_order"].has_etag
        assert not operations["get_order"].has_etag

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("operationId: get_order", "operationId: list_orders"),
            ("operationId: get_order", "summary: nameless"),
            ("tags: [Order drafts]", "tags: [Order drafts, Orders]"),
            ("#/components/parameters/ShopId'", "#/components/parameters/Nobody'"),
            ("#/components/parameters/ShopId'", "shops.yaml#/ShopId'"),
            ("{name: open, in: query, schema: {type: boolean}}", "{name: open, in: query}"),
            (
                "{name: open, in: query, schema: {type: boolean}}",
                "{name: o, in: query, schema: {}}",
            ),
            ("{name: open, in: query, schema", "{name: open, in: cookie, schema"),
            ("{name: open, in: query, schema", "{name: o, in: query, style: deepObject, schema"),
        ],
    )
    def test_a_contract_that_cannot_be_served_is_refused(self, old: str, new: str) -> None:
        with pytest.raises(ContractError):
            self.contract((old, new))

    def test_a_tag_names_a_module(self) -> None:
        assert module_of("Chart of accounts") == "chart_of_accounts"

    def test_the_house_s_contract_is_found_beside_its_package(self) -> None:
        contract = Contract.load()
        assert contract.operations["issue_partner_token"].module == "access"
        assert not any(isinstance(value, date) for value in contract.document["info"].values())
        assert Path(__file__).parents[3].joinpath("openapi/accounting.yaml").read_bytes() == (
            read_source()
        )
