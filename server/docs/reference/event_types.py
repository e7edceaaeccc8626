"""The types of events of the contract: their texts, and the operations that may make them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from server.docs.reference.operations import OperationEntry


@dataclass(frozen=True, slots=True)
class EventType:
    """A type of event; `operations` is empty if no operation makes it."""

    name: str
    text: str
    operations: tuple[OperationEntry, ...]


@dataclass(frozen=True, slots=True)
class EventTypes:
    """The types of the events of one kind of record."""

    kind: str
    types: tuple[EventType, ...]


def event_types(
    document: Mapping[str, Any], operations: Sequence[OperationEntry]
) -> list[EventTypes]:
    """Return the types by kind of record, each with its operations in the order of the paths."""
    making: defaultdict[str, list[OperationEntry]] = defaultdict(list)
    for operation in operations:
        for name in operation.events:
            making[name].append(operation)
    texts: Mapping[str, str] = document["components"].get("x-event-types", {})
    types = [EventType(name, text, tuple(making[name])) for name, text in texts.items()]
    return [
        EventTypes(kind.replace("_", " ").capitalize(), tuple(each))
        for kind, each in groupby(types, lambda one: one.name.partition(".")[0])
    ]
