"""Bodies that name some of their records by external id, which has the same effect."""

from collections.abc import Mapping
from typing import Any

from tests.model.bodies import NOBODY
from tests.model.books import Books
from tests.model.hand import Hand

UNKNOWN = "nobody"


def renamed(hand: Hand, books: Books, body: Any) -> Any:
    """Return a body in which some ids of records are replaced by external ids, or beside them."""
    if isinstance(body, list):
        return [renamed(hand, books, each) for each in body]
    if not isinstance(body, dict):
        return body
    changed: dict[str, Any] = {}
    kinds = kinds_of(books, body)
    for name, value in body.items():
        other = by_external_id(name)
        names = names_of(kinds[name], value) if name in kinds and other not in body else None
        if names is None or not hand.chance(50):
            changed[name] = renamed(hand, books, value)
            continue
        changed[other] = names
        if UNKNOWN not in names and hand.chance(20):
            changed[name] = value
    return changed


def kinds_of(books: Books, body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the records that fields of an object can name, by the name of the field."""
    side = books.side
    targets: dict[str, Mapping[str, Any]] = {
        f"{side.noun}_payment": books.payments,
        "invoice_refund_payment": books.refund_payments,
        "payout": books.payouts,
    }
    return {
        side.document_id: books.documents,
        f"source_{side.document_id}": books.documents,
        side.party_id: books.parties,
        "payment_id": books.payments,
        "payment_ids": books.payments,
        "refund_payment_ids": books.refund_payments,
        "credit_id": books.credits,
        "bill_payment_id": books.payments,
        "vendor_credit_id": books.credits,
        "bank_account_id": books.bank_accounts,
        "target_id": targets.get(body.get("target_type", ""), {}),
    }


def by_external_id(name: str) -> str:
    """Return the name of the field beside one for ids: `payment_external_ids`."""
    stem, _, ending = name.rpartition("_")
    return f"{stem}_external_{ending}"


def names_of(records: Mapping[str, Any], value: Any) -> Any:
    """Return the external ids for one id or several; None if one of the records has none."""
    if isinstance(value, list):
        names = [names_of(records, each) for each in value]
        return None if None in names else names
    if value == NOBODY:
        is_party = any(hasattr(each, "terms") for each in records.values())
        return None if is_party or not records else UNKNOWN  # A party would be created.
    found = records.get(value)
    return None if found is None else found.external_id
