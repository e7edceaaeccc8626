"""Comparison of the body of a creation with the existing record that its external id names.

The fields that the body states are compared with those that the answer shows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final, cast
from uuid import UUID

from accounting.books.accounts import AccountReference
from handlers.bodies import AccountIdentifier
from handlers.results import ExistingRecord
from handlers.shared.account_commands import account, any_account
from handlers.shared.external_names import NamedBody
from handlers.shared.responses import MOST_TOLD, Warnings
from persistence.books import Books
from persistence.partners.registry import Registry

MISSING: Final = object()
"""The value at a place that an answer does not have."""

Place = tuple[str | int, ...]
"""A field of an answer: the names and indexes that lead to it."""

# Where an answer shows a field of the body, if not under its name; the first that it has counts.
SHOWN_AS: Final[Mapping[str, Sequence[Place]]] = {
    "customer_external_id": [("customer_id",)],
    "vendor_external_id": [("vendor_id",)],
    "amount": [("amount",), ("amount_cents",)],
    "amount_cents": [("amount_cents",), ("amount",), ("refunded_amount",)],
    "total_amount_cents": [("total_amount_cents",), ("amount_cents",), ("total_refunded_amount",)],
    "total_refunded_amount_cents": [("total_refunded_amount",)],
    "processing_fee_cents": [("processing_fee_cents",), ("processing_fee",)],
    "refund_processing_fee_cents": [
        ("refund_processing_fee",),
        ("refund_payments", 0, "refund_processing_fee"),
    ],
    **{
        name: [
            ("refund_payments", 0, name),
            ("vendor_refund_payments", 0, name),
            ("payment", name),
            (name,),
        ]
        for name in ("exchange_rate", "base_amount_cents")
    },
    "payments": [("payment_allocations",), ("vendor_refund_payments",)],
    "tax_code": [("tax_code_id",)],
    "withholding_code": [("withholding_code_id",)],
    "invoice_id": [("invoice_id",), ("allocations", 0, "invoice_id")],
    "payment_id": [("payment_id",), ("allocations", 0, "payment_id")],
    "credit_id": [("credit_id",), ("allocations", 0, "credit_id")],
    "document": [("document",), ("documents",)],
}
# Any JSON of the caller, which is compared as a whole.
FREE: Final = frozenset({"metadata", "references", "transaction_tags", "tags"})
# An allocation's day follows from both documents; the parts of a line that is refunded are merged.
NOT_SHOWN: Final = frozenset({"allocation_date", "lines"})
WHOLE: Final = FREE | {"document"}
UNORDERED: Final = frozenset({"allocations", "payments"})
EMPTY: Final[Sequence[Any]] = (None, "", [], {}, ())
ACCOUNTS: Final = frozenset({"account", "parent_id"})
CODES: Final = frozenset({"tax_code", "withholding_code"})
PARTIES: Final = frozenset({"customer_external_id", "vendor_external_id"})
IDENTIFIED: Final = frozenset({"AccountId", "AccountCode", "AccountExternalId"})
MESSAGE: Final = "differs from the existing record, which is unchanged"

Resolve = Callable[[str, Any], Any]
"""A function that replaces a reference in a body by the id of its account, tax code or party."""


def _letters(value: Any) -> str:
    return "".join(letter for letter in str(value) if letter.isalnum()).lower()


# The stored value is in one spelling, whatever the caller sends.
SPELT: Final[Mapping[str, Callable[[Any], str]]] = {
    "iban": _letters,
    "country": lambda value: str(value).lower(),
    "entity_type": lambda value: str(value).lower(),
}


async def warnings(
    opened: Books | Registry, named: NamedBody, existing: ExistingRecord
) -> Warnings:
    """Name the fields of a body that differ from the existing record, sorted, at most 20."""
    sent: Mapping[str, Any] = named.body or {}
    resolve = await _resolver(opened, sent)
    other = map(named.restored, differing(sent, _stated(existing), resolve))
    fields = sorted({*other, *named.mismatched})
    told = [{"field": field, "message": MESSAGE} for field in fields[:MOST_TOLD]]
    if len(fields) > MOST_TOLD:
        more = len(fields) - MOST_TOLD
        told[-1]["message"] += f"; so do {more} more fields"
    return told


def differing(
    sent: Mapping[str, Any], stored: Mapping[str, Any], resolve: Resolve, path: str = ""
) -> Iterator[str]:
    """Yield the paths of the fields whose values differ: `memo`, `line_items.0.quantity`.

    A field that the body omits, or that the record does not show, does not differ.
    """
    for name, given in sent.items():
        places = SHOWN_AS.get(name, [(name,)])
        found = [each for place in places if (each := _at(stored, place)) is not MISSING]
        if name in NOT_SHOWN or not found:
            continue
        yield from _compared(name, resolve(name, given), found[0], resolve, f"{path}{name}")


def _compared(name: str, given: Any, stored: Any, resolve: Resolve, path: str) -> Iterator[str]:
    """Yield the path of a field, or the paths of the fields in it, where the values differ."""
    if name not in WHOLE and isinstance(given, Mapping) and isinstance(stored, Mapping):
        yield from differing(given, stored, resolve, f"{path}.")
    elif name not in WHOLE and isinstance(given, list) and isinstance(stored, list | tuple):
        if name in UNORDERED:
            stored = _in_order_of(given, stored, resolve)
        if name == "payments":  # A document may have been paid further since.
            stored = stored[: len(given)]
        if len(given) != len(stored):
            yield path
            return
        for place, (one, other) in enumerate(zip(given, stored, strict=True)):
            yield from _compared("", one, other, resolve, f"{path}.{place}")
    elif not _is_same(name, given, stored):
        yield path


def _in_order_of(given: Sequence[Any], stored: Sequence[Any], resolve: Resolve) -> Sequence[Any]:
    """Return the stored items in the order of the given ones that they equal, then all others."""
    left, chosen = [*stored], []
    for item in given:
        equal = next((one for one in left if not [*differing(item, one, resolve)]), None)
        if equal is None:
            return stored
        left.remove(equal)
        chosen.append(equal)
    return [*chosen, *left]


def _is_same(name: str, given: Any, stored: Any) -> bool:
    """Return whether a value, or any JSON, is stored as it is given."""
    if name == "document":
        return _has_file(stored, given)
    if isinstance(given, UUID) and isinstance(stored, Mapping):  # An account.
        return bool(given == stored["id"])
    if given in EMPTY and stored in EMPTY:
        return True
    if name in SPELT:
        return SPELT[name](given) == SPELT[name](stored)
    one, other = _plain(given), _plain(stored)
    if name.endswith("_decimal") or isinstance(one, Decimal) or isinstance(other, Decimal):
        one, other = _number(one), _number(other)
    return bool(one == other)


def _number(value: Any) -> Any:
    """Return a number, or the text of one, as a decimal number."""
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return value


def _plain(value: Any) -> Any:
    """Return a value in a form that can be compared, at any depth."""
    match value:
        case Mapping():
            return {name: _plain(each) for name, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case bool():
            return str(value)  # Python takes true for 1.
        case datetime():
            return value
        case int() | float():
            return Decimal(str(value))
        case UUID() | date():
            return str(value)
    return value


def _has_file(stored: Any, given: Any) -> bool:
    """Return whether a record has a file of the size of the given one."""
    content = given["file"] if isinstance(given, Mapping) else given.content
    shown = stored if isinstance(stored, list) else [stored]
    return any(each is not None and each["file_size"] == len(content) for each in shown)


def _at(stored: Any, place: Place) -> Any:
    """Return the value at a place of an answer, or MISSING."""
    for step in place:
        if isinstance(step, int):
            if not isinstance(stored, list | tuple) or len(stored) <= step:
                return MISSING
        elif not isinstance(stored, Mapping) or step not in stored:
            return MISSING
        stored = stored[step]
    return stored


def _stated(existing: ExistingRecord) -> Mapping[str, Any]:
    """Return the fields of the existing record; those of a wrapped answer are in one object."""
    if existing.record is not None:
        return existing.record
    value: Mapping[str, Any] = existing.value
    if "external_id" in value:
        return value
    parts = [each for each in value.values() if isinstance(each, Mapping)]
    return {name: each for part in parts for name, each in part.items()}


async def _resolver(opened: Books | Registry, sent: Mapping[str, Any]) -> Resolve:
    """Load the records that a body does not name by id; return a function that finds their ids."""
    items = [*_items(sent)]
    references = (_reference(name, value) for name, value in items)
    accounts = {each for each in references if each is not None}
    named = any(name in CODES for name, _ in items)
    parties = {value for name, value in items if name in PARTIES}
    if not isinstance(opened, Books) or not (accounts or named or parties):
        return lambda _name, value: value
    known, codes, customers, vendors = await opened.fetch(
        opened.accounts.named(accounts, hold=False),
        opened.tax_codes.for_use(needed=named),
        opened.customers.ids_of(parties),
        opened.vendors.ids_of(parties),
    )

    def resolve(name: str, value: Any) -> Any:
        if name in PARTIES:
            ids = customers if name.startswith("customer") else vendors
            return ids.get(value, value)
        reference = _reference(name, value)
        if reference is not None:
            found = known.get(reference)
            return reference.value if found is None else found.id
        code = codes.named(value) if name in CODES else None
        return value if code is None else code.id

    return resolve


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a body, and those of the objects in it."""
    for name, each in value.items():
        yield name, each
        if name not in FREE:
            for part in each if isinstance(each, list) else [each]:
                if isinstance(part, Mapping):
                    yield from _items(part)


def _reference(name: str, value: Any) -> AccountReference | None:
    """Return the reference to an account that a field of a body is, if it is one."""
    if name in FREE:
        return None
    if isinstance(value, Mapping) and value.get("type") in IDENTIFIED:
        return account(cast(AccountIdentifier, value))
    return any_account(value) if name in ACCOUNTS and isinstance(value, str) else None
