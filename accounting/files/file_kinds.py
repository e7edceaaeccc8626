"""Detection of the type of a file by its content, never by its name or declared type.

Only five types are accepted. Nothing is unpacked, nothing that a file refers to is fetched, and
only the beginning is parsed, so that a hostile file costs no more than any other.
"""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Mapping
from io import StringIO
from itertools import islice
from types import MappingProxyType
from typing import Final
from xml.parsers import expat

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
