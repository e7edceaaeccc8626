"""Uploaded files: which are accepted, and how their names are cleaned."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from accounting.errors import Malformed, UnsupportedFile
from accounting.files.file_kinds import ENDINGS, kind_of

LONGEST_NAME = 255
LONGEST_ENDING = 16

# The default type of a document, by the kind of resource that it is linked to.
DEFAULT_TYPES: Final[Mapping[str | None, str]] = MappingProxyType(
    {
        "customer": "customer_document",
        "invoice": "invoice_document",
        "invoice_refund": "refund",
        "customer_credit": "customer_credit_document",
        "vendor": "vendor_document",
        "bill": "bill_document",
        "vendor_credit": "vendor_credit_document",
        "vendor_refund": "vendor_refund",
        None: "document",
    }
)

_LINES = re.compile(r"[\t\r\n]")
# Control characters, marks of the text direction, lone surrogates.
_UNSEEN = frozenset({"Cc", "Cf", "Cs"})


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it was sent; its name and content type are not verified."""

    file_name: str
    content_type: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """An accepted file: its type detected from its content, its name cleaned, the rest as sent."""

    content: bytes
    file_name: str
    mime_type: str
    document_type: str | None = None
    upload_source: str | None = None
    metadata: Any = None
    tags: tuple[str, ...] = ()


def receive(upload: Upload, field: str, **facts: Any) -> Received:
    """Check an uploaded file, detect its type and clean its name.

    `field` is the path of the file in the request, such as `document.file`. Raises UnsupportedFile
    for a type that is not accepted, Malformed for an empty file.
    """
    if not upload.content:
        raise Malformed.fields(**{field: ["must not be empty"]})
    kind = kind_of(upload.content)
    if kind is None:
        raise UnsupportedFile(
            "unsupported_media_type",
            "The file is not a PDF, PNG, JPEG, CSV or XML file. Its content decides, not its name.",
            taken=sorted(ENDINGS),
        )
    return Received(
        content=upload.content,
        file_name=clean_name(upload.file_name, kind),
        mime_type=kind,
        **facts,
    )


def clean_name(name: str, kind: str) -> str:
    """Return the last component of a path, without invisible characters.

    `..\\secret/Invoice\\u202e\\r\\n 7.pdf` becomes `Invoice 7.pdf`; an empty name becomes
    `document` with the ending of its type.
    """
    last = re.split(r"[/\\]", _LINES.sub(" ", name))[-1]
    seen = "".join(letter for letter in last if unicodedata.category(letter) not in _UNSEEN)
    shown = unicodedata.normalize("NFC", " ".join(seen.split())).strip(" .")
    if not shown:
        return f"document{ENDINGS[kind][0]}"
    if len(shown) <= LONGEST_NAME:
        return shown
    stem, dot, ending = shown.rpartition(".")
    if not dot or len(ending) > LONGEST_ENDING:
        return shown[:LONGEST_NAME].rstrip(" .")
    return f"{stem[: LONGEST_NAME - len(ending) - 1]}.{ending}"


def download_name(name: str, kind: str) -> str:
    """Return a name whose ending matches the type, so that a file is opened as it was served.

    `invoice.pdf` stays; XML that was sent as `page.html` is saved as `page.html.xml`.
    """
    if name.lower().endswith(ENDINGS[kind]):
        return name
    return name + ENDINGS[kind][0]
