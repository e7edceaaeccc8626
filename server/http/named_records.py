"""The fields of a request body that name records.

The rules know records, not the request; so the field of an unknown account is found in the body
afterwards.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from accounting.errors import ApiError
from handlers.shared.external_names import EACH, Place, names_record
from server.contract.document import Contract, Operation, Schema

# The details that hold the record as the body may name it, by the code of the error.
_NAMES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "reference_not_found": ("reference",),
        "control_account": ("account_id", "account_code"),
        "account_archived": ("account_id", "account_code"),
        "tax_code_archived": ("tax_code_id", "tax_code"),
    }
)
_FREE: Final = "metadata"
_DEEPEST: Final = 6  # A schema may contain itself.


def places_of_names(operation: Operation, contract: Contract) -> tuple[Place, ...]:
    """Return the places of the fields that name records by external id, in all bodies."""
    bodies = operation.bodies.values()
    return tuple(sorted({place for each in bodies for place in _named(each, contract, ())}))


def _named(schema: Schema, contract: Contract, at: Place) -> Iterator[Place]:
    schema = contract.follow(schema)
    for part in schema.get("allOf", []):
        yield from _named(part, contract, at)
    for name, held in schema.get("properties", {}).items():
        if names_record((*at, name)):
            yield (*at, name)
        elif len(at) < _DEEPEST:
            yield from _named(held, contract, (*at, name))
    if "items" in schema:
        yield from _named(schema["items"], contract, (*at, EACH))


def add_field(error: ApiError, body: Any) -> None:
    """Add the field that names the record of an error, if the body has one.

    An unknown account in the second line of an entry gets `detail.field` "lines.1.account" and
    `detail.item` "lines.1", and the message begins with the field.
    """
    if "field" in error.detail:  # The rule knew it.
        return
    keys = _NAMES.get(error.code, ())
    names = {str(error.detail[key]).lower() for key in keys if key in error.detail}
    item = error.detail.get("item", "")
    inside = tuple(item.split(".")) if item else ()
    words = _words(error)
    places = [
        place
        for place, text in _texts(body, ())
        if text.lower() in names
        and place[: len(inside)] == inside
        # The text of a code may be in other fields too, but a UUID is only an id.
        and (_is_id(text) or _shared(place, words))
    ]
    if not places:
        return
    place = max(places, key=lambda each: _shared(each, words))
    field = ".".join(place)
    error.message = f"{field}: {error.message.removeprefix(f'{item}: ')}"
    error.detail["field"] = field
    numbers = [at for at, part in enumerate(place) if part.isdecimal()]
    if numbers and not item:
        error.detail["item"] = ".".join(place[: numbers[-1] + 1])


def _texts(node: Any, at: Place) -> Iterator[tuple[Place, str]]:
    """Yield each text and id of a body with its path, in order; free JSON is left out."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name != _FREE:
                yield from _texts(value, (*at, name))
    elif isinstance(node, list):
        for position, value in enumerate(node):
            yield from _texts(value, (*at, str(position)))
    elif isinstance(node, str | UUID):
        yield at, str(node)


def _words(error: ApiError) -> set[str]:
    """Return the words for the kind of record: those of `invoice_refund_payment`."""
    kind = error.detail.get("resource") or ("tax_code" if "tax" in error.code else "account")
    return {*str(kind).split("_")}


def _shared(place: Place, words: set[str]) -> int:
    """Count the words for the record in the names of a place: `payment_ids` has `payment`."""
    return len(words & {*"_".join(place).split("_")})


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
