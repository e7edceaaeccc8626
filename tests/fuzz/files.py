"""Files that the house keeps: what a schema calls bytes has to be one of these kinds.

The contract can name the kinds of a file and cannot describe them, so what Schemathesis makes up is
no file; each case that is meant to be valid gets a real one.
"""

import base64
import binascii
from typing import Any

from hypothesis import strategies

from accounting.file_kinds import kind_of

KINDS = {
    "pdf": b"%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\n%%EOF\n",
    "png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(17),
    "jpg": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01" + bytes(40),
    "csv": b"date,amount\r\n2026-07-01,12.50\r\n2026-07-02,3.00\r\n",
    "xml": b"<?xml version='1.0'?>\n<Invoice><Total>12.50</Total></Invoice>\n",
}
UPLOADS = {"create_document": "file", "create_invoice_refund": "document"}

base64_text = strategies.sampled_from(
    [base64.b64encode(content).decode() for content in KINDS.values()]
)


def real_files(name: str, media_type: str, body: dict[str, Any], drawn: int) -> None:
    """Put a real file wherever a body of an operation has one; `drawn` chooses its kind."""
    real = [*KINDS.values()][drawn % len(KINDS)]
    field = UPLOADS.get(name)
    if field in body and media_type == "multipart/form-data":
        body[field] = body[field] if is_real(body[field]) else real
    elif isinstance(body.get("document"), dict) and not is_real_text(body["document"].get("file")):
        body["document"]["file"] = base64.b64encode(real).decode()


def is_real(content: Any) -> bool:
    """Whether bytes are a file that is kept."""
    return isinstance(content, bytes) and kind_of(content) is not None


def is_real_text(text: Any) -> bool:
    """Whether a base64 text holds such a file."""
    try:
        return is_real(binascii.a2b_base64(text, strict_mode=True))
    except (TypeError, ValueError):
        return False
