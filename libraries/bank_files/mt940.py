"""MT940, the statement of SWIFT: a field 61 for each line, and a field 86 with its details.

Field 61 is the same everywhere. Field 86 differs by country: fields between slashes (Dutch banks),
numbered fields that contain keywords (German banks), or plain text.
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date
from itertools import chain, pairwise
from typing import Final, NamedTuple

from libraries.bank_files.field_values import (
    account_in,
    decoded,
    in_rows,
    number,
    reference_of,
    tidy,
)
from libraries.bank_files.file_lines import (
    LONGEST_DESCRIPTION,
    BadLine,
    FileLine,
    ReadLine,
    Unreadable,
)

LONGEST_ENTRY: Final = 20_000
OTHER_YEAR_AFTER_DAYS: Final = 330

_STATEMENT = re.compile(r"^:20:", re.MULTILINE)
# The header of SWIFT's block 4, and blanks in front of a field.
_BEFORE_FIELDS = re.compile(r"(?:\n[ \t]*|\{4:\s*)(?=:\d\d[A-Z]?:)", re.ASCII)
_PARTS = re.compile(r"^:(?:25P?|28C?|60[FM]|61|62[FM]):", re.MULTILINE)
_ENTRY = re.compile(r"^:61:", re.MULTILINE)
_AFTER_ENTRIES = re.compile(r"^(?::6[245][FM]?:|-\}?\s*$)", re.MULTILINE)
_FIELD = re.compile(r"^:(13|21|25|28|34|60|61|86|90|NS)[A-Z]?:", re.MULTILINE)
_ACCOUNT = re.compile(r"^:25P?:(.{0,60})", re.MULTILINE)
_CURRENCY = re.compile(r"^:60[FM]:[CD]\d{6}([A-Z]{3})", re.MULTILINE)
# The words for no reference come first: of NONREF without a type code, N is no type code.
_FIELD_61 = re.compile(
    r"(?P<year>\d\d)(?P<month>\d\d)(?P<day>\d\d)"
    r"(?:(?P<entry_month>\d\d)(?P<entry_day>\d\d)|(?:\d\d|\s\s){0,2}\s?)"
    r"(?P<mark>[RE]?[DC])[A-Z]?[\n ]?(?P<amount>[\d,]{1,15})(?![\d.,])[ ]?"
    r"(?:(?!NONREF|NOREF)(?:[NSF][A-Z0-9 ]{3}|[A-Z][A-Z0-9]{3}(?=NONREF)))?"
    r"(?P<references>[^\n]*)(?P<rows>(?:\n.*)*)",
    re.ASCII | re.IGNORECASE,
)
# Old statements pad the reference with blanks; the name of the counterparty follows.
_PADDED = re.compile(r"(NONREF(?= )|\S.*?(?=  ))(.*)", re.IGNORECASE)
# Fields between slashes, as in /TRTP/.../NAME/J. Jansen/REMI/Factuur 7.
_SLASHED = re.compile(
    r"/(TRTP|IBAN|BIC|NAME|REMI|EREF|MARF|CSID|CNTP|ORDP|BENM|ISDT|PREF|RTRN|PURP|ULTD|ULTC|SVCL|ADDR"
    r"|KREF|RREF|OCMT|CHGS|EXCH)/"
)
_UNSTRUCTURED = re.compile(r"^(?:USTD|STRD/CUR|STRD/ISO|STRD)/+")
# Numbered fields, as in 166?00GUTSCHRIFT?20EREF+RE-7?21SVWZ+Rechnung 7?32Max Muster. Other signs
# than ? are usual in other countries; a slash only after the three digits of the booking code.
_NUMBERED = re.compile(r"(?:\d{3})?(?P<sign>[?>~^<|])\d\d|\d{3}(?P<slash>/)\d\d(?!/)", re.ASCII)
_KEYWORD = re.compile(
    r"(IBAN|BIC |EREF|MREF|CRED|PURP|SVWZ|MDAT|ABWA|ABWE|SQTP|ORCR|ORMR|DDAT|KREF|DEBT|COAM|OAMT)\+"
)


class Details(NamedTuple):
    """The contents of a field 86; `customer_reference` continues the reference of field 61."""

    description: str | None
    name: str | None = None
    reference: str | None = None
    customer_reference: str = ""


def read(content: bytes) -> Iterator[ReadLine]:
    """Read every line of every statement in a file; raises Unreadable."""
    text = _BEFORE_FIELDS.sub("\n", "\n" + in_rows(decoded(content)))
    if not _STATEMENT.search(text):
        raise Unreadable("is not MT940: no line begins with :20:")
    if not _PARTS.search(text):
        raise Unreadable("has no MT940 statement: only :20: is there")
    for statement in pieces(_STATEMENT, text):
        if ":61:" in statement:
            yield from read_statement(statement)


def read_statement(statement: str) -> Iterator[ReadLine]:
    """Read the lines of one statement, which begins with its `:20:`."""
    named, currency = _ACCOUNT.search(statement), _CURRENCY.search(statement)
    account = account_in(named[1]) if named else None
    for entry in pieces(_ENTRY, statement):
        after = _AFTER_ENTRIES.search(entry)
        whole = entry[: after.start()] if after else entry
        try:
            line = read_entry(whole, currency[1] if currency else None, account)
        except ValueError:
            yield BadLine("The line is not valid MT940.")
        else:
            if line is not None:
                yield line


def pieces(beginning: re.Pattern[str], text: str) -> Iterator[str]:
    """Split a text at each match of `beginning`; the text before the first match is omitted."""
    starts = (found.start() for found in beginning.finditer(text))
    return (text[start:end] for start, end in pairwise(chain(starts, [len(text)])))


def read_entry(entry: str, currency: str | None, account: str | None) -> FileLine | None:
    """Read one `:61:` with its `:86:`; None for an entry that the bank only expects.

    Raises ValueError for one that cannot be read.
    """
    if len(entry) > LONGEST_ENTRY:
        raise ValueError(len(entry))
    rows = (row.rstrip() for row in entry.split("\n"))
    _, *parts = _FIELD.split("\n".join(row for row in rows if row))
    fields = [(name, value.strip()) for name, value in zip(parts[::2], parts[1::2], strict=True)]
    line = fields[0][1]
    found = _FIELD_61.fullmatch(line)
    if not found:
        raise ValueError(line)
    mark = found["mark"].upper()
    if mark.startswith("E"):
        return None
    amount = number(found["amount"])
    own = references(found["references"], found["rows"])
    told = {each: [value for name, value in fields if name == each] for each in ("86", "NS")}
    said = details("\n".join(told["86"])) if told["86"] else own_details("\n".join(told["NS"]))
    return FileLine(
        booked_on=booking_day(found),
        amount=-amount if mark in ("D", "RC") else amount,
        external_id=own.bank,
        currency=currency,
        description=tidy(said.description or own.text, LONGEST_DESCRIPTION),
        counterparty_name=tidy(said.name),
        reference=reference_of(
            said.reference, " ".join(filter(None, (own.customer, said.customer_reference)))
        ),
        account=account,
    )


class References(NamedTuple):
    """The end of a field 61: the references of customer and bank, and a text of the bank."""

    customer: str | None
    bank: str | None
    text: str | None


def references(first: str, more: str) -> References:
    """Read the end of a field 61: `customer//bank`, and the rows below it.

    Both references may be longer than the standard allows. Rows that begin with a slash are codes.
    """
    if more.startswith("\n//"):  # The reference of the bank is in a row of its own.
        first, _, more = f"{first}{more[1:]}".partition("\n")
        more = f"\n{more}"
    customer, _, bank = first.partition("//")
    padded = _PADDED.match(customer)
    after = ""
    if padded:
        customer, after = padded.groups()
    texts = [after, *(row for row in more.split("\n") if not row.startswith("/"))]
    return References(reference_of(customer), reference_of(bank), tidy(" ".join(texts)))


def booking_day(found: re.Match[str]) -> date:
    """Return the entry date of a field 61, else its value date; raises ValueError for no such day.

    An entry date has no year: 1231 with a value date of 260101 is in 2025. Banks that count 30 days
    to a month have a value date of 30 February, which becomes its last day.
    """
    year, month, day = (int(found[name]) for name in ("year", "month", "day"))
    year += 2000
    value_date = date(year, month, min(day, monthrange(year, 2)[1]) if month == 2 else day)
    if found["entry_month"] is None:
        return value_date
    entry_date = date(year, int(found["entry_month"]), int(found["entry_day"]))
    days = (value_date - entry_date).days
    if abs(days) < OTHER_YEAR_AFTER_DAYS:
        return entry_date
    return entry_date.replace(year=year + (1 if days > 0 else -1))


def details(text: str) -> Details:
    """Read a field 86 in any of its notations."""
    # Rows have a fixed length: a field continues in the next one without a blank.
    joined = text.replace("\n", "")
    if found := _NUMBERED.match(joined):
        return numbered(joined, found["sign"] or found["slash"])
    if _KEYWORD.match(joined):
        return numbered(f"?20{joined}", "?")
    parts = _SLASHED.split(joined)
    return slashed(parts, text) if len(parts) > 1 else Details(text)


def own_details(text: str) -> Details:
    """Read a field NS: the purpose in rows 01 to 14, the name of the counterparty in 15 and 16."""
    rows = [(row[:2], row[2:].strip()) for row in text.split("\n")]
    purpose = " ".join(value for number, value in rows if "01" <= number <= "14")
    return Details(purpose, " ".join(value for number, value in rows if number in ("15", "16")))


def slashed(parts: list[str], text: str) -> Details:
    """Read fields between slashes; without a REMI field the whole text is the description."""
    told: dict[str, str] = {}
    for name, value in zip(parts[1::2], parts[2::2], strict=True):
        told.setdefault(name, value.strip("/"))
    # IBAN, BIC, name and town of the counterparty, in this order.
    other = told.get("CNTP", "").split("/")
    return Details(
        description=_UNSTRUCTURED.sub("", told.get("REMI", "")) or text,
        name=told.get("NAME") or (other[2] if len(other) > 2 else None),
        reference=told.get("EREF"),
    )


def numbered(text: str, sign: str) -> Details:
    """Read numbered fields: purpose in 20 to 29 and 60 to 65, else in 00; name in 32 and 33."""
    values = fields_of(text, sign)
    purpose = "".join(
        value if field == "20" else without_label(value)
        for field, value in values.items()
        if field.startswith("2")
    )
    first, *parts = _KEYWORD.split(purpose)
    keywords = dict(zip(parts[::2], parts[1::2], strict=True))
    purpose = keywords.get("SVWZ", "") if keywords else first
    more = "".join(values[each] for each in values if "60" <= each <= "65")
    described = " ".join(filter(None, (purpose.removesuffix(" BIC"), more)))
    return Details(
        description=described or values.get("00"),
        name="".join(values[each] for each in values if each in ("32", "33")),
        reference=keywords.get("EREF"),
        customer_reference=keywords.get("KREF", ""),
    )


def fields_of(text: str, sign: str) -> dict[str, str]:
    """Split a text at the sign of its numbered fields; a sign before no number is a part of it."""
    _, *parts = re.split(rf"{re.escape(sign)}(\d\d)", text, flags=re.ASCII)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def without_label(text: str) -> str:
    """Remove a label without a value, which some banks write at the end of a field."""
    for label in (" BIC", " IBAN"):
        if text.endswith(label):
            return text.removesuffix(label).rstrip()
    return text
