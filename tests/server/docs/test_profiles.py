from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from server.contract.document import parse, read_source
from server.contract.published import published
from server.contract.yaml_text import as_yaml
from server.docs.own_examples import with_own_examples
from server.docs.profiles import (
    PROFILES,
    as_3_1,
    for_generators,
    for_mocks,
    for_receivers,
    write,
)
from tests.contract.document import operations

BODY = {"content": {"application/json": {"schema": {}}, "multipart/form-data": {"schema": {}}}}
SCHEMAS = {
    "Share": {
        "type": "number",
        "nullable": True,
        "minimum": 0,
        "exclusiveMinimum": True,
        "maximum": 1,
        "exclusiveMaximum": False,
    },
    "Kind": {"type": "string", "nullable": True, "enum": ["a", "b"], "example": {"nullable": True}},
    "Exact": {"anyOf": [{"type": "string", "format": "decimal"}, {"type": "number"}]},
    "File": {"type": "string", "format": "binary"},
}


def document() -> dict[str, Any]:
    paths = {"/things/": {"post": {"requestBody": BODY}, "get": {}, "parameters": []}}
    return {"openapi": "3.0.3", "paths": paths, "components": {"schemas": SCHEMAS}}


def kept(node: Any) -> list[str]:
    """Return the keywords of OpenAPI 3.0 that 3.1 no longer has, outside of examples."""
    if isinstance(node, list):
        return [word for item in node for word in kept(item)]
    if not isinstance(node, dict):
        return []
    found = [] if node.get("nullable") is None else ["nullable"]
    found += [name for name in ("exclusiveMinimum", "exclusiveMaximum") if node.get(name) is True]
    return found + [w for k, v in node.items() if not k.startswith("example") for w in kept(v)]


class TestForGenerators:
    def test_each_body_has_its_first_type_and_exact_text_is_text(self) -> None:
        changed = for_generators(document())
        content = changed["paths"]["/things/"]["post"]["requestBody"]["content"]
        assert content == {"application/json": {"schema": {}}}
        exact = changed["components"]["schemas"]["Exact"]
        assert exact == {"anyOf": [{"type": "string"}, {"type": "number"}]}

    def test_any_json_in_a_form_is_text(self) -> None:
        told = parse(published(read_source()))
        form = for_generators(told)["components"]["schemas"]["DocumentForm"]["properties"]
        assert form["metadata"]["type"] == "string"
        assert form["metadata"]["description"].startswith("JSON text. Any JSON value")
        source = told["components"]["schemas"]["DocumentForm"]["properties"]
        assert source["metadata"] == {"$ref": "#/components/schemas/AnyJson"}
        changed = {name for name in form if form[name] != source[name]}
        assert changed == {"metadata"}

    def test_a_pdf_is_bytes(self) -> None:
        paper = {"description": "", "content": {"application/pdf": {"schema": {}}}}
        told = {**document(), "paths": {"/paper/": {"get": {"responses": {"200": paper}}}}}
        answer = for_generators(told)["paths"]["/paper/"]["get"]["responses"]["200"]
        assert answer["content"] == {"application/octet-stream": {"schema": {}}}


class TestAs31:
    def test_null_is_a_type_and_exclusive_bounds_are_numbers(self) -> None:
        changed = as_3_1(document())
        assert changed["openapi"] == "3.1.1"
        schemas = changed["components"]["schemas"]
        assert schemas["Share"] == {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1}
        assert schemas["Kind"] == {
            "type": ["string", "null"],
            "enum": ["a", "b", None],
            "example": {"nullable": True},
        }
        assert schemas["File"] == {
            "type": "string",
            "contentMediaType": "application/octet-stream",
        }

    def test_webhooks_are_no_extension(self) -> None:
        told = parse(published(read_source()))
        changed = as_3_1(told)
        assert changed["webhooks"].keys() == told["x-webhooks"].keys()
        assert "x-webhooks" not in changed


@pytest.fixture(scope="module")
def receivers() -> dict[str, Any]:
    return for_receivers(parse(published(read_source())))


class TestForReceivers:
    def test_it_has_the_webhooks_and_what_they_refer_to(self, receivers: dict[str, Any]) -> None:
        assert receivers["openapi"] == "3.1.1"
        assert receivers["paths"] == {}
        assert {"event", "ping"} <= receivers["webhooks"].keys()
        schemas = receivers["components"]["schemas"]
        assert {"WebhookMessage", "WebhookPing", "Event", "EventType", "EventObject"} <= {*schemas}
        assert "Invoice" not in schemas
        assert kept(receivers) == []
        validate(receivers)

    def test_each_request_has_the_signed_headers(self, receivers: dict[str, Any]) -> None:
        for webhook in receivers["webhooks"].values():
            sent = [each["name"] for each in webhook["post"]["parameters"]]
            assert sent == ["webhook-id", "webhook-timestamp", "webhook-signature"]

    def test_a_contract_without_webhooks_has_none(self) -> None:
        changed = for_receivers({**document(), "info": {"title": "A"}})
        assert (changed["webhooks"], changed["components"]) == ({}, {})

    def test_each_example_fits_its_schema(self, receivers: dict[str, Any]) -> None:
        for webhook in receivers["webhooks"].values():
            [content] = webhook["post"]["requestBody"]["content"].values()
            schema = {**content["schema"], "components": receivers["components"]}
            for example in content["examples"].values():
                name = example["$ref"].rpartition("/")[2]
                value = receivers["components"]["examples"][name]["value"]
                Draft202012Validator(schema).validate(value)


@pytest.fixture(scope="module")
def mocked() -> dict[str, Any]:
    return for_mocks(with_own_examples(parse(read_source())))


class TestForMocks:
    @pytest.fixture
    def answers(self, mocked: dict[str, Any]) -> dict[str, Any]:
        """The answers of create_invoice."""
        invoices = mocked["paths"]["/v1/platform/businesses/{business_id}/invoices/"]
        answers: dict[str, Any] = invoices["post"]["responses"]
        return answers

    def test_the_answer_201_comes_before_2xx(self, answers: dict[str, Any]) -> None:
        assert list(answers)[:3] == ["201", "2XX", "400"]

    def test_refusals_of_422_are_found_where_nothing_not_valid_is(
        self, answers: dict[str, Any]
    ) -> None:
        assert "422" not in answers
        shown = list(answers["default"]["content"]["application/json"]["examples"])
        assert "allocation_exceeds_outstanding" in shown
        assert shown[-1] == "service_unavailable"

    def test_headers_of_some_cases_do_not_come_with_each(self, answers: dict[str, Any]) -> None:
        assert list(answers["201"]["headers"]) == ["X-Request-ID", "ETag", "Location"]
        assert list(answers["409"]["headers"]) == ["X-Request-ID"]

    def test_a_form_with_a_file_is_taken_as_it_comes(self, mocked: dict[str, Any]) -> None:
        assert mocked["components"]["schemas"]["DocumentForm"] == {"type": "object"}


class TestAsYaml:
    @pytest.mark.parametrize("text", ["09876543", "0123", "1e3", "+44", ".5", "12", "1.5"])
    def test_a_text_that_looks_like_a_number_is_quoted(self, text: str) -> None:
        assert as_yaml({"text": text}) == f"text: '{text}'\n"

    def test_unambiguous_texts_have_no_quotes(self) -> None:
        assert (
            as_yaml({"text": "3.0.3", "id": "0197f0c4-8a20"}) == "text: 3.0.3\nid: 0197f0c4-8a20\n"
        )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("profiles")
    write(folder)
    return folder


class TestWrite:
    def test_each_form_lies_beside_the_contract_as_it_is_published(self, written: Path) -> None:
        assert (written / "accounting.yaml").read_bytes() == published(read_source())
        assert {each.name for each in written.iterdir()} == {
            "accounting.yaml",
            *(f"accounting.{name}.yaml" for name in PROFILES),
        }

    @pytest.mark.parametrize("name", sorted(PROFILES.keys() - {"events"}))
    def test_each_form_is_valid_and_has_every_operation(self, name: str, written: Path) -> None:
        text = (written / f"accounting.{name}.yaml").read_bytes()
        derived = yaml.load(text, yaml.CSafeLoader)
        validate(derived)
        assert b"&id0" not in text
        assert derived["paths"].keys() == {each.path for each in operations()}
        create = derived["paths"]["/v1/platform/businesses/{business_id}/invoices/"]["post"]
        refused = create["responses"]["400"]["content"]["application/json"]["examples"]
        told = refused["validation_error"]["value"]["message"]
        assert told == "customer_id or customer_external_id is required."
        assert name != "3.1" or kept(derived) == []
