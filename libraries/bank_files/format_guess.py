"""Detection of the format of a statement by its content, never by the name of its file."""

import re
from typing import Final, Literal

from libraries.bank_files.field_values import UTF_16, decoded, in_rows

BYTES_READ: Final = 64 * 1024

_CAMT = re.compile(r"urn:iso:std:iso:20022:[^\"'>]{0,40}camt\.05|<(?:\w{1,20}:)?BkToCstmr")
_OFX = re.compile(r"OFXHEADER|<OFX>")
_MT940 = re.compile(
    r"(?:^|\{4:)\s*:20:.*?^[ \t]*:(?:25P?|28C?|60[FM]|61|62[FM]):", re.MULTILINE | re.DOTALL
)


def is_text(content: bytes) -> bool:
    """Return whether a file is a plain text, and not a page, a spreadsheet or a binary file."""
    if content.startswith(UTF_16):
        return True
    return b"\0" not in content and content.lstrip()[:1] not in (b"<", b"{", b"[")


def guess(content: bytes) -> Literal["ofx", "camt053", "mt940"] | None:
    """Return the format of a file by its beginning; None for any other format, including CSV."""
    head = decoded(content[:BYTES_READ])
    if _OFX.search(head):
        return "ofx"
    if _CAMT.search(head):
        return "camt053"
    if _MT940.search(in_rows(head)):
        return "mt940"
    return None
