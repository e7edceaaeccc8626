"""Files attached to other records: store them, and serialize them there."""

from typing import Any
from uuid import UUID

from access.links import LINK_LIFETIME_SECONDS, Links
from accounting.files.uploads import AcceptedFile
from persistence.books import Books
from persistence.files.stored_files import StoredFile


def attach(
    books: Books, file: AcceptedFile | None, linked_type: str, linked_id: UUID
) -> StoredFile | None:
    """Store and link the file of a body; return None if the body has none."""
    if file is None:
        return None
    return books.files.attach(file, linked_type, linked_id)


def summary(document: StoredFile | None, links: Links) -> dict[str, Any] | None:
    """Serialize a document in brief, with a fresh link to its content; None if there is none."""
    if document is None:
        return None
    return {
        "url": links.to(document.id),
        "expires_in": LINK_LIFETIME_SECONDS,
        "document_id": document.id,
        "file_name": document.file_name,
        "file_size": document.file_size,
        "mime_type": document.mime_type,
    }
