"""Uploaded files: which are accepted, and how their names are cleaned."""

import codecs
import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from types import MappingProxyType
from typing import Any, Final
from xml.parsers import expat

from accounting.errors import UnsupportedFile, ValidationError

# Detection of the type of a file by its content, never by its name or declared type.


PDF: Final = "application/pdf"
PNG: Final = "image/png"
JPEG: Final = "image/jpeg"
CSV: Final = "text/csv"
XML: Final = "application/xml"

# The file name endings of each type, the usual one first.
ENDINGS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {PDF: (".pdf",), PNG: (".png",), JPEG: (".jpg", ".jpeg"), CSV: (".csv",), XML: (".xml",)}
)

LOOKED_AT_BYTES = 64 * 1024
MOST_RECORDS = 200
DELIMITERS = ",;\t|"

_BLANKS = b" \t\r\n"
# HTML and SVG are XML as well, and may contain scripts: they are not accounting documents.
_SCRIPTED_ROOTS = frozenset({"html", "svg"})
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufffe\uffff]")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def kind_of(content: bytes) -> str | None:
    """Return the media type of a PDF, PNG, JPEG, CSV or XML file; None for anything else.

    `b"%PDF-1.7 ..."` is `application/pdf`, whatever its name; `b"PK..."` gives None.
    """
    head = content[:LOOKED_AT_BYTES]
    if head.removeprefix(codecs.BOM_UTF8).lstrip(_BLANKS).startswith(b"%PDF-"):
        return PDF
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return PNG
    if head.startswith(b"\xff\xd8\xff"):
        return JPEG
    whole = len(head) == len(content)
    if _is_xml(head, whole=whole):
        return XML
    return CSV if _is_csv(head, whole=whole) and _is_text(content) else None


def _is_xml(head: bytes, *, whole: bool) -> bool:
    """Return whether the beginning is well-formed XML with a root other than HTML or SVG."""
    roots: list[str] = []

    def begin(name: str, _attributes: dict[str, str]) -> None:
        if not roots:
            roots.append(name.rpartition(":")[2].lower())

    def refuse_entity(*_: object) -> None:
        raise ValueError("an entity could stand for a thousand others")

    parser = expat.ParserCreate()
    parser.StartElementHandler = begin
    parser.EntityDeclHandler = refuse_entity
    try:
        parser.Parse(head.lstrip(_BLANKS), whole)
    except (expat.ExpatError, ValueError, LookupError):
        return False
    return bool(roots) and roots[0] not in _SCRIPTED_ROOTS


def _is_csv(head: bytes, *, whole: bool) -> bool:
    """Return whether the beginning has columns, with any of the delimiters."""
    text = _text(head)
    if not whole:  # The last line may be incomplete.
        text = text.rpartition("\n")[0]
    if not text or text.lstrip()[:1] in ("", "{", "[", "<"):
        return False
    return any(_has_columns(text, delimiter) for delimiter in DELIMITERS)


def _has_columns(text: str, delimiter: str) -> bool:
    """Return whether at least two records, and at least half of all, have equally many fields.

    One field does not count. Banks put a few lines of their own above the table, so not every
    record has to have as many.
    """
    try:
        records = islice(csv.reader(StringIO(text, newline=""), delimiter=delimiter), MOST_RECORDS)
        sizes = [len(record) for record in records if record]
    except csv.Error:
        return False
    tables = Counter(size for size in sizes if size > 1)
    most = max(tables.values(), default=0)
    return most >= 2 and 2 * most >= len(sizes)


def _is_text(content: bytes) -> bool:
    if content.startswith(_UTF_16):
        return _CONTROL.search(_text(content)) is None
    return _BINARY.search(content) is None


def _text(raw: bytes) -> str:
    """Decode UTF-16 with a byte order mark, else UTF-8, else Latin-1."""
    if raw.startswith(_UTF_16):
        return raw[: len(raw) // 2 * 2].decode("utf-16", errors="replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


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
        "invoice_payment": "invoice_payment_document",
        "bill_payment": "bill_payment_document",
        "bank_transaction": "bank_transaction_document",
        "journal_entry": "journal_entry_document",
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
class AcceptedFile:
    """An accepted file: its type detected from its content, its name cleaned, the rest as sent."""

    content: bytes
    file_name: str
    mime_type: str
    document_type: str | None = None
    upload_source: str | None = None
    metadata: Any = None
    tags: tuple[str, ...] = ()


def receive(upload: Upload, field: str, **facts: Any) -> AcceptedFile:
    """Check an uploaded file, detect its type and clean its name.

    `field` is the path of the file in the request, such as `document.file`. Raises UnsupportedFile
    for a type that is not accepted, ValidationError for an empty file.
    """
    if not upload.content:
        raise ValidationError.fields(**{field: ["must not be empty"]})
    kind = kind_of(upload.content)
    if kind is None:
        raise UnsupportedFile(
            "unsupported_media_type",
            "The file is not a PDF, PNG, JPEG, CSV or XML file. Its content decides, not its name.",
            taken=sorted(ENDINGS),
        )
    return AcceptedFile(
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
