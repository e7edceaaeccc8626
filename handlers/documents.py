"""Stored documents: files, alone or linked to what they belong to."""

from typing import Any
from uuid import UUID

from access.links import Links
from handlers.results import Created, Reply
from handlers.shared import attached_files
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest
from persistence.files.stored_files import StoredFile


async def create_document(books: Books, body: dict[str, Any], links: Links) -> Reply:
    """Store a file, and link it where the body says to what."""
    file = attached_files.take(body["file"], "file", body)
    linked_type, linked_id = body.get("linked_type"), body.get("linked_id")
    if linked_type is not None and linked_id is not None:
        await books.files.hold(linked_type, linked_id)
    document = books.files.attach(file, linked_type, linked_id)
    return Created(shape(document, links))


async def list_documents(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List documents."""
    found = await books.files.page(page)
    return found.of(lambda document: shape(document, links))


async def get_document(books: Books, document_id: UUID, links: Links) -> Reply:
    """Read one document's record, with a fresh link to its content."""
    return shape(await books.files.get(document_id), links)


def shape(document: StoredFile, links: Links) -> Reply:
    """Show a document as the contract describes it."""
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
