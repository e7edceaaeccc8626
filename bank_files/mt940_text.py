"""MT940, the statement of SWIFT, read by the library mt-940.

The library reads one whole text and stops at the first fault in it, so it is given one line (`:61:`
with its `:86:`) at a time: a line that it cannot read fails alone.
"""

import logging
import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from typing import Any, Final

from mt940.models import Amount, Transactions
from mt940.options import Options
from mt940.tags import Statement, Tag

from bank_files.lines import (
    LONGEST_DESCRIPTION,
    MOST_LINES,
    BadLine,
    FileLine,
    ReadLine,
    Unreadable,
    decoded,
    iban_in,
    reference_of,
    tidy,
)

# What it cannot read the library writes to the log, with names and amounts in it.
logging.getLogger("mt940").setLevel(logging.CRITICAL + 1)

OPTIONS: Final = Options.all()


class QuietStatement(Statement):
    """Field 61 as the library reads it, without its search for where a wrong one is wrong.

    That takes as long as a hundred lines that are right.
    """

    def _debug_partial_match(self, value: str) -> None:
        del value


TAGS: Final[dict[int | str, Tag]] = {Statement.id: QuietStatement()}
LONGEST_ENTRY: Final = 20_000

_STATEMENT = re.compile(r"^:20:", re.MULTILINE)
_ENTRY = re.compile(r"^:61:", re.MULTILINE)
_DATED = re.compile(r":61:\s*\d{6}")
_AFTER_ENTRIES = re.compile(r"^(?::6[245][FM]?:|-\}?\s*$)", re.MULTILINE)
_ACCOUNT = re.compile(r"^:25:(.{0,60})", re.MULTILINE)
_CURRENCY = re.compile(r"^:60[FM]:[CD]\d{6}([A-Z]{3})", re.MULTILINE)
# Fields between slashes, as Dutch banks write them: /TRTP/..../NAME/J. Jansen/REMI/Factuur 7.
_FIELDS = re.compile(
    r"/(TRTP|IBAN|BIC|NAME|REMI|EREF|MARF|CSID|CNTP|ORDP|BENM|ISDT|PREF|RTRN|PURP|ULTD|ULTC|SVCL|ADDR)/"
)
_UNSTRUCTURED = re.compile(r"^(?:USTD|STRD/CUR|STRD/ISO|STRD)/+")


def read(content: bytes) -> list[ReadLine]:
    """Read every line of every statement in a file; raises Unreadable."""
    text = decoded(content).replace("\r\n", "\n").replace("\r", "\n")
    statements = pieces(_STATEMENT, text)
    if not statements:
        raise Unreadable("is no MT940: no line of it begins with :20:")
    lines: list[ReadLine] = []
    for statement in statements:
        lines += read_statement(statement)
        if len(lines) > MOST_LINES:
            raise Unreadable(f"holds more than {MOST_LINES:,} lines")
    return lines


def read_statement(statement: str) -> Iterator[ReadLine]:
    """Read the lines of one statement, which begins with its `:20:`."""
    account, currency = _ACCOUNT.search(statement), _CURRENCY.search(statement)
    iban = iban_in(account[1]) if account else None
    for entry in pieces(_ENTRY, statement):
        after = _AFTER_ENTRIES.search(entry)
        whole = entry[: after.start()] if after else entry
        yield read_entry(whole, currency[1] if currency else None, iban)


def pieces(beginning: re.Pattern[str], text: str) -> list[str]:
    """Cut a text at each beginning of something; what stands before the first is left out."""
    starts = [found.start() for found in beginning.finditer(text)]
    return [text[start:end] for start, end in pairwise([*starts, len(text)])]


def read_entry(entry: str, currency: str | None, iban: str | None) -> ReadLine:
    """Read one `:61:` with its `:86:`."""
    if len(entry) > LONGEST_ENTRY or not _DATED.match(entry):
        return BadLine("The line is not as MT940 has it.")
    try:
        [transaction] = Transactions(tags=TAGS, options=OPTIONS).parse(entry)
        return line(transaction.data, currency, iban)
    except Exception:  # The library's faults have no common kind: RuntimeError, ValueError, ...
        return BadLine("The line is not as MT940 has it.")


def line(data: dict[str, Any], currency: str | None, iban: str | None) -> FileLine:
    """Make a line of what the library has read; its amount is signed, reversals too."""
    amount, booked_on = data["amount"], data.get("entry_date") or data["date"]
    assert isinstance(amount, Amount)
    details = data.get("transaction_details") or ""
    told = slashed(details) if details else structured(data)
    return FileLine(
        booked_on=date(booked_on.year, booked_on.month, booked_on.day),
        amount=amount.amount,
        external_id=reference_of(data.get("bank_reference")),
        currency=currency,
        description=tidy(told.get("description"), LONGEST_DESCRIPTION),
        counterparty_name=tidy(told.get("name")),
        reference=reference_of(told.get("reference"), data.get("customer_reference")),
        iban=iban,
    )


def structured(data: dict[str, Any]) -> dict[str, str | None]:
    """Take German details (`166?00...?20...?32...`), which the library has taken apart."""
    purpose = [data.get("purpose"), data.get("additional_purpose")]
    told = " ".join(part for part in purpose if part) or data.get("posting_text")
    return {
        "description": told,
        "name": data.get("applicant_name"),
        "reference": data.get("end_to_end_reference"),
    }


def slashed(details: str) -> dict[str, str | None]:
    """Take details apart that have fields between slashes; others are told as they are."""
    # A field goes on in the next line without a blank: the lines are of a fixed length.
    text = "".join(details.split("\n"))
    pieces = _FIELDS.split(text)
    if len(pieces) < 3:
        return {"description": details}
    told: dict[str, str] = {}
    for name, value in zip(pieces[1::2], pieces[2::2], strict=True):
        told.setdefault(name, value.strip("/"))
    # IBAN, BIC, name and town of the other side, in this order.
    other = told.get("CNTP", "").split("/")
    return {
        "description": _UNSTRUCTURED.sub("", told.get("REMI", "")) or details,
        "name": told.get("NAME") or (other[2] if len(other) > 2 else None),
        "reference": told.get("EREF"),
    }
