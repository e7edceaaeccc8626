"""Files sent with other records or alone, in JSON or in a form."""

from dataclasses import dataclass
from uuid import UUID

from accounting.absent import Absent, or_else, or_none
from accounting.files import uploads
from accounting.files.uploads import AcceptedFile, Upload
from handlers.bodies import (
    BillCreate,
    BillPaymentCreate,
    BillReplace,
    BillUpdate,
    CustomerCreate,
    CustomerCreditCreate,
    CustomerCreditReplace,
    CustomerCreditUpdate,
    CustomerUpdate,
    DocumentForm,
    DocumentUpload,
    InvoiceCreate,
    InvoicePaymentCreate,
    InvoiceRefundCreate,
    InvoiceRefundForm,
    InvoiceReplace,
    InvoiceUpdate,
    JournalEntryCreate,
    JournalEntryReplace,
    VendorCreate,
    VendorCreditCreate,
    VendorCreditReplace,
    VendorCreditUpdate,
    VendorRefundCreate,
    VendorRefundForm,
    VendorRefundUpdate,
)

BodyWithFile = (
    CustomerCreate
    | CustomerUpdate
    | VendorCreate
    | InvoiceCreate
    | InvoiceReplace
    | InvoiceUpdate
    | BillCreate
    | BillReplace
    | BillUpdate
    | CustomerCreditCreate
    | CustomerCreditReplace
    | CustomerCreditUpdate
    | VendorCreditCreate
    | VendorCreditReplace
    | VendorCreditUpdate
    | VendorRefundCreate
    | InvoicePaymentCreate
    | BillPaymentCreate
    | JournalEntryCreate
    | JournalEntryReplace
)
FormWithFile = InvoiceRefundForm | VendorRefundForm


@dataclass(frozen=True, slots=True)
class StoreFile:
    """A file sent alone, and the record to which it is linked."""

    file: AcceptedFile
    linked_type: str | None
    linked_id: UUID | None


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


def store_file(body: DocumentForm) -> StoreFile:
    """Check a file that is sent alone; raises UnsupportedFile."""
    received = uploads.receive(
        body["file"],
        "file",
        document_type=or_none(body["document_type"]),
        upload_source=or_none(body["upload_source"]),
        metadata=or_none(body["metadata"]),
        tags=tuple(or_else(body["tags"], ())),
    )
    return StoreFile(received, or_none(body["linked_type"]), or_none(body["linked_id"]))


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
