"""OFX 1.x (SGML) and 2.x (XML) with a single reader, since few files follow either standard.

In OFX an element has either text or elements in it. SGML omits the end tag of elements with text,
and programs also omit that of empty elements. So a file is read tag by tag:

- An element with text ends at the next tag.
- An element without an end tag was empty: the content after it belongs to its parent.
- A statement or a transaction without an end tag ends where the next one begins.
"""

import html
import re
from collections.abc import Iterator, Set
from typing import Final
from xml.etree.ElementTree import Element, SubElement

from libraries.bank_files.field_values import (
    account_in,
    day,
    decoded,
    number,
    reference_of,
    tidy,
)
from libraries.bank_files.file_lines import (
    DEEPEST,
    LONGEST_DESCRIPTION,
    BadLine,
    FileLine,
    ReadLine,
    Unreadable,
)

STATEMENTS: Final = frozenset({"STMTRS", "CCSTMTRS"})
# Elements that are never empty, each with the elements that its start ends if they are open.
SIBLINGS: Final = {**dict.fromkeys(STATEMENTS, STATEMENTS), "STMTTRN": frozenset({"STMTTRN"})}
# The account of a statement, not that of a counterparty.
OWN: Final = ("BANKACCTFROM/ACCTID", "CCACCTFROM/ACCTID", "ACCTID")
MOST_TAGS: Final = 500_000
UNFIT: Final = "is not valid OFX: its tags do not match"

_CHARSET = re.compile(rb"CHARSET:\s*([\w-]{1,20})|encoding=[\"']([\w-]{1,20})", re.IGNORECASE)
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Z0-9._]++)\s*+(?P<empty>/?)>(?P<text>[^<]*+)")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:(,)\d{3})+\.\d*|[+-]?\d{1,3}(?:(\.)\d{3})+,\d*", re.ASCII)
_CDATA, _CDATA_END = "<![CDATA[", "]]>"


def read(content: bytes) -> Iterator[ReadLine]:
    """Read every transaction of every statement in a file; raises Unreadable."""
    charset = _CHARSET.search(content[:2_000])
    declared = next((name for name in charset.groups() if name), b"") if charset else b""
    text = decoded(content, declared.decode("ascii"))
    start = text.find("<OFX>")
    if start < 0:
        raise Unreadable("is not OFX: it has no <OFX>")
    if text.count("<", start) > MOST_TAGS:
        raise Unreadable("has too many tags")
    root = tree(without_cdata(text[start:]))
    statements = [each for each in root.iter() if each.tag in STATEMENTS and len(each)]
    if not statements:
        raise Unreadable("is not a bank statement: it has no STMTRS")
    for statement in statements:
        yield from read_statement(statement)


def without_cdata(body: str) -> str:
    """Convert CDATA sections to plain text; raises Unreadable if one does not end."""
    first, *rest = body.split(_CDATA)
    parts = [first]
    for each in rest:
        inside, end, outside = each.partition(_CDATA_END)
        if not end:
            raise Unreadable("has a CDATA section without an end")
        parts += [html.escape(inside, quote=False), outside]
    return "".join(parts)


def tree(body: str) -> Element:
    """Create a tree of the tags, with their texts as written; raises Unreadable."""
    document = Element("")
    path = [document]
    for tag in _TAG.finditer(body):
        text = tag["text"].strip()
        if not tag["end"]:
            begin(path, tag["name"], text)
        if (tag["end"] or tag["empty"]) and (text or not close(path, {tag["name"]})):
            raise Unreadable(UNFIT)
    close(path, {document.tag})
    return document


def begin(path: list[Element], name: str, text: str) -> None:
    """Begin an element in the innermost open one that can contain elements; raises Unreadable."""
    if path[-1].text:
        path.pop()
    close(path, SIBLINGS.get(name, frozenset()))
    if len(path) == 1 and len(path[0]):
        raise Unreadable(UNFIT)
    if len(path) > DEEPEST:
        raise Unreadable("has elements that are nested too deeply")
    path.append(SubElement(path[-1], name))
    path[-1].text = text


def close(path: list[Element], names: Set[str]) -> bool:
    """End the innermost open element with one of these names, and all open elements in it.

    Returns False if there is none.
    """
    if not any(each.tag in names for each in reversed(path)):
        return False
    while (last := path.pop()).tag not in names:
        if last.tag not in SIBLINGS:
            path[-1].extend(last)
            del last[:]
    return True


def read_statement(statement: Element) -> Iterator[ReadLine]:
    """Read the transactions of one statement, in its currency unless they have their own."""
    currency = text_at(statement, ".//CURDEF")
    account = account_in(next(filter(None, (text_at(statement, path) for path in OWN)), None))
    for transaction in statement.iter("STMTTRN"):
        try:
            yield read_line(transaction, currency, account)
        except ValueError as error:
            yield BadLine(str(error))


def read_line(transaction: Element, currency: str | None, account: str | None) -> FileLine:
    """Read one transaction; raises ValueError with a sentence if it has no date or amount.

    A correction has the id of the transaction that it replaces or deletes.
    """
    name = text_at(transaction, "NAME") or text_at(transaction, "PAYEE/NAME")
    return FileLine(
        booked_on=day(text_at(transaction, "DTPOSTED")),
        amount=number(ungrouped(text_at(transaction, "TRNAMT"))),
        external_id=text_at(transaction, "FITID"),
        currency=text_at(transaction, "CURRENCY/CURSYM") or currency,
        description=text_at(transaction, "MEMO") or name,
        counterparty_name=tidy(text_at(transaction, "EXTDNAME") or name),
        reference=reference_of(text_at(transaction, "REFNUM"), text_at(transaction, "CHECKNUM")),
        account=account,
        corrects=text_at(transaction, "CORRECTFITID"),
        deletes=text_at(transaction, "CORRECTACTION") == "DELETE",
    )


def ungrouped(text: str | None) -> str | None:
    """Return an amount without the signs between its thousands: 1,234.50 gives 1234.50."""
    found = _GROUPED.fullmatch(text[:40]) if text else None
    return text.replace(found[1] or found[2], "") if text and found else text


def text_at(element: Element, path: str) -> str | None:
    """Return the text of the element at a path, with entities resolved; None for a blank one."""
    return tidy(html.unescape(element.findtext(path) or ""), LONGEST_DESCRIPTION)
