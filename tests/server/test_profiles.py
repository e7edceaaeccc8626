from pathlib import Path
from typing import Any

import pytest
import yaml
from openapi_spec_validator import validate

from server.contract import parse, read_source
from server.profiles import PROFILES, as_3_1, for_generators, write
from server.published import published

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
    """The words of OpenAPI 3.0 that 3.1 has no more, outside of examples."""
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


class TestWrite:
    def test_each_form_lies_beside_the_contract_as_it_is_published(self, tmp_path: Path) -> None:
        write(tmp_path)
        assert (tmp_path / "accounting.yaml").read_bytes() == published(read_source())
        assert {each.name for each in tmp_path.iterdir()} == {"accounting.yaml", *PROFILES}

    @pytest.mark.parametrize("name", PROFILES)
    def test_it_is_valid_and_has_every_operation(self, name: str, tmp_path: Path) -> None:
        write(tmp_path)
        derived = yaml.load((tmp_path / name).read_bytes(), yaml.CSafeLoader)
        validate(derived)
        assert derived["paths"].keys() == parse(read_source())["paths"].keys()
        assert name != "accounting.3.1.yaml" or kept(derived) == []
