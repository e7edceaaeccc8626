"""The fields of request bodies that name records, with their places in the contract's examples."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.contract.document import Node, Operation, bodies, follow, operations

Place = tuple[str, ...]
EACH = "*"
# Where the records of a field are read and changed.
PATHS = {
    "invoice_id": "invoices/",
    "source_invoice_id": "invoices/",
    "payment_id": "invoices/payments/",
    "payment_ids": "invoices/payments/",
    "target_id": "invoices/payments/",
    "linked_id": "invoices/refunds/",
    "credit_id": "customer-credits/",
    "bill_id": "bills/",
    "source_bill_id": "bills/",
    "bill_payment_id": "bills/payments/",
    "vendor_credit_id": "vendor-credits/",
    "bank_account_id": "bank-accounts/",
    "customer_id": "customers/",
    "vendor_id": "vendors/",
}


def is_reference(name: str) -> bool:
    """Return whether a field names records by id, by its name."""
    return name.endswith(("_id", "_ids")) and not name.endswith(("external_id", "external_ids"))


def by_external_id(name: str) -> str:
    """Return the name of the field beside one for ids: `payment_external_ids`."""
    stem, _, ending = name.rpartition("_")
    return f"{stem}_external_{ending}"


@dataclass(frozen=True)
class Reference:
    """A field of a body that names records by id."""

    operation: Operation
    content_type: str
    place: Place
    siblings: frozenset[str]

    @property
    def name(self) -> str:
        return self.place[-1]

    @property
    def has_sibling(self) -> bool:
        return by_external_id(self.name) in self.siblings

    def __str__(self) -> str:
        form = "" if self.content_type == "application/json" else ":form"
        return f"{self.operation.name}{form}:{'.'.join(self.place)}"

    def holders(self, body: Node) -> Iterator[tuple[str, Node]]:
        """Yield the objects of a body that may have the field, each with its path."""
        yield from _holders(body, self.place[:-1], "")


def references() -> list[Reference]:
    """Return the fields of all bodies that name records of a business by id."""
    return [
        Reference(operation, content_type, place, siblings)
        for operation in operations()
        if operation.within_business
        for content_type, media in bodies(operation).items()
        for place, siblings in _fields(media["schema"], ())
    ]


def _fields(node: Node, at: Place) -> Iterator[tuple[Place, frozenset[str]]]:
    node = follow(node)
    for part in node.get("allOf", []):
        yield from _fields(part, at)
    properties = node.get("properties", {})
    for name, part in properties.items():
        held = follow(part)
        if is_reference(name) and "uuid" in (
            held.get("format"),
            follow(held.get("items", {})).get("format"),
        ):
            yield (*at, name), frozenset(properties)
        else:
            yield from _fields(held, (*at, name))
    if "items" in node:
        yield from _fields(node["items"], (*at, EACH))


def _holders(node: Any, place: Place, path: str) -> Iterator[tuple[str, Node]]:
    if not place:
        yield path, node
    elif place[0] == EACH:
        for number, item in enumerate(node):
            yield from _holders(item, place[1:], f"{path}{number}.")
    elif place[0] in node:
        yield from _holders(node[place[0]], place[1:], f"{path}{place[0]}.")
