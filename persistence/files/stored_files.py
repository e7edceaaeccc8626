"""Stored documents: the records of uploaded files, and the resource that each is linked to.

A record and its file are staged together. The file is stored first, and then the record is sent and
committed (`persistence/engine/transaction.py`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from hashlib import sha256
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import ARRAY, Table, Uuid, func, literal_column, select, true
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.sql.selectable import Select

from access.links import SignedLink
from accounting.files.uploads import DEFAULT_TYPES, AcceptedFile
from persistence import tables
from persistence.engine.ids import new_id
from persistence.engine.listings import Listing, any_part, created_filters, equal
from persistence.engine.pages import Page, PageRequest
from persistence.engine.pool import Pool
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given
from persistence.engine.tenants import LinkTenant
from persistence.engine.transaction import reading
from persistence.files.blobs import key_in, new_key
from persistence.store import Store, among, in_business, no_such_reference, not_found
from persistence.tables import stored_document

MOST_SHOWN = 100  # Documents in the answer of a resource; the list has all.


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """The record of one file; its size is in bytes. It never changes, so its version is always 1.

    `storage_key` is the key of the content within the business's part of the storage.
    """

    id: UUID
    created_at: datetime
    file_name: str
    file_size: int
    mime_type: str
    sha256: str
    document_type: str
    upload_source: str | None
    metadata: Any
    tags: tuple[str, ...]
    linked_type: str | None
    linked_id: UUID | None
    storage_key: str

    @property
    def version(self) -> int:
        return 1


NAMES = tuple(item.name for item in fields(StoredFile))
COLUMNS = tuple(stored_document.c[name] for name in NAMES)
NEWEST_FIRST = (stored_document.c.created_at.desc(), stored_document.c.id.desc())

BY_ID = compiled(select(*COLUMNS).where(in_business(stored_document), among(stored_document.c.id)))
LATEST = compiled(
    select(*COLUMNS)
    .where(in_business(stored_document), among(stored_document.c.linked_id))
    .order_by(stored_document.c.linked_id, *NEWEST_FIRST)
    .ext(distinct_on(stored_document.c.linked_id))
)


def _newest_of_each() -> Select[Any]:
    """Select the newest documents of each of several resources, at most `MOST_SHOWN` of each."""
    wanted = func.unnest(given("linked_ids", ARRAY(Uuid))).table_valued("id").render_derived()
    of_one = (
        select(*COLUMNS)
        .where(in_business(stored_document), stored_document.c.linked_id == wanted.c.id)
        .order_by(*NEWEST_FIRST)
        .limit(literal_column(str(MOST_SHOWN)))
        .lateral("newest")
    )
    newest_first = (of_one.c.created_at.desc(), of_one.c.id.desc())
    return select(of_one).select_from(wanted.join(of_one, true())).order_by(*newest_first)


ALL_OF = compiled(_newest_of_each())


LISTING = Listing(
    source=stored_document,
    key=stored_document.c.id,
    scope=in_business(stored_document),
    columns=COLUMNS,
    filters={
        **created_filters(stored_document, updated=stored_document.c.created_at),
        **equal(stored_document.c.document_type, stored_document.c.mime_type),
        **equal(stored_document.c.linked_type, stored_document.c.linked_id),
        **equal(stored_document.c.upload_source),
        "file_name_contains": any_part("file_name_contains", stored_document.c.file_name),
        "search": any_part("search", stored_document.c.file_name, stored_document.c.document_type),
    },
    sorts={
        "created_at": stored_document.c.created_at,
        "file_size": stored_document.c.file_size,
        "file_name": stored_document.c.listed_name,
    },
    default_sort="-created_at",
)


def _named(table: Table) -> Select[Any]:
    return select(table.c.id).where(in_business(table), table.c.id == given("id", Uuid))


def _held(table: Table) -> str:
    return compiled(_named(table).with_for_update(read=True, key_share=True))


# Resources that a document may be linked to; locked until its record is committed. A posted entry
# needs no lock, since it is never deleted; its draft is.
TARGETS = {
    "journal_entry": (_held(tables.journal_draft), compiled(_named(tables.journal_entry))),
} | {
    kind: (_held(table),)
    for kind, table in (
        ("customer", tables.customer),
        ("invoice", tables.invoice),
        ("invoice_refund", tables.invoice_refund),
        ("customer_credit", tables.customer_credit),
        ("vendor", tables.vendor),
        ("bill", tables.bill),
        ("vendor_credit", tables.vendor_credit),
        ("vendor_refund", tables.vendor_refund),
        ("invoice_payment", tables.invoice_payment),
        ("bill_payment", tables.bill_payment),
        ("bank_transaction", tables.bank_transaction),
    )
}


class StoredFileStore(Store[StoredFile]):
    """The stored documents of one business."""

    table: ClassVar = stored_document
    noun: ClassVar = "document"
    rank: ClassVar = 14  # A record is never locked: it never changes.

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}),)

    def assemble(self, answers: Answers) -> list[StoredFile]:
        return [_file(row) for row in answers[0]]

    def attach(
        self,
        received: AcceptedFile,
        linked_type: str | None = None,
        linked_id: UUID | None = None,
    ) -> StoredFile:
        """Stage a file and its record; the transaction stores both or neither."""
        made = StoredFile(
            id=new_id(),
            created_at=self.scope.now,
            file_name=received.file_name,
            file_size=len(received.content),
            mime_type=received.mime_type,
            sha256=sha256(received.content).hexdigest(),
            document_type=received.document_type or DEFAULT_TYPES[linked_type],
            upload_source=received.upload_source,
            metadata={} if received.metadata is None else received.metadata,
            tags=received.tags,
            linked_type=linked_type,
            linked_id=linked_id,
            storage_key=new_key(),
        )
        staging = self.scope.staging
        staging.insert(stored_document, {name: getattr(made, name) for name in NAMES})
        self.scope.note_saved(stored_document, made)
        staging.contents[key_in(self.scope.business_id, made.storage_key)] = received.content
        return made

    def hold(self, linked_type: str, linked_id: UUID) -> Fetch[None]:
        """Lock the resource that a document will be linked to against deletion.

        Raises RuleViolation `reference_not_found`.
        """

        def answer(answers: Answers) -> None:
            if not any(answers):
                raise no_such_reference(linked_type, linked_id)

        texts = TARGETS[linked_type]
        return self.fetch(tuple(Query(text, {"id": linked_id}) for text in texts), answer)

    def latest(self, linked_ids: Collection[UUID]) -> Fetch[dict[UUID, StoredFile]]:
        """Find the newest document of each of several resources, by the resource's id.

        A document that this transaction attaches is the newest.
        """
        wanted = list(linked_ids)

        def answer(answers: Answers) -> dict[UUID, StoredFile]:
            found = [_file(row) for rows in answers for row in rows]
            mine = [each for each in self._attached() if each.linked_id in wanted]
            return {each.linked_id: each for each in [*found, *mine] if each.linked_id}

        queries = (Query(LATEST, {"ids": wanted}),) if wanted else ()
        return self.fetch(queries, answer)

    def all_of(self, linked_id: UUID) -> Fetch[list[StoredFile]]:
        """List the documents of one resource, newest first; at most 100."""
        query = Query(ALL_OF, {"linked_ids": [linked_id]})
        return self.fetch(
            (query,), lambda answers: self._by_linked([linked_id], answers)[linked_id]
        )

    def all_of_each(self, linked_ids: Collection[UUID]) -> Fetch[dict[UUID, list[StoredFile]]]:
        """List the documents of each of several resources like `all_of`, by the resource's id."""
        queries = (Query(ALL_OF, {"linked_ids": list(linked_ids)}),) if linked_ids else ()
        return self.fetch(queries, lambda answers: self._by_linked(linked_ids, answers))

    def _by_linked(
        self, linked_ids: Collection[UUID], answers: Answers
    ) -> dict[UUID, list[StoredFile]]:
        """Group documents by their resource; those that this transaction attached come first."""
        documents: dict[UUID | None, list[StoredFile]] = {id: [] for id in linked_ids}
        found = (_file(row) for rows in answers for row in rows)
        for each in (*reversed(self._attached()), *found):
            documents.get(each.linked_id, []).append(each)
        return {id: documents[id][:MOST_SHOWN] for id in linked_ids}

    def _attached(self) -> list[StoredFile]:
        """Return the documents that this transaction attaches, oldest first."""
        return [StoredFile(**row) for row in self.scope.staged_rows(stored_document)]

    def page(self, wanted: PageRequest) -> Fetch[Page[StoredFile]]:
        """List one page of the documents of the business."""
        return self.listed(LISTING, wanted, _file)


async def linked_file(pool: Pool, link: SignedLink) -> StoredFile:
    """Find the document of a signed link; raises NotFound, or NotAllowed if revoked."""
    async with reading(pool, LinkTenant(link)) as session:
        wanted = {"business_id": link.business_id, "ids": [link.document_id]}
        found = await Fetch(session, (Query(BY_ID, wanted),), lambda answers: answers[0])
    if not found:
        raise not_found("document")
    return _file(found[0])


def _file(row: Row) -> StoredFile:
    row["tags"] = tuple(row["tags"])
    return StoredFile(**row)
