"""Values in the fields of bank files: texts, numbers, dates, references and IBANs."""

import codecs
import re
from datetime import date
from decimal import Decimal
from typing import Final

from stdnum import iban

from libraries.bank_files.file_lines import LONGEST_NAME

# Texts that banks write if there is no reference.
NO_REFERENCE: Final = frozenset(
    {"", "NONREF", "NOTPROVIDED", "NOT PROVIDED", "NOREF", "EREF", "KREF", "PREF", "MARF", "NONE"}
    | {"EREF+", "KREF+", "PREF+", "MREF+", "//", "/"}
)

_CODECS: Final = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "1252": "cp1252",
    "cp1252": "cp1252",
    "windows-1252": "cp1252",
    "iso-8859-1": "cp1252",  # Programs declare it but write the euro sign of cp1252.
    "8859-1": "cp1252",
    "iso-8859-15": "iso-8859-15",
}
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_INVISIBLE = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ufeff]+")
_PLAIN_NUMBER = re.compile(r"[+-]?(?:\d{1,18}(?:[.,]\d{0,12})?|[.,]\d{1,12})", re.ASCII)
LONGEST_ACCOUNT: Final = 60
_COUNTRY = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", re.ASCII)


def decoded(content: bytes, declared: str = "") -> str:
    """Decode bytes as UTF-16 or UTF-8 if they are valid, else as declared, else as cp1252."""
    if content.startswith(UTF_16):
        return content.decode("utf-16", errors="replace")
    known = _CODECS.get(declared.strip().lower(), "cp1252")
    for codec in ("utf-8-sig", known, "cp1252"):  # Text in other encodings is rarely valid UTF-8.
        try:
            return content.decode(codec)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


def in_rows(text: str) -> str:
    """Return a text with a line feed at the end of each row."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def tidy(text: str | None, longest: int = LONGEST_NAME) -> str | None:
    """Return a text on one line of at most `longest` characters; None if it is blank."""
    return _INVISIBLE.sub(" ", text or "").strip()[:longest].rstrip() or None


def reference_of(*texts: str | None) -> str | None:
    """Return the first text that is a reference; words such as NONREF are none."""
    tidied = (tidy(text) for text in texts)
    return next((text for text in tidied if text and text.upper() not in NO_REFERENCE), None)


def number(text: str | None) -> Decimal:
    """Parse a number such as -12.50, 12,50 or 12,; raises ValueError for another text."""
    stripped = (text or "").strip()
    if not _PLAIN_NUMBER.fullmatch(stripped):
        raise ValueError("The amount is not a number.")
    return Decimal(stripped.replace(",", "."))


def day(text: str | None) -> date:
    """Parse the date at the start of `20260715...` or `2026-07-15...`; ValueError without one."""
    digits = (text or "").strip()[:10].replace("-", "")[:8]
    if len(digits) != 8 or not (digits.isascii() and digits.isdecimal()):
        raise ValueError("The date is not valid.")
    try:
        return date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        raise ValueError("The date is not valid.") from None


def account_in(text: str | None) -> str | None:
    """Return an account number of any kind: an IBAN in its usual form, another one as written."""
    parts = (text or "")[:LONGEST_ACCOUNT].split("/")  # A BIC may come first.
    return next(filter(None, map(iban_in, (text, *parts))), None) or tidy(text, LONGEST_ACCOUNT)


def iban_in(text: str | None) -> str | None:
    """Return the IBAN that a text consists of; None for an account number of another kind.

    Some banks append the currency: NL91ABNA0417164300EUR.
    """
    compact = re.sub(r"[\s/-]", "", text or "").upper()[:40]
    for candidate in (compact, compact[:-3]):
        if _COUNTRY.fullmatch(candidate) and iban.is_valid(candidate):
            return candidate
    return None
