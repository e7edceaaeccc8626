"""Stored documents: files, alone or linked to another record."""

from uuid import UUID

from access.links import Links
from accounting.absent import or_else, or_none
from accounting.files import uploads
from handlers.bodies import DocumentForm
from handlers.results import Created, Reply
from handlers.shared import attached_files
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest
from persistence.files.stored_files import StoredFile


async def create_document(books: Books, body: DocumentForm, links: Links) -> Reply:
    """Store a file, and link it to the record that the body names, if any."""
    file = uploads.receive(
        body["file"],
        "file",
        document_type=or_none(body["document_type"]),
        upload_source=or_none(body["upload_source"]),
        metadata=or_none(body["metadata"]),
        tags=tuple(or_else(body["tags"], ())),
    )
    linked_type, linked_id = or_none(body["linked_type"]), or_none(body["linked_id"])
    if linked_type is not None and linked_id is not None:
        await books.files.hold(linked_type, linked_id)
    document = books.files.attach(file, linked_type, linked_id)
    return Created(shape(document, links))


async def list_documents(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List documents."""
    found = await books.files.page(page)
    return found.of(lambda document: shape(document, links))


async def get_document(books: Books, document_id: UUID, links: Links) -> Reply:
    """Return the record of one document, with a fresh link to its content."""
    return shape(await books.files.get(document_id), links)


def shape(document: StoredFile, links: Links) -> Reply:
    """Serialize a document."""
    return {
        "id": document.id,
        **(attached_files.summary(document, links) or {}),
        "document_type": document.document_type,
        "upload_source": document.upload_source,
        "metadata": document.metadata,
        "tags": document.tags,
        "linked_type": document.linked_type,
        "linked_id": document.linked_id,
        "created_at": document.created_at,
    }
