from typing import Any

import pytest

from server.docs.reference.fields import Describer, facts
from tests.server.docs.small_contract import DOCUMENT


class TestFields:
    @pytest.fixture
    def fields(self) -> dict[str, Any]:
        describer = Describer(DOCUMENT)
        entries = describer.fields({"$ref": "#/components/schemas/ThingCreate"})
        return {entry.name: entry for entry in entries}

    def test_limits_are_told_in_words(self, fields: dict[str, Any]) -> None:
        assert fields["name"].facts == ("1 to 255 characters",)
        assert fields["size"].facts == ("1 to 99,999", "default `2`")

    def test_a_required_field_is_marked(self, fields: dict[str, Any]) -> None:
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
