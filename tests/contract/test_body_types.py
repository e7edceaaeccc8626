"""`handlers/bodies.py` is written from the contract."""

from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest

import handlers
from server.contract.body_types import written
from server.contract.document import Contract, ContractError


def contract_of(schemas: dict[str, Any], body: str, media: str = "application/json") -> Contract:
    reference = {"$ref": f"#/components/schemas/{body}"}
    operation = {
        "tags": ["Things"],
        "operationId": "create_thing",
        "requestBody": {"content": {media: {"schema": reference}}},
    }
    return Contract({"paths": {"/": {"post": operation}}, "components": {"schemas": schemas}})


class TestWritten:
    def test_is_what_stands_among_the_handlers(self) -> None:
        kept = Path(handlers.__path__[0], "bodies.py").read_text("utf-8")
        assert written(Contract.load()) == kept, (
            "run: python -m server.contract.body_types > handlers/bodies.py"
        )

    def test_types_are_those_of_the_decoded_values(self) -> None:
        thing = {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": {"type": "string", "format": "uuid"},
                "day": {"type": "string", "format": "date", "nullable": True},
                "moment": {"type": "string", "format": "date-time"},
                "share": {"type": "number"},
                "anything": {},
                "words": {"type": "array", "items": {"type": "string"}},
                "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
        }
        text = written(contract_of({"Thing": thing}, "Thing"))
        assert "    id: UUID\n" in text
        assert "    day: date | Absent | None\n" in text
        assert "    moment: datetime | Absent\n" in text
        assert "    share: Decimal | Absent\n" in text
        assert "    anything: Any | Absent\n" in text
        assert "    words: list[str] | Absent\n" in text
        assert "    counts: dict[str, int] | Absent\n" in text

    def test_a_form_is_written_too_and_brings_its_file_as_an_upload(self) -> None:
        form = {
            "type": "object",
            "required": ["file"],
            "properties": {
                "file": {"type": "string", "format": "binary"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
        }
        text = written(contract_of({"Form": form}, "Form", "multipart/form-data"))
        assert "class Form(TypedDict):\n    file: Upload\n    tags: list[str] | Absent\n" in text
        assert "from accounting.files.uploads import Upload\n" in text

    def test_a_named_type_stands_above_those_that_name_it(self) -> None:
        schemas = {
            "Thing": {
                "type": "object",
                "required": ["kind"],
                "properties": {"kind": {"$ref": "#/components/schemas/Kind"}},
            },
            "Kind": {"type": "string", "enum": ["big", "small"]},
        }
        text = written(contract_of(schemas, "Thing"))
        assert 'Kind = Literal["big", "small"]\n' in text
        assert text.index("Kind = ") < text.index("class Thing(TypedDict):")
        assert "    kind: Kind\n" in text

    def test_a_module_of_it_can_be_run(self) -> None:
        names: dict[str, Any] = {}
        exec(compile(written(Contract.load()), "bodies", "exec"), names)
        types = get_type_hints(names["InvoiceCreate"])
        assert get_origin(types["line_items"]) is list
        assert names["Absent"] in get_args(types["memo"])

    def test_a_field_that_python_cannot_name_is_refused(self) -> None:
        thing = {"type": "object", "properties": {"class": {"type": "string"}}}
        with pytest.raises(ContractError):
            written(contract_of({"Thing": thing}, "Thing"))
