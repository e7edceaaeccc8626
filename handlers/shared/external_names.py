"""Records that a body names by external id; the handler receives their ids.

Beside each such field is the one for the id: `invoice_external_id` beside `invoice_id`, and
`payment_external_ids` beside `payment_ids`. The customers and vendors of documents and money are
not among them: their stores take both names, since an unknown customer may be created.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from accounting.errors import ApiError, RuleViolation
from handlers.results import ExistingRecord
from persistence.books import Books
from persistence.engine.ids import new_id
from persistence.store import Store, no_such_reference

EACH: Final = "*"
"""A step of a place: every item of a list."""

Place = tuple[str, ...]
"""The path of a field in a body, such as `("allocations", "*", "invoice_external_id")`."""

_STORES: Final[Mapping[str, Callable[[Books], Store[Any]]]] = MappingProxyType(
    {
        "invoice": lambda books: books.sales.documents,
        "invoice_payment": lambda books: books.sales.payments,
        "invoice_refund": lambda books: books.sales.refunds,
        "invoice_refund_payment": lambda books: books.sales.refund_payments,
        "customer": lambda books: books.customers,
        "customer_credit": lambda books: books.sales.credits,
        "bill": lambda books: books.purchases.documents,
        "bill_payment": lambda books: books.purchases.payments,
        "vendor": lambda books: books.vendors,
        "vendor_credit": lambda books: books.purchases.credits,
        "vendor_refund": lambda books: books.purchases.refunds,
        "payout": lambda books: books.payouts,
        "bank_account": lambda books: books.bank_accounts,
    }
)
KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "invoice_external_id": "invoice",
        "source_invoice_external_id": "invoice",
        "payment_external_id": "invoice_payment",
        "payment_external_ids": "invoice_payment",
        "refund_payment_external_ids": "invoice_refund_payment",
        "credit_external_id": "customer_credit",
        "bill_external_id": "bill",
        "source_bill_external_id": "bill",
        "bill_payment_external_id": "bill_payment",
        "vendor_credit_external_id": "vendor_credit",
        "bank_account_external_id": "bank_account",
        "customer_external_id": "customer",
        "vendor_external_id": "vendor",
    }
)
"""The kind of record that a field names."""
_OF_A_RULE: Final = "result"
TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {"target_external_id": "target_type", "linked_external_id": "linked_type"}
)
"""The field beside it that states the kind of record."""

_TOKEN: Final = re.compile(r"[\w-]+(?:\.[\w-]+)*")


def names_record(place: Place) -> bool:
    """Return whether a field names a record by an external id that the handler gets as an id."""
    *inside, name = place
    if KINDS.get(name) in ("customer", "vendor"):
        return inside[-1:] == [_OF_A_RULE]
    return name in KINDS or name in TYPES


@dataclass(frozen=True, slots=True)
class NamedBody:
    """A body that names records by id only.

    `sent_as` has the field or the external id that was sent, by the field or the id that the body
    has now. `unknown` are refusals of external ids without a record; each has a new id in the body,
    which no record has, so the rules refuse it in their order. `mismatched` are refusals of two
    names of different records, by field; the body has the id.
    """

    body: Any
    sent_as: Mapping[str, str] = field(default_factory=dict)
    unknown: Sequence[RuleViolation] = ()
    mismatched: Mapping[str, RuleViolation] = field(default_factory=dict)

    def refuse(self, value: Any) -> None:
        """Refuse wrong names, unless the answer is the existing record, which nothing changes.

        Raises RuleViolation `reference_mismatch` and `reference_not_found`.
        """
        if not isinstance(value, ExistingRecord):
            for refusal in (*self.mismatched.values(), *self.unknown):
                raise refusal

    def restore(self, error: ApiError) -> None:
        """Replace ids and their fields in an error by what was sent in their place."""
        if not self.sent_as:
            return
        error.message = self.restored(error.message)
        error.detail = self.restored(error.detail)
        faults = error.detail.get("field_errors")
        if faults is not None:
            by_field = {self.restored(path): each for path, each in faults.items()}
            error.detail["field_errors"] = by_field

    def restored(self, value: Any) -> Any:
        """Return a text, or the texts of any JSON, with what was sent."""
        if isinstance(value, str):
            return _TOKEN.sub(lambda token: self.sent_as.get(token[0], token[0]), value)
        if isinstance(value, dict):
            return {name: self.restored(each) for name, each in value.items()}
        return [*map(self.restored, value)] if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class _Names:
    """External ids in one field of a body, and the object that has the field."""

    holder: dict[str, Any]
    name: str
    path: str
    kind: str

    @property
    def is_list(self) -> bool:
        return self.name.endswith("s")

    @property
    def external_ids(self) -> list[str]:
        value = self.holder[self.name]
        return value if self.is_list else [value]


async def with_ids(books: Books, body: Any, places: Sequence[Place]) -> NamedBody:
    """Find the ids of the records that a body names by external id.

    The ids precede the locks, which are taken in their order; so they are read in a round trip of
    their own, which a body without such names does not need. The rows are not locked: as with ids,
    another request may change them until the handler locks them.
    """
    if not any(True for place in places for _ in _names_at(body, place)):
        return NamedBody(body)
    body = _copied(body)
    names = [each for place in places for each in _names_at(body, place)]
    wanted: dict[str, set[str]] = defaultdict(set)
    for each in names:
        wanted[each.kind].update(each.external_ids)
    stores = {kind: _STORES[kind](books) for kind in sorted(wanted)}
    found = await books.fetch(*(stores[kind].ids_of(wanted[kind]) for kind in stores))
    ids = dict(zip(stores, found, strict=True))
    sent_as: dict[str, str] = {}
    unknown: list[RuleViolation] = []
    mismatched: dict[str, RuleViolation] = {}
    for each in names:
        external_ids, known = each.external_ids, ids[each.kind]
        for number, external_id in enumerate(external_ids):
            if external_id not in known:
                known[external_id] = new_id()
                sent_as[str(known[external_id])] = external_id
                where = f"{each.path}.{number}" if each.is_list else each.path
                refusal = no_such_reference(stores[each.kind].noun, external_id)
                unknown.append(_at(where, refusal))
        both = _put(each, [known[external_id] for external_id in external_ids], sent_as)
        if both is not None:
            mismatched[each.path] = _at(each.path, both)
    return NamedBody(body, sent_as, unknown, mismatched)


def _put(names: _Names, ids: list[UUID], sent_as: dict[str, str]) -> RuleViolation | None:
    """Replace external ids in a body by ids; if it has ids too, compare them instead."""
    external_ids = names.external_ids
    del names.holder[names.name]
    name, path = (each.replace("external_id", "id") for each in (names.name, names.path))
    if name in names.holder:
        sent = names.holder[name] if names.is_list else [names.holder[name]]
        return _mismatch(sent, dict(zip(ids, external_ids, strict=True)))
    names.holder[name] = ids if names.is_list else ids[0]
    sent_as[path] = names.path
    if names.is_list:
        sent_as.update({f"{path}.{n}": f"{names.path}.{n}" for n in range(len(ids))})
    return None


def _mismatch(sent: Sequence[UUID | None], named: Mapping[UUID, str]) -> RuleViolation | None:
    """Compare ids with those of external ids; return the refusal of the first that differ."""
    ids = (each for each in sent if each not in named)
    external_ids = (external_id for id_, external_id in named.items() if id_ not in sent)
    id_, external_id = next(ids, None), next(external_ids, None)
    if id_ is None and external_id is None:
        return None
    return RuleViolation.of_names(id_, external_id)


def _at(path: str, refusal: RuleViolation) -> RuleViolation:
    """Add the field of a body to a refusal, and its list item if it is in one."""
    refusal.message = f"{path}: {refusal.message}"
    refusal.detail["field"] = path
    steps = path.split(".")
    numbers = [at for at, step in enumerate(steps) if step.isdecimal()]
    if numbers:
        refusal.detail["item"] = ".".join(steps[: numbers[-1] + 1])
    return refusal


def _names_at(node: Any, place: Place, path: str = "") -> Iterator[_Names]:
    """Yield the external ids at a place of a body that has them."""
    step, rest = place[0], place[1:]
    if step == EACH:
        for number, item in enumerate(node if isinstance(node, list) else ()):
            yield from _names_at(item, rest, f"{path}{number}.")
    elif isinstance(node, dict) and step in node:
        if rest:
            yield from _names_at(node[step], rest, f"{path}{step}.")
        else:
            kind = KINDS[step] if step in KINDS else node[TYPES[step]]
            yield _Names(node, step, f"{path}{step}", kind)


def _copied(node: Any) -> Any:
    """Return a copy of the objects and lists of a body; other values stay the same."""
    if isinstance(node, dict):
        return type(node)({name: _copied(each) for name, each in node.items()})
    return [*map(_copied, node)] if isinstance(node, list) else node
