"""Variants of the contract for tools with limited support: `python -m server.docs.profiles FOLDER`.

Each is derived from the published contract, and describes the same requests and responses; in each
the operations have error examples of their own. That for receivers has the webhooks only.
"""

import sys
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from server.contract.document import JSON, METHODS, parse, read_source
from server.contract.published import published
from server.contract.yaml_text import as_yaml
from server.docs.own_examples import with_own_examples
from server.docs.reference.fields import Describer
from server.http.schemas import references

Document = dict[str, Any]

PDF: Final = "application/pdf"
BYTES: Final = "application/octet-stream"

MULTIPART: Final = "multipart/form-data"
# The name of the webhooks in the contract.
WEBHOOKS: Final = "x-webhooks"
EVENTS: Final = """\
The requests that the server sends to your webhook endpoints. The operations that create endpoints
are in the main contract.
"""
# A schema with none of these accepts any JSON.
TYPED: Final = frozenset({"type", "allOf", "anyOf", "oneOf", "not", "enum"})

_BOUNDS: Final = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
# Headers that only some answers have; a mock also has no rate limits.
_CASUAL: Final = frozenset(
    {
        *("Allow", "Deprecation", "Idempotent-Replayed", "Retry-After", "Sunset"),
        "X-Event-Sequence",
        *("RateLimit", "RateLimit-Policy"),
    }
)


def for_generators(document: Document) -> Document:
    """Keep only the first content type of each body; declare decimals as text and PDF as bytes.

    A field of a form that is any JSON is declared as what is sent, text: otherwise generators send
    Python's or JavaScript's own words for a value, and orval's code does not compile.
    openapi-python-client always sends the last of several types. For content that is neither text
    nor JSON it supports only the type for bytes. openapi-generator writes a type for `decimal` that
    it does not import.
    """
    changed: Document = _mapped(document, _without_decimal_text)
    for item in changed["paths"].values():
        for method in METHODS & item.keys():
            body = item[method].get("requestBody", {})
            if "content" in body:
                kind, media = next(iter(body["content"].items()))
                body["content"] = {kind: media}
                if kind == MULTIPART:
                    _declare_json_as_text(media["schema"], changed)
            for answer in item[method].get("responses", {}).values():
                if PDF in answer.get("content", {}):
                    answer["content"][BYTES] = answer["content"].pop(PDF)
    return changed


def _declare_json_as_text(schema: Document, document: Document) -> None:
    """Change the fields of a form that accept any JSON, in place."""
    describer = Describer(document)
    fields = describer.follow(schema).get("properties", {})
    for name, node in fields.items():
        whole = describer.follow(node)
        if not whole.keys() & TYPED:
            fields[name] = {"type": "string", "description": f"JSON text. {whole['description']}"}


def as_3_1(document: Document) -> Document:
    """Convert the contract to OpenAPI 3.1, whose schemas are those of JSON Schema 2020-12.

    OpenAPI 3.0 has no webhooks, so the contract has them as an extension.
    """
    changed: Document = _mapped(document, _schema_3_1)
    webhooks = {"webhooks": changed.pop(WEBHOOKS)} if WEBHOOKS in changed else {}
    return {**changed, **webhooks, "openapi": "3.1.1"}


def for_receivers(document: Document) -> Document:
    """Keep only the webhooks and their schemas, as a document of OpenAPI 3.1 for receivers."""
    whole = as_3_1(document)
    webhooks = whole.get("webhooks", {})
    info = {**whole["info"], "title": f"{whole['info']['title']}: events", "description": EVENTS}
    used = {each["post"]["tags"][0] for each in webhooks.values()}
    changed: Document = {name: whole[name] for name in ("openapi", "servers") if name in whole}
    return {
        **changed,
        "info": info,
        "tags": [each for each in whole.get("tags", ()) if each["name"] in used],
        # Empty, not absent: generators for 3.0 expect it.
        "paths": {},
        "webhooks": webhooks,
        "components": _components_of(webhooks, whole["components"]),
    }


def _components_of(node: Any, components: Document) -> Document:
    """Return the components that a part of a document refers to, in the order of the document."""
    found: set[str] = set()
    waiting = references(node)
    while waiting:
        reference = waiting.pop()
        found.add(reference)
        kind, name = reference.split("/")[-2:]
        waiting |= references(components[kind][name]) - found
    kept = {
        kind: {name: each for name, each in parts.items() if f"#/components/{kind}/{name}" in found}
        for kind, parts in components.items()
    }
    return {kind: parts for kind, parts in kept.items() if parts}


def for_mocks(document: Document) -> Document:
    """Change the contract so that Prism answers with the intended status.

    Prism answers with the lowest status, which for a create is 200, that of a preview. An invalid
    request gets 422 wherever that is documented, else 400. So the examples of 422 are moved to
    `default`, which Prism uses for a requested status that it does not find.
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
        "events": for_receivers,
    }
)


def write(folder: Path) -> None:
    """Write the published contract and each of its variants."""
    source = published(read_source())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "accounting.yaml").write_bytes(source)
    document = with_own_examples(parse(source))
    for name, derive in PROFILES.items():
        text = as_yaml(derive(document))
        (folder / f"accounting.{name}.yaml").write_text(text, encoding="utf-8")


def _mapped(node: Any, change: Callable[[Document], Document]) -> Any:
    """Change every mapping of a document, inner mappings first; examples stay as they are."""
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
    """Convert a schema from 3.0 to 2020-12: null is a type, exclusive bounds are numbers.

    `{type: integer, nullable: true, minimum: 0, exclusiveMinimum: true}` becomes `{type: [integer,
    'null'], exclusiveMinimum: 0}`.
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
    """Remove headers that only some answers have, and accept any form with a file.

    Prism would send each documented header with every answer. It does not see the name of a file in
    a form, and reads a list there as text.
    """
    if "headers" in node:
        headers = {name: each for name, each in node["headers"].items() if name not in _CASUAL}
        return {**node, "headers": headers}
    if any(each.get("format") == "binary" for each in node.get("properties", {}).values()):
        return {"type": "object"}
    return node


def _as_prism_chooses(answers: Document, describer: Describer) -> Document:
    """Rename 200 next to 201, so that it is not the lowest, and move errors of 422 to `default`."""
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
