"""Customers and vendors: operations that both sides share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar
from uuid import UUID

from access.links import Links
from accounting.absent import Absent, or_none
from accounting.files.uploads import AcceptedFile
from accounting.trade import parties
from accounting.trade.parties import Customer, PartyDetails, Vendor
from accounting.trade.sides import Side
from handlers.results import Reply
from handlers.shared import attached_files, responses
from persistence.books import Books
from persistence.engine.ids import new_id
from persistence.files.stored_files import StoredFile
from persistence.trade.parties import PartyAccount, PartyStore

T = TypeVar("T", bound=Customer | Vendor)


@dataclass(frozen=True, slots=True)
class PartyRecord(Generic[T]):
    """A customer or vendor with its documents, newest first, as a single answer has it."""

    account: PartyAccount[T]
    documents: Sequence[StoredFile]

    @property
    def trader(self) -> T:
        return self.account.trader


async def known(
    books: Books, store: PartyStore[T], external_id: str | Absent | None
) -> PartyRecord[T] | None:
    """Read the customer or vendor with an external id; return None if there is none."""
    found = await store.with_external_id(or_none(external_id))
    if found is None:
        return None
    return PartyRecord(found, await books.files.all_of(found.id))


async def read(books: Books, store: PartyStore[T], id: UUID) -> PartyRecord[T]:
    """Read a customer or vendor; raises NotFound."""
    found, documents = await books.fetch(store.get(id), books.files.all_of(id))
    return PartyRecord(found, documents)


async def lock(
    books: Books, store: PartyStore[T], id: UUID, *, closing: bool = False
) -> PartyRecord[T]:
    """Lock a customer or vendor, then read it; raises NotFound and Stale.

    Only a lock for closing waits for requests that are creating documents for this party.
    """
    locked = store.lock_to_close(id) if closing else store.lock(id)
    found, documents = await books.fetch(locked, books.files.all_of(id))
    return PartyRecord(found, documents)


def add(
    books: Books, store: PartyStore[T], details: PartyDetails, file: AcceptedFile | None
) -> PartyRecord[T]:
    """Save a new customer or vendor with its attached document."""
    made = store.sql.kind(
        id=new_id(), version=1, created_at=books.now, updated_at=books.now, **parties.facts(details)
    )
    books.save(made)
    return PartyRecord(PartyAccount(made), attach(books, store, file, made.id))


def attach(
    books: Books, store: PartyStore[T], file: AcceptedFile | None, id: UUID
) -> list[StoredFile]:
    """Store the document of a body; return a list of it, or an empty list."""
    added = attached_files.attach(books, file, store.noun, id)
    return [added] if added else []


def put(
    books: Books, found: PartyRecord[T], changed: T, added: Sequence[StoredFile] = ()
) -> PartyRecord[T]:
    """Save the changes, if any; raises ValidationError if no name is left."""
    if changed == found.trader and not added:
        return found
    parties.refuse_nameless(changed.individual_name, changed.company_name)
    changed = replace(changed, updated_at=books.now)
    books.save(changed)
    return PartyRecord(replace(found.account, trader=changed), [*added, *found.documents])


async def archive(books: Books, side: Side, store: PartyStore[T], id: UUID) -> PartyRecord[T]:
    """Archive a customer or vendor without open items; an archived one is returned unchanged."""
    account, documents, amounts = await books.fetch(
        store.lock_to_close(id), books.files.all_of(id), store.open_amounts(id)
    )
    found = PartyRecord(account, documents)
    return put(books, found, parties.archive(side, found.trader, amounts, books.now))


def serialize_documents(found: PartyRecord[T], links: Links) -> Reply:
    """Serialize the documents of a customer or vendor."""
    return {"documents": [attached_files.summary(each, links) for each in found.documents]}


def serialize(books: Books, found: PartyAccount[T]) -> Reply:
    """Serialize the fields that customers and vendors share."""
    trader = found.trader
    phones = {"mobile_phone": trader.mobile_phone, "office_phone": trader.office_phone}
    return {
        "id": trader.id,
        "external_id": trader.external_id,
        "individual_name": trader.individual_name,
        "company_name": trader.company_name,
        "display_name": parties.display_name(trader),
        "email": trader.email,
        **phones,
        "country": trader.country,
        "address_string": trader.address_string,
        "vat_number": trader.vat_number,
        "status": trader.status,
        "is_active": trader.status == "ACTIVE",
        "is_archived": trader.archived_at is not None,
        "transaction_tags": trader.transaction_tags,
        "metadata": trader.metadata,
        "payment_terms_days": trader.payment_terms_days,
        "outstanding_balance": found.outstanding_balance,
        "outstanding_by_currency": found.outstanding_by_currency(books.currency)
        if found.owed
        else {},
        "created_at": trader.created_at,
        "updated_at": trader.updated_at,
        "archived_at": trader.archived_at,
        "warnings": [
            *responses.of_phones(**phones),
            *responses.of_vat_number(trader.vat_number, trader.country),
        ],
    }
