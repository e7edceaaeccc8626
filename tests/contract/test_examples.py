"""The examples of the contract are valid answers and requests."""

import re
from typing import Any

import pytest
from openapi_schema_validator import OAS30Validator, oas30_format_checker

from server.contract.document import Contract
from server.http.schemas import SchemaCompiler
from tests.contract.document import document, follow, media_types, named, operations, walk
from tests.contract.valid_requests import JSON, UNIQUE, Story
from tests.in_turn import in_turn
from tests.partner import Partner

# Operations that can begin a story, in this order, and the record that later ones use.
MADE_IN_ORDER = {
    "create_business": None,
    "create_customer": "customer_id",
    "create_invoice": "invoice_id",
    "create_customer_credit": None,
    "create_vendor": "vendor_id",
    "create_bill": "bill_id",
    "create_vendor_credit": None,
    "create_account": None,
    "create_bank_account": None,
    "create_journal_entry": None,
}
# Fields that differ in each run, depend on today, or are signed for each answer.
OWN_TO_EACH = {*UNIQUE, "status", "is_overdue", "url"}
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def examples() -> list[Any]:
    return [
        pytest.param(media["schema"], follow(example)["value"], id=f"{place}/{name}")
        for place, media in media_types()
        for name, example in media["examples"].items()
    ]


def known_fields(schema: dict[str, Any]) -> dict[str, Any]:
    schema = follow(schema)
    found = dict(schema.get("properties", {}))
    for part in schema.get("allOf", []):
        found |= known_fields(part)
    return found


def unknown_fields(schema: dict[str, Any], value: Any, at: str = "") -> list[str]:
    """Return the fields of an example that its schema does not have."""
    schema, fields = follow(schema), known_fields(schema)
    if isinstance(value, list):
        inner = schema.get("items", {})
        return [each for item in value for each in unknown_fields(inner, item, f"{at}.0")]
    if not isinstance(value, dict) or not fields or schema.get("additionalProperties"):
        return []
    found = [f"{at}.{name}" for name in value if name not in fields]
    for name in value.keys() & fields.keys():
        found += unknown_fields(fields[name], value[name], f"{at}.{name}")
    return found


def comparable(value: Any) -> Any:
    """Return an answer without IDs, days and the numbers in its texts."""
    if isinstance(value, dict):
        return {name: comparable(each) for name, each in value.items() if name not in OWN_TO_EACH}
    if isinstance(value, list):
        return [comparable(each) for each in value]
    if not isinstance(value, str):
        return value
    return re.sub(r"\d+", "1", re.sub(r"\.(?!0{6})\d{6}Z$", "Z", UUID.sub("id", value)))


@pytest.fixture(scope="module")
def made(acme: Partner) -> dict[str, Any]:
    """Return the answer of each operation to the first example of its body."""
    story, answers = Story.begin(acme), {}
    for name, thing in MADE_IN_ORDER.items():
        answers[name] = story.request(named(name)).send().json()
        if thing:
            story.ids[thing] = answers[name]["id"]
    return answers


@pytest.fixture(scope="module")
def compiler() -> SchemaCompiler:
    return SchemaCompiler(Contract.load())


class TestExample:
    @in_turn(("schema", "value"), examples())
    def test_fits_its_schema(
        self, schema: dict[str, Any], value: Any, compiler: SchemaCompiler
    ) -> None:
        independent = OAS30Validator(
            {"allOf": [schema], "components": document()["components"]},
            format_checker=oas30_format_checker,
        )
        assert [error.message for error in independent.iter_errors(value)] == []
        assert [error.message for error in compiler.validator(schema).iter_errors(value)] == []

    @in_turn(("schema", "value"), examples())
    def test_has_no_field_that_the_schema_does_not_know(
        self, schema: dict[str, Any], value: Any
    ) -> None:
        assert unknown_fields(schema, value) == []

    @in_turn(
        ("schema", "value"),
        [
            each
            for each in examples()
            if "/responses/" in str(each.id) and isinstance(each.values[1], dict)
        ],
    )
    def test_of_an_answer_shows_every_field_that_is_always_there(
        self, schema: dict[str, Any], value: Any
    ) -> None:
        # Where `warnings` is always there, the schema requires it.
        optional = {"_meta", "journal_entries", "error", "warnings"}
        assert known_fields(schema).keys() - value.keys() <= optional

    def test_parameters_show_the_ids_of_the_story(self) -> None:
        story = {
            text
            for _, node in walk(document()["components"]["examples"])
            for text in node.values()
            if isinstance(text, str) and UUID.fullmatch(text)
        }
        for operation in operations():
            for parameter in operation.parameters:
                if parameter["in"] == "path":
                    assert parameter["example"] in story, parameter["name"]

    @pytest.mark.parametrize("name", MADE_IN_ORDER)
    def test_of_an_answer_is_what_the_example_of_its_body_gets(
        self, name: str, made: dict[str, Any]
    ) -> None:
        shown = named(name).node["responses"]["201"]["content"][JSON]["examples"]
        assert comparable(made[name]) == comparable(follow(next(iter(shown.values())))["value"])
