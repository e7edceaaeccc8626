"""The contract in other forms, for tools that take less: `python -m server.profiles FOLDER`.

Each is derived from the contract as it is published, and says the same of what goes over the wire.
In each the operations have refusals of their own.
"""

import sys
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from server.contract import JSON, METHODS, parse, read_source
from server.own_examples import with_own_examples
from server.published import published
from server.reference.fields import Describer
from server.yaml_text import as_yaml

Document = dict[str, Any]

PDF: Final = "application/pdf"
BYTES: Final = "application/octet-stream"

_BOUNDS: Final = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
# A mock counts nothing, so that nothing is left of a limit.
_CASUAL: Final = frozenset(
    {
        *("Allow", "Deprecation", "Idempotent-Replayed", "Retry-After", "Sunset"),
        *("RateLimit", "RateLimit-Policy"),
    }
)


def for_generators(document: Document) -> Document:
    """Leave each body its first content type; exact numbers in text are plain text, PDF is bytes.

    openapi-python-client sends the last of several types whatever it is given, and knows of all
    that is neither text nor JSON the type for any bytes alone; openapi-generator writes a type for
    `decimal` that it does not import.
    """
    changed: Document = _mapped(document, _without_decimal_text)
    for item in changed["paths"].values():
        for method in METHODS & item.keys():
            body = item[method].get("requestBody", {})
            if "content" in body:
                body["content"] = dict([next(iter(body["content"].items()))])
            for answer in item[method].get("responses", {}).values():
                if PDF in answer.get("content", {}):
                    answer["content"][BYTES] = answer["content"].pop(PDF)
    return changed


def as_3_1(document: Document) -> Document:
    """Write the contract in OpenAPI 3.1, whose schemas are those of JSON Schema 2020-12."""
    changed: Document = _mapped(document, _schema_3_1)
    return {**changed, "openapi": "3.1.1"}


def for_mocks(document: Document) -> Document:
    """Let Prism answer with the status that is meant.

    It answers with the lowest one, which of a create is that of a preview: 200. What is not valid
    it answers with 422 wherever that is documented, and with 400 elsewhere. So the examples of 422
    stand at `default`, which it takes for a status that it is asked for and does not find.
    """
    changed: Document = _mapped(document, _as_prism_reads)
    describer = Describer(changed)
    for item in changed["paths"].values():
        for method in METHODS & item.keys():
            item[method]["responses"] = _as_prism_chooses(item[method]["responses"], describer)
    return changed


PROFILES: Final[Mapping[str, Callable[[Document], Document]]] = MappingProxyType(
    {
        "sdk": for_generators,
        "3.1": as_3_1,
        "mock": for_mocks,
    }
)


def write(folder: Path) -> None:
    """Write the contract as it is published, and each of its other forms."""
    source = published(read_source())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "accounting.yaml").write_bytes(source)
    document = with_own_examples(parse(source))
    for name, derive in PROFILES.items():
        text = as_yaml(derive(document))
        (folder / f"accounting.{name}.yaml").write_text(text, encoding="utf-8")


def _mapped(node: Any, change: Callable[[Document], Document]) -> Any:
    """Change every mapping of a document, the inner ones first; examples stay as they are."""
    if isinstance(node, list):
        return [_mapped(item, change) for item in node]
    if not isinstance(node, dict):
        return node
    kept = ("example", "examples", "default", "enum")
    return change({k: v if k in kept else _mapped(v, change) for k, v in node.items()})


def _without_decimal_text(node: Document) -> Document:
    if node.get("type") == "string" and node.get("format") == "decimal":
        return {key: value for key, value in node.items() if key != "format"}
    return node


def _schema_3_1(node: Document) -> Document:
    """Turn the words of 3.0 into those of 2020-12: null is a type, exclusive bounds are numbers.

    `{type: integer, nullable: true, minimum: 0, exclusiveMinimum: true}` becomes
    `{type: [integer, 'null'], exclusiveMinimum: 0}`.
    """
    if not isinstance(node.get("type"), str):
        return node
    changed = dict(node)
    if changed.pop("nullable", False) is True:
        changed["type"] = [node["type"], "null"]
        if "enum" in changed:
            changed["enum"] = list(dict.fromkeys([*changed["enum"], None]))
    for bound, exclusive in _BOUNDS:
        if changed.pop(exclusive, False) is True:
            changed[exclusive] = changed.pop(bound)
    if changed.get("format") == "binary":
        changed["contentMediaType"] = "application/octet-stream"
        del changed["format"]
    return changed


def _as_prism_reads(node: Document) -> Document:
    """Leave out headers that come in some cases only, and take any form with a file.

    Prism would send each header that is documented with every answer. Of a part of a form that is
    a file it does not see the name, and a list there is a text to it.
    """
    if "headers" in node:
        headers = {name: each for name, each in node["headers"].items() if name not in _CASUAL}
        return {**node, "headers": headers}
    if any(each.get("format") == "binary" for each in node.get("properties", {}).values()):
        return {"type": "object"}
    return node


def _as_prism_chooses(answers: Document, describer: Describer) -> Document:
    """Name 200 beside 201 so that it comes second, and hand the refusals of 422 to `default`."""
    renamed = {"200": "2XX"} if "201" in answers else {}
    changed = {renamed.get(status, status): answer for status, answer in answers.items()}
    if broken := changed.pop("422", None):
        default = deepcopy(describer.follow(changed["default"]))
        content = default["content"][JSON]
        content["examples"] = {**broken["content"][JSON]["examples"], **content["examples"]}
        changed["default"] = default
    return changed


if __name__ == "__main__":
    write(Path(sys.argv[1]))
