"""What is read from a bank's file, and what all readers need: numbers, letters, IBANs."""

import codecs
import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from stdnum import iban

MOST_LINES: Final = 10_000
LONGEST_DESCRIPTION: Final = 2_000
LONGEST_NAME: Final = 255

# What banks write where there is nothing to write.
NO_REFERENCE: Final = frozenset(
    {"", "NONREF", "NOTPROVIDED", "NOT PROVIDED", "NOREF", "EREF", "KREF", "PREF", "MARF", "NONE"}
)

_CODECS: Final = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "1252": "cp1252",
    "cp1252": "cp1252",
    "windows-1252": "cp1252",
    "iso-8859-1": "cp1252",  # Programs that say so write the euro sign of cp1252 all the same.
    "8859-1": "cp1252",
    "iso-8859-15": "iso-8859-15",
}
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UNSEEN = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ufeff]+")
_PLAIN_NUMBER = re.compile(r"[+-]?(?:\d{1,18}(?:[.,]\d{0,12})?|[.,]\d{1,12})", re.ASCII)
_COUNTRY = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", re.ASCII)


class Unreadable(Exception):
    """The file as a whole cannot be read; `field` of the form is where the fault lies."""

    def __init__(self, why: str, field: str = "file") -> None:
        super().__init__(why)
        self.why = why
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLine:
    """One line as a bank wrote it: its amount in the currency's own unit, below zero going out.

    `iban` is the account that the statement is of, where it tells and is an IBAN.
    """

    booked_on: date
    amount: Decimal
    external_id: str | None = None
    currency: str | None = None
    description: str | None = None
    counterparty_name: str | None = None
    reference: str | None = None
    iban: str | None = None


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be read, and why, as a sentence."""

    why: str


ReadLine = FileLine | BadLine


def decoded(content: bytes, declared: str = "") -> str:
    """Turn bytes into text: as declared, else UTF-8, else the letters of Windows; never fails."""
    if content.startswith(_UTF_16):
        return content.decode("utf-16", errors="replace")
    said = _CODECS.get(declared.strip().lower())
    for codec in ("utf-8-sig", said, "cp1252"):  # What is UTF-8 by its bytes is nothing else.
        try:
            return content.decode(codec or "utf-8")
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


def tidy(text: str | None, longest: int = LONGEST_NAME) -> str | None:
    """Put a text in one line of at most so many letters; None where nothing is left of it."""
    return _UNSEEN.sub(" ", text or "").strip()[:longest].rstrip() or None


def reference_of(*texts: str | None) -> str | None:
    """Return the first text that is a reference, and not a word for there being none."""
    tidied = (tidy(text) for text in texts)
    return next((text for text in tidied if text and text.upper() not in NO_REFERENCE), None)


def number(text: str | None) -> Decimal:
    """Read a number as formats for programs have it: -12.50, 12,50 or 12,; else ValueError."""
    stripped = (text or "").strip()
    if not _PLAIN_NUMBER.fullmatch(stripped):
        raise ValueError("The amount is not a number.")
    return Decimal(stripped.replace(",", "."))


def day(text: str | None) -> date:
    """Read the day that `20260715...` or `2026-07-15...` begins with; ValueError for another."""
    digits = (text or "").strip()[:10].replace("-", "")[:8]
    if len(digits) != 8 or not (digits.isascii() and digits.isdecimal()):
        raise ValueError("The date is not a day.")
    try:
        return date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        raise ValueError("The date is not a day.") from None


def iban_in(text: str | None) -> str | None:
    """Return the IBAN that a text begins with, None for an account number of another kind.

    Banks write the currency behind it, as in NL91ABNA0417164300EUR.
    """
    compact = re.sub(r"[\s/-]", "", text or "").upper()[:40]
    for candidate in (compact, compact[:-3]):
        if _COUNTRY.fullmatch(candidate) and iban.is_valid(candidate):
            return candidate
    return None
