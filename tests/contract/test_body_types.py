"""`handlers/bodies.py` is what the contract says today."""

from pathlib import Path
from typing import Any

import pytest

import handlers
from server.body_types import written
from server.contract import Contract, ContractError


def contract_of(schemas: dict[str, Any], body: str) -> Contract:
    reference = {"$ref": f"#/components/schemas/{body}"}
    operation = {
        "tags": ["Things"],
        "operationId": "create_thing",
        "requestBody": {"content": {"application/json": {"schema": reference}}},
    }
    return Contract({"paths": {"/": {"post": operation}}, "components": {"schemas": schemas}})


class TestWritten:
    def test_is_what_stands_in_the_room_of_the_handlers(self) -> None:
        kept = Path(handlers.__path__[0], "bodies.py").read_text("utf-8")
        assert written(Contract.load()) == kept, (
            "run: python -m server.body_types > handlers/bodies.py"
        )

    def test_types_are_those_of_the_revived_values(self) -> None:
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
        assert "    day: NotRequired[date | None]\n" in text
        assert "    moment: NotRequired[datetime]\n" in text
        assert "    share: NotRequired[Decimal]\n" in text
        assert "    anything: NotRequired[Any]\n" in text
        assert "    words: NotRequired[list[str]]\n" in text
        assert "    counts: NotRequired[dict[str, int]]\n" in text

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
        assert "line_items" in names["InvoiceCreate"].__required_keys__
        assert "memo" in names["InvoiceCreate"].__optional_keys__

    def test_a_field_that_python_cannot_name_is_refused(self) -> None:
        thing = {"type": "object", "properties": {"class": {"type": "string"}}}
        with pytest.raises(ContractError):
            written(contract_of({"Thing": thing}, "Thing"))
