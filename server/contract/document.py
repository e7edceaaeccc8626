"""The contract as data: `openapi/accounting.yaml`, read once and indexed by operation.

The file is plain YAML, read by the C loader and never rendered as a template. Only the scalars of
JSON are recognised: a date in an example stays text, and the country NO stays text.
"""

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from typing import Any

import orjson
import yaml

METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})
JSON = "application/json"
MERGE = "<<"
SHARED = "x-shared"

Schema = dict[str, Any]

_NUMBER_STARTS = "-0123456789"
_SCALARS = (
    ("bool", re.compile(r"^(?:true|false)$"), ["t", "f"]),
    ("null", re.compile(r"^(?:null|~|)$"), ["n", "~", ""]),
    ("int", re.compile(r"^-?(?:0|[1-9][0-9]*)$"), list(_NUMBER_STARTS)),
    (
        "float",
        re.compile(r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$"),
        list(_NUMBER_STARTS),
    ),
)


class ContractError(ValueError):
    """A fault in the contract that prevents serving it."""


class ContractLoader(yaml.CSafeLoader):
    """The C loader, restricted to JSON's scalars, text keys and unique keys.

    `<<: *name` merges another mapping; the mapping's own keys take precedence.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own class-level table.
        start: [
            (f"tag:yaml.org,2002:{name}", pattern)
            for name, pattern, starts in _SCALARS
            if start in starts
        ]
        for start in ("t", "f", "n", "~", "", *_NUMBER_STARTS)
    }

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Build a mapping; raise ContractError for a repeated key."""
        mapping = self._taken_in(node, deep)
        own = set()
        for key_node, value_node in node.value:
            if key_node.value == MERGE:
                continue
            key = self.construct_object(key_node, deep=True)
            key = str(key) if type(key) is int else key  # `200:` is a status, not a number.
            if type(key) is not str:
                raise ContractError(f"Not a text key: {key!r},{key_node.start_mark}")
            if key in own:
                raise ContractError(f"The same key twice: {key},{key_node.start_mark}")
            own.add(key)
            mapping[key] = self.construct_object(value_node, deep=deep)
        return mapping

    def _taken_in(self, node: Any, deep: bool) -> dict[Any, Any]:
        taken: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if key_node.value == MERGE:
                if not isinstance(value_node, yaml.MappingNode):
                    raise ContractError(f"Only a mapping can be taken in,{key_node.start_mark}")
                taken |= self.construct_mapping(value_node, deep)
        return taken


@dataclass(frozen=True, slots=True)
class Deprecation:
    """The start of a deprecation, its end, and the name of the replacement."""

    since: date
    until: date | None
    instead: str | None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an operation, its own `$ref` followed; `place` is path, query or header."""

    name: str
    place: str
    required: bool
    schema: Schema
    exploded: bool
    deprecation: Deprecation | None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the contract; schemas keep their `$ref`s.

    `body_bytes`: the limit of its JSON body, if it has one of its own. `has_etag`: its success
    response has an ETag header. `media_types`: those of its 200.
    """

    operation_id: str
    module: str
    path: str
    method: str
    parameters: tuple[Parameter, ...]
    bodies: Mapping[str, Schema]
    body_required: bool
    body_bytes: int | None
    has_etag: bool
    media_types: tuple[str, ...]
    deprecation: Deprecation | None
    document: Mapping[str, Any]


class Contract:
    """The whole document and its operations by `operationId`.

    Raises ContractError for faults that would be served wrongly: a missing or repeated operationId,
    an operation without exactly one tag, a parameter without a type, a `$ref` without a target, or
    a deprecation without its start date.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.components: dict[str, Any] = document.get("components", {})
        self.operations: dict[str, Operation] = {}
        for operation in self._read_operations():
            if operation.operation_id in self.operations:
                raise ContractError(f"operationId twice: {operation.operation_id}")
            self.operations[operation.operation_id] = operation

    @classmethod
    def load(cls) -> "Contract":
        """Read the contract in the `openapi` package."""
        return cls(parse(read_source()))

    def follow(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """Return the target of a `$ref` node, or the node itself."""
        return follow(self.document, node)

    def _read_operations(self) -> Iterator[Operation]:
        for path, item in self.document.get("paths", {}).items():
            for method, node in item.items():
                if method in METHODS:
                    yield self._read_operation(path, method, node, item.get("parameters", []))

    def _read_operation(
        self, path: str, method: str, node: dict[str, Any], shared: list[Any]
    ) -> Operation:
        where = f"{method.upper()} {path}"
        tags = node.get("tags", [])
        if "operationId" not in node or len(tags) != 1:
            raise ContractError(f"{where} needs an operationId and exactly one tag")
        body = self.follow(node.get("requestBody", {}))
        return Operation(
            operation_id=node["operationId"],
            module=module_of(tags[0]),
            path=path,
            method=method.upper(),
            parameters=self._read_parameters(where, [*shared, *node.get("parameters", [])]),
            bodies=_schemas(body),
            body_required=body.get("required", False),
            body_bytes=body.get("x-max-bytes"),
            has_etag=self._has_etag(node.get("responses", {})),
            media_types=self._media_types(node.get("responses", {})),
            deprecation=_deprecation(where, node),
            document=node,
        )

    def _read_parameters(self, where: str, nodes: list[Any]) -> tuple[Parameter, ...]:
        found: dict[tuple[str, str], Parameter] = {}
        for node in map(self.follow, nodes):
            name, place = node["name"], node["in"]
            schema = node.get("schema")
            if schema is None or place == "cookie" or node.get("style", "form") == "deepObject":
                raise ContractError(f"{where}: parameter {name} is of a kind that is not served")
            if "type" not in self.follow(schema):
                raise ContractError(f"{where}: parameter {name} has no type")
            found[name, place] = Parameter(
                name=name,
                place=place,
                required=node.get("required", False),
                schema=schema,
                exploded=node.get("explode", place == "query"),
                deprecation=_deprecation(f"{where}: parameter {name}", node),
            )
        return tuple(found.values())

    def _has_etag(self, responses: Mapping[str, Any]) -> bool:
        answers = {status: self.follow(node) for status, node in responses.items()}
        good = (answers.get(status, {}) for status in ("200", "201"))
        return any("ETag" in answer.get("headers", {}) for answer in good)

    def _media_types(self, responses: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(self.follow(responses.get("200", {})).get("content", ()))


def follow(document: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Any]:
    """Return the target of a `$ref` node, or the node itself; raises ContractError without one."""
    found: Any = node
    for _ in range(16):
        if not isinstance(found, dict) or "$ref" not in found:
            break
        found = _look_up(document, found["$ref"])
    if not isinstance(found, dict) or "$ref" in found:
        raise ContractError(f"A $ref that leads nowhere: {node}")
    return found


def _look_up(document: Mapping[str, Any], reference: str) -> Any:
    if not reference.startswith("#/"):
        raise ContractError(f"A $ref out of the document: {reference}")
    found: Any = document
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or key not in found:
            raise ContractError(f"A $ref that leads nowhere: {reference}")
        found = found[key]
    return found


def read_source() -> bytes:
    """Return the contract's bytes as they were written."""
    return files("openapi").joinpath("accounting.yaml").read_bytes()


def parse(source: bytes) -> dict[str, Any]:
    """Parse YAML; ContractError for a repeated key or a document that is not a mapping.

    It takes a third of a second and 22 MB.
    """
    document = yaml.load(source, Loader=ContractLoader)
    if not isinstance(document, dict):
        raise ContractError("The contract is not a mapping.")
    document.pop(SHARED, None)  # Its anchors are merged by now.
    return document


def pack(document: Mapping[str, Any]) -> bytes:
    """Compress a document to a sixth of a megabyte; `unpack` takes 30 milliseconds."""
    return zlib.compress(orjson.dumps(document), level=1)


def unpack(packed: bytes) -> dict[str, Any]:
    """Return the document that `pack` has packed."""
    document: dict[str, Any] = orjson.loads(zlib.decompress(packed))
    return document


def keep_for_requests(document: dict[str, Any]) -> None:
    """Remove from a document all parts that requests do not need.

    These are the schemas of responses, all examples, and schemas without references from the rest.
    """
    components = document.setdefault("components", {})
    components.pop("examples", None)
    operations = [
        item[method] for item in document["paths"].values() for method in item.keys() & METHODS
    ]
    for answers in (components, *operations):
        for answer in answers.get("responses", {}).values():
            if "content" in answer:
                answer["content"] = {name: {} for name in answer["content"]}
    schemas = components.pop("schemas", {})
    components["schemas"] = kept = {}
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        key, node = waiting.pop()
        if isinstance(node, list):
            waiting += [("", each) for each in node]
        if not isinstance(node, dict):
            continue
        if key != "properties":  # A property may have any name.
            node.pop("examples", None)
        name = str(node.get("$ref")).removeprefix("#/components/schemas/")
        if name in schemas and name not in kept:
            kept[name] = schemas[name]
            waiting.append(("", kept[name]))
        waiting += node.items()


def module_of(tag: str) -> str:
    """Return the handler module of a tag: `Chart of accounts` is `chart_of_accounts`."""
    return re.sub(r"[^a-z0-9]+", "_", tag.lower()).strip("_")


def _deprecation(where: str, node: Mapping[str, Any]) -> Deprecation | None:
    told = node.get("x-deprecated")
    if node.get("deprecated", False) is not (told is not None):
        raise ContractError(f"{where} needs both deprecated and x-deprecated, or neither")
    if told is None:
        return None
    until = told.get("until")
    return Deprecation(
        since=date.fromisoformat(told["since"]),
        until=None if until is None else date.fromisoformat(until),
        instead=told.get("instead"),
    )


def _schemas(node: Mapping[str, Any]) -> dict[str, Schema]:
    return {
        content_type: media.get("schema", {})
        for content_type, media in node.get("content", {}).items()
    }
