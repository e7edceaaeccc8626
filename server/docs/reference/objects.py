"""The named schemas of the contract, each with the data of its page."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from server.docs.reference.fields import Describer, Field
from server.docs.reference.operations import OperationEntry


@dataclass(frozen=True, slots=True)
class ObjectEntry:
    """A schema; `operations` accept or return it, `holders` have it in a field."""

    field: Field
    fields: tuple[Field, ...]
    operations: tuple[OperationEntry, ...]
    holders: tuple[str, ...]


def objects(
    document: Mapping[str, Any], operations: Iterable[OperationEntry], describer: Describer
) -> Iterator[ObjectEntry]:
    """Yield the schemas in the order of the contract."""
    schemas = document["components"]["schemas"]
    fields = {name: describer.fields(schema) for name, schema in schemas.items()}
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for name, inner in fields.items():
        for link in links_of(inner):
            holders[link].append(name)
    users: defaultdict[str, list[OperationEntry]] = defaultdict(list)
    for operation in operations:
        for link in used_by(operation):
            users[link].append(operation)
    for name, schema in schemas.items():
        yield ObjectEntry(
            field=describer.field(name, describer.shape(schema), required=False),
            fields=fields[name],
            operations=tuple(users[name]),
            holders=tuple(holders[name]),
        )


def links_of(fields: Iterable[Field]) -> list[str]:
    """Return the names of the schemas that fields refer to, each once."""
    found = [field.link for field in flat(fields) if field.link is not None]
    return list(dict.fromkeys(found))


def flat(fields: Iterable[Field]) -> Iterator[Field]:
    """Yield fields and all their nested fields."""
    for field in fields:
        yield field
        yield from flat(field.inner)


def used_by(operation: OperationEntry) -> list[str]:
    """Return the names of the schemas that an operation accepts, or returns on success."""
    taken = [body.link for body in operation.bodies]
    given = [answer.link for answer in operation.answers if answer.status.startswith("2")]
    return list(dict.fromkeys(link for link in (*taken, *given) if link is not None))
