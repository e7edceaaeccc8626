"""CAMT.053, the bank statement of ISO 20022, in any of its versions.

Names of elements are the same in all versions that banks send (001.02 to 001.12) but for the
`Pty` between a party and its name, and the `Cd` in a status. Entries are read one at a time, so
that a large file costs no more memory than its largest entry.
"""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Final
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from bank_files.lines import (
    LONGEST_DESCRIPTION,
    MOST_LINES,
    BadLine,
    FileLine,
    ReadLine,
    Unreadable,
    day,
    iban_in,
    number,
    reference_of,
    tidy,
)

STATEMENT: Final = "BkToCstmrStmt"
DEEPEST: Final = 60
MOST_PARTS: Final = 400_000  # Elements in one entry.


def read(content: bytes) -> list[ReadLine]:
    """Read every booked entry of every statement in a file; raises Unreadable.

    No document type is read, and so no entity beside the five of XML and no other file.
    """
    statements = _Statements()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = statements.begin
    parser.EndElementHandler = statements.end
    parser.CharacterDataHandler = statements.text
    parser.StartDoctypeDeclHandler = _refuse_document_type
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError):
        raise Unreadable("is not well-formed XML") from None
    if not statements.found:
        raise Unreadable("is no CAMT.053: it holds no BkToCstmrStmt")
    return statements.lines


def _refuse_document_type(*_: object) -> None:
    raise Unreadable("declares a document type, which is not read")


class _Statements:
    """Follows the elements of a file, and reads each entry when it ends."""

    def __init__(self) -> None:
        self.lines: list[ReadLine] = []
        self.found = False
        self._path: list[str] = []
        self._iban: str | None = None
        self._account = ""
        self._entry: TreeBuilder | None = None
        self._parts = 0

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        self._path.append(local)
        if len(self._path) > DEEPEST:
            raise Unreadable("has elements in elements without an end")
        self.found = self.found or local == STATEMENT
        if local == "Stmt":
            self._iban, self._account = None, ""
        if local == "Ntry" and self._entry is None and self._path[-2:-1] == ["Stmt"]:
            self._entry, self._parts = TreeBuilder(), 0
        if self._entry is not None:
            self._parts += 1
            if self._parts > MOST_PARTS:
                raise Unreadable("has an entry of more parts than are read")
            self._entry.start(local, attributes)

    def text(self, data: str) -> None:
        if self._entry is not None:
            self._entry.data(data)
        elif self._path[-4:] == ["Stmt", "Acct", "Id", "IBAN"]:
            self._account = (self._account + data)[:100]

    def end(self, _: str) -> None:
        local = self._path.pop()
        if self._entry is not None:
            self._entry.end(local)
            if local == "Ntry" and self._path[-1:] == ["Stmt"]:
                self.lines += read_entry(self._entry.close(), self._iban)
                self._entry = None
                if len(self.lines) > MOST_LINES:
                    raise Unreadable(f"holds more than {MOST_LINES:,} lines")
        elif local == "Acct":
            self._iban = iban_in(self._account)


def read_entry(entry: Element, iban: str | None) -> list[ReadLine]:
    """Read an entry: a line, or one for each transaction in it; nothing while it is not booked."""
    status = said(entry, "Sts/Cd") or said(entry, "Sts")
    if status not in (None, "BOOK"):
        return []
    details = entry.findall("NtryDtls/TxDtls")
    try:
        total = signed(entry)
        amounts = amounts_of(entry, details, total)
        if amounts is None:
            return [line(entry, details, total, reference_of(said(entry, "AcctSvcrRef")), iban)]
        return [
            line(entry, [part], amount, reference_within(entry, part, place), iban)
            for place, (part, amount) in enumerate(zip(details, amounts, strict=True), start=1)
        ]
    except ValueError as error:
        return [BadLine(str(error))]


def amounts_of(entry: Element, details: Sequence[Element], total: Decimal) -> list[Decimal] | None:
    """Return what each transaction of a batch moves; None where it is not told or adds up to other.

    An entry of -30 with two transactions of 10 and 20 gives -10 and -20.
    """
    if len(details) < 2:
        return None
    currency = currency_of(entry)
    amounts: list[Decimal] = []
    for part in details:
        amount = part.find("Amt")
        amount = part.find("AmtDtls/TxAmt/Amt") if amount is None else amount
        if amount is None or amount.get("Ccy", currency) != currency:
            return None
        way = said(part, "CdtDbtInd") or said(entry, "CdtDbtInd")
        amounts.append(number(amount.text) * (1 if way == "CRDT" else -1))
    return amounts if sum(amounts) == total else None


def line(
    entry: Element,
    details: Sequence[Element],
    amount: Decimal,
    external_id: str | None,
    iban: str | None,
) -> FileLine:
    """Make a line of an entry, or of some of its transactions."""
    told = [text for part in details for text in remittances(part)]
    description = " ".join(told) or said(entry, "AddtlNtryInf")
    references = [said(part, "Refs/EndToEndId") for part in details]
    structured = [said(part, "RmtInf/Strd/CdtrRefInf/Ref") for part in details]
    names = [counterparty(entry, part, amount) for part in details]
    return FileLine(
        booked_on=booking_day(entry),
        amount=amount,
        external_id=external_id or bank_reference(details),
        currency=currency_of(entry),
        description=tidy(description, LONGEST_DESCRIPTION),
        counterparty_name=tidy(", ".join(dict.fromkeys(filter(None, names)))),
        reference=reference_of(*structured, *references),
        iban=iban,
    )


def remittances(part: Element) -> list[str]:
    """Return what a transaction is for, in the payer's words, else in the bank's."""
    told = [(each.text or "").strip() for each in part.findall("RmtInf/Ustrd")]
    told += [(each.text or "").strip() for each in part.findall("RmtInf/Strd/AddtlRmtInf")]
    return [text for text in told if text] or [said(part, "AddtlTxInf") or ""]


def counterparty(entry: Element, part: Element, amount: Decimal) -> str | None:
    """Return who paid what came in, or was paid what went out.

    A reversal names the parties of what it takes back, so there it is the other way round.
    """
    comes_in = (amount > 0) != (said(entry, "RvslInd") in ("true", "1"))
    role = "Dbtr" if comes_in else "Cdtr"
    paths = (f"RltdPties/{who}{step}/Nm" for who in (role, f"Ultmt{role}") for step in ("", "/Pty"))
    return next((name for name in (said(part, path) for path in paths) if name), None)


def reference_within(entry: Element, part: Element, place: int) -> str | None:
    """Return the bank's id of one transaction of a batch, else the batch's with its place in it."""
    batch, own = reference_of(said(entry, "AcctSvcrRef")), bank_reference([part])
    if own is not None and own != batch:
        return own
    return f"{batch}/{place}" if batch else None


def bank_reference(details: Sequence[Element]) -> str | None:
    """Return the bank's id of a transaction that is the only one; None where it has none."""
    if len(details) != 1:
        return None
    return reference_of(said(details[0], "Refs/AcctSvcrRef"), said(details[0], "Refs/TxId"))


def booking_day(entry: Element) -> date:
    """Return the day an entry was booked on, else its value date; ValueError without either."""
    paths = ("BookgDt/Dt", "BookgDt/DtTm", "ValDt/Dt", "ValDt/DtTm")
    return day(next((text for text in (said(entry, path) for path in paths) if text), None))


def signed(entry: Element) -> Decimal:
    """Return an entry's amount, below zero for a debit; ValueError where it does not say which."""
    way = said(entry, "CdtDbtInd")
    if way not in ("CRDT", "DBIT"):
        raise ValueError("The line says neither CRDT nor DBIT.")
    return number(said(entry, "Amt")) * (1 if way == "CRDT" else -1)


def currency_of(entry: Element) -> str | None:
    """Return the currency of an entry's amount."""
    amount = entry.find("Amt")
    return tidy(amount.get("Ccy"), 3) if amount is not None else None


def said(element: Element, path: str) -> str | None:
    """Return the text at a path; None for a blank one."""
    return tidy(element.findtext(path), LONGEST_DESCRIPTION)
