"""OFX 1.x (SGML) and 2.x (XML), taken apart by the library ofxtools.

Only its tree builder is used. Its models refuse a whole file for one field that is not as the
standard has it, and few banks write OFX as the standard has it. The builder searches for the end of
a CDATA section once for each beginning, so those are resolved before.
"""

import html
import re
from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from bank_files.lines import (
    LONGEST_DESCRIPTION,
    BadLine,
    FileLine,
    ReadLine,
    Unreadable,
    day,
    decoded,
    iban_in,
    number,
    reference_of,
    tidy,
)

STATEMENTS: Final = frozenset({"STMTRS", "CCSTMTRS"})
MOST_TAGS: Final = 500_000

_CHARSET = re.compile(rb"CHARSET:\s*([\w-]{1,20})|encoding=[\"']([\w-]{1,20})", re.IGNORECASE)
# Without a value and without an end a leaf would be taken for a branch, with its neighbours in it.
_EMPTY_LEAF = re.compile(
    r"<(NAME|MEMO|FITID|CHECKNUM|REFNUM|SIC|PAYEEID|EXTDNAME)>\s*(?=<(?!/\1>))"
)
_CDATA, _CDATA_END = "<![CDATA[", "]]>"


def read(content: bytes) -> list[ReadLine]:
    """Read every transaction of every statement in a file; raises Unreadable."""
    charset = _CHARSET.search(content[:2_000])
    declared = next((name for name in charset.groups() if name), b"") if charset else b""
    text = decoded(content, declared.decode("ascii"))
    start = text.find("<OFX>")
    if start < 0:
        raise Unreadable("is no OFX: it holds no <OFX>")
    if text.count("<", start) > MOST_TAGS:
        raise Unreadable("holds more tags than are read")
    root = tree(_EMPTY_LEAF.sub("", without_cdata(text[start:])))
    statements = list(outermost(root))
    if not statements:
        raise Unreadable("is no bank statement: it holds no STMTRS")
    return [line for statement in statements for line in read_statement(statement)]


def tree(body: str) -> Element:
    """Let the library make a tree of the tags; raises Unreadable."""
    # Loading the library takes most of a second: whoever sends the first OFX waits for it.
    from ofxtools.Parser import TreeBuilder

    builder = TreeBuilder()
    try:
        builder.feed(body)
        root = builder.close()
    except Exception:  # The library's faults have no common kind: ParseError, IndexError, ...
        raise Unreadable("is no OFX whose tags fit together") from None
    if not isinstance(root, Element):
        raise Unreadable("is no OFX whose tags fit together")
    return root


def outermost(root: Element) -> Iterator[Element]:
    """Find the statements in a tree; what stands within one is part of it."""
    waiting = [root]
    while waiting:
        each = waiting.pop()
        if each.tag in STATEMENTS:
            yield each
        else:
            waiting += reversed(each)


def without_cdata(body: str) -> str:
    """Write CDATA sections as plain text; raises Unreadable where one does not end."""
    first, *rest = body.split(_CDATA)
    parts = [first]
    for each in rest:
        inside, end, outside = each.partition(_CDATA_END)
        if not end:
            raise Unreadable("has a CDATA section without an end")
        parts += [html.escape(inside, quote=False), outside]
    return "".join(parts)


def read_statement(statement: Element) -> Iterator[ReadLine]:
    """Read the transactions of one statement, in its currency unless they say otherwise."""
    currency = said(statement, ".//CURDEF")
    iban = iban_in(said(statement, ".//ACCTID"))
    for transaction in statement.iter("STMTTRN"):
        try:
            yield read_line(transaction, currency, iban)
        except ValueError as error:
            yield BadLine(str(error))


def read_line(transaction: Element, currency: str | None, iban: str | None) -> FileLine:
    """Read one transaction; ValueError with a sentence for one that says no day or no amount."""
    name = said(transaction, "NAME") or said(transaction, "PAYEE/NAME")
    return FileLine(
        booked_on=day(said(transaction, "DTPOSTED")),
        amount=number(said(transaction, "TRNAMT")),
        external_id=said(transaction, "FITID"),
        currency=said(transaction, "CURRENCY/CURSYM") or currency,
        description=said(transaction, "MEMO") or name,
        counterparty_name=tidy(said(transaction, "EXTDNAME") or name),
        reference=reference_of(said(transaction, "REFNUM"), said(transaction, "CHECKNUM")),
        iban=iban,
    )


def said(element: Element, path: str) -> str | None:
    """Return the text at a path, with its entities resolved; None for a blank one."""
    return tidy(html.unescape(element.findtext(path) or ""), LONGEST_DESCRIPTION)
