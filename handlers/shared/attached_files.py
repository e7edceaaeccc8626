"""Files as other desks attach and show them; the contract calls a stored one a document.

A body brings a file in one of two forms, and both come to the same: a `document` object with the
file in base64 (JSON), or a `document` part with `document_type`, `upload_source`,
`document_metadata` and `document_tags` beside it (multipart).
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from access.links import LINK_LIFETIME_SECONDS, Links
from accounting.files import uploads
from accounting.files.uploads import Received, Upload
from persistence.books import Books
from persistence.files.stored_files import StoredFile


def received(body: Mapping[str, Any] | None) -> Received | None:
    """Return the file that a body brings, None where it brings none; raises UnsupportedFile.

    A desk that may refuse for other reasons looks at the file first: its kind can be told from the
    request alone.
    """
    given = (body or {}).get("document")
    if given is None:
        return None
    if isinstance(given, Upload):
        facts = {name: (body or {}).get(f"document_{name}") for name in ("metadata", "tags")}
        return take(given, "document", {**(body or {}), **facts})
    sent = Upload(given.get("file_name", ""), "", given["file"])
    return take(sent, "document.file", given)


def take(upload: Upload, field: str, facts: Mapping[str, Any]) -> Received:
    """Look at a file, and take the facts that were sent along."""
    return uploads.receive(
        upload,
        field,
        document_type=facts.get("document_type"),
        upload_source=facts.get("upload_source"),
        metadata=facts.get("metadata"),
        tags=tuple(facts.get("tags") or ()),
    )


def attach(
    books: Books, file: Received | None, linked_type: str, linked_id: UUID
) -> StoredFile | None:
    """Store the file that a body brought and link it; do nothing where it brought none."""
    if file is None:
        return None
    return books.files.attach(file, linked_type, linked_id)


def summary(document: StoredFile | None, links: Links) -> dict[str, Any] | None:
    """Show a document in short, with a fresh link to its content; None where there is none."""
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
