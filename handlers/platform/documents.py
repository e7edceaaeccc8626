"""Stored documents: files, alone or linked to another record."""

from uuid import UUID

from access.links import Links
from handlers.bodies import DocumentForm
from handlers.results import Created, Reply
from handlers.shared import attached_files, file_commands
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest
from persistence.files.stored_files import StoredFile


async def create_document(books: Books, body: DocumentForm, links: Links) -> Reply:
    """Store a file, and link it to the record that the body names, if any."""
    command = file_commands.store_file(body)
    if command.linked_type is not None and command.linked_id is not None:
        await books.files.hold(command.linked_type, command.linked_id)
    document = books.files.attach(command.file, command.linked_type, command.linked_id)
    return Created(serialize(document, links))


async def list_documents(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List documents."""
    found = await books.files.page(page)
    return found.of(lambda document: serialize(document, links))


async def get_document(books: Books, document_id: UUID, links: Links) -> Reply:
    """Return the record of one document, with a fresh link to its content."""
    return serialize(await books.files.get(document_id), links)


def serialize(document: StoredFile, links: Links) -> Reply:
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
