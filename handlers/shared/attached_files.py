"""Files attached to other records: check them in a body, store them, and serialize them."""

from typing import Any
from uuid import UUID

from access.links import LINK_LIFETIME_SECONDS, Links
from accounting.absent import Absent, or_else, or_none
from accounting.files import uploads
from accounting.files.uploads import AcceptedFile, Upload
from handlers.bodies import (
    BillCreate,
    BillReplace,
    CustomerCreate,
    CustomerCreditCreate,
    CustomerCreditReplace,
    CustomerUpdate,
    DocumentUpload,
    InvoiceCreate,
    InvoiceRefundCreate,
    InvoiceRefundForm,
    InvoiceReplace,
    VendorCreate,
    VendorCreditCreate,
    VendorCreditReplace,
    VendorRefundCreate,
    VendorRefundForm,
    VendorRefundUpdate,
)
from persistence.books import Books
from persistence.files.stored_files import StoredFile

BodyWithFile = (
    CustomerCreate
    | CustomerUpdate
    | VendorCreate
    | InvoiceCreate
    | InvoiceReplace
    | BillCreate
    | BillReplace
    | CustomerCreditCreate
    | CustomerCreditReplace
    | VendorCreditCreate
    | VendorCreditReplace
    | VendorRefundCreate
)
FormWithFile = InvoiceRefundForm | VendorRefundForm


def attached(body: BodyWithFile) -> AcceptedFile | None:
    """Check the file of a JSON body and return it; None if there is none.

    Handlers check the file before all else, since its type is known from the request alone. Raises
    UnsupportedFile.
    """
    return _attached(body["document"])


def attached_in_form(
    body: InvoiceRefundCreate | VendorRefundUpdate | FormWithFile,
) -> AcceptedFile | None:
    """Check the file of a JSON body or of a form and return it; raises UnsupportedFile."""
    sent = body["document"]
    if not isinstance(sent, Upload):
        return _attached(sent)
    form: FormWithFile = body  # type: ignore[assignment] # Only a form brings a part.
    return uploads.receive(
        sent,
        "document",
        document_type=or_none(form["document_type"]),
        upload_source=or_none(form["upload_source"]),
        metadata=or_none(form["document_metadata"]),
        tags=tuple(or_else(form["document_tags"], ())),
    )


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


def _attached(sent: DocumentUpload | Absent) -> AcceptedFile | None:
    if isinstance(sent, Absent):
        return None
    return uploads.receive(
        Upload(or_else(sent["file_name"], ""), "", sent["file"]),
        "document.file",
        document_type=or_none(sent["document_type"]),
        upload_source=or_none(sent["upload_source"]),
        metadata=or_none(sent["metadata"]),
        tags=tuple(or_else(sent["tags"], ())),
    )
