"""CAMT.053, the bank statement of ISO 20022, in any of its versions.

The versions that banks send (001.02 to 001.12) use the same element names; newer ones add a `Pty`
between a party and its name, and a `Cd` in a status. Entries are read one at a time, so that a
large file needs no more memory than its largest entry.
"""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Final
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from libraries.bank_files.field_values import account_in, day, number, reference_of, tidy
from libraries.bank_files.file_lines import (
    DEEPEST,
    LONGEST_DESCRIPTION,
    MOST_LINES,
    BadLine,
    FileLine,
    ReadLine,
    Unreadable,
)

STATEMENT: Final = "BkToCstmrStmt"
# The account of a statement: an IBAN, or a number of another kind.
OWN: Final = (["Stmt", "Acct", "Id", "IBAN"], ["Stmt", "Acct", "Id", "Othr", "Id"])
MOST_PARTS: Final = 400_000  # Elements in one entry.


def read(content: bytes) -> list[ReadLine]:
    """Read every booked entry of every statement in a file; raises Unreadable.

    A document type declaration is rejected: no other file is read, and no entity is expanded except
    the five of XML.
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
        raise Unreadable("is not CAMT.053: it has no statement in a BkToCstmrStmt")
    return statements.lines


def _refuse_document_type(*_: object) -> None:
    raise Unreadable("has a document type declaration, which is not allowed")


class _Statements:
    """A handler of XML events, which reads each entry when the entry ends."""

    def __init__(self) -> None:
        self.lines: list[ReadLine] = []
        self.found = False
        self._path: list[str] = []
        self._account: str | None = None
        self._number = ""
        self._entry: TreeBuilder | None = None
        self._parts = 0

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        self._path.append(local)
        if len(self._path) > DEEPEST:
            raise Unreadable("has elements that are nested too deeply")
        if local == "Stmt":
            self.found = self.found or STATEMENT in self._path
            self._account, self._number = None, ""
        if local == "Ntry" and self._entry is None and self._path[-2:-1] == ["Stmt"]:
            self._entry, self._parts = TreeBuilder(), 0
        if self._entry is not None:
            self._parts += 1
            if self._parts > MOST_PARTS:
                raise Unreadable("has an entry with too many parts")
            self._entry.start(local, attributes)

    def text(self, data: str) -> None:
        if self._entry is not None:
            self._entry.data(data)
        elif self._path[-4:] in OWN or self._path[-5:] in OWN:
            self._number = (self._number + data)[:100]

    def end(self, _: str) -> None:
        local = self._path.pop()
        if self._entry is not None:
            self._entry.end(local)
            if local == "Ntry" and self._path[-1:] == ["Stmt"]:
                self.lines += read_entry(self._entry.close(), self._account)
                self._entry = None
                if len(self.lines) > MOST_LINES:
                    raise Unreadable(f"has more than {MOST_LINES:,} lines")
        elif local == "Acct":
            self._account = self._account or account_in(self._number)


def read_entry(entry: Element, account: str | None) -> list[ReadLine]:
    """Read a booked entry as one line or one per transaction; [] for an entry not yet booked."""
    status = text_at(entry, "Sts/Cd") or text_at(entry, "Sts")
    if status not in (None, "BOOK"):
        return []
    details = entry.findall("NtryDtls/TxDtls")
    try:
        total = signed(entry)
        amounts = amounts_of(entry, details, total)
        if amounts is None:
            return [
                line(entry, details, total, reference_of(text_at(entry, "AcctSvcrRef")), account)
            ]
        return [
            line(entry, [part], amount, reference_within(entry, part, place), account)
            for place, (part, amount) in enumerate(zip(details, amounts, strict=True), start=1)
        ]
    except ValueError as error:
        return [BadLine(str(error))]


def amounts_of(entry: Element, details: Sequence[Element], total: Decimal) -> list[Decimal] | None:
    """Return the signed amounts of the transactions of a batch; None unless they sum to `total`.

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
        direction = text_at(part, "CdtDbtInd") or text_at(entry, "CdtDbtInd")
        amounts.append(number(amount.text) * (1 if direction == "CRDT" else -1))
    return amounts if sum(amounts) == total else None


def line(
    entry: Element,
    details: Sequence[Element],
    amount: Decimal,
    external_id: str | None,
    account: str | None,
) -> FileLine:
    """Create a line from an entry, or from some of its transactions."""
    texts = [text for part in details for text in remittances(part)]
    description = " ".join(texts) or text_at(entry, "AddtlNtryInf")
    references = [text_at(part, "Refs/EndToEndId") for part in details]
    structured = [text_at(part, "RmtInf/Strd/CdtrRefInf/Ref") for part in details]
    names = [counterparty(entry, part, amount) for part in details]
    return FileLine(
        booked_on=booking_day(entry),
        amount=amount,
        external_id=external_id or bank_reference(details),
        currency=currency_of(entry),
        description=tidy(description, LONGEST_DESCRIPTION),
        counterparty_name=tidy(", ".join(dict.fromkeys(filter(None, names)))),
        reference=reference_of(*structured, *references),
        account=account,
    )


def remittances(part: Element) -> list[str]:
    """Return the purpose of a transaction: the texts of the payer, else the text of the bank."""
    texts = [(each.text or "").strip() for each in part.findall("RmtInf/Ustrd")]
    texts += [(each.text or "").strip() for each in part.findall("RmtInf/Strd/AddtlRmtInf")]
    return [text for text in texts if text] or [text_at(part, "AddtlTxInf") or ""]


def counterparty(entry: Element, part: Element, amount: Decimal) -> str | None:
    """Return the debtor of incoming money, or the creditor of outgoing money.

    A reversal names the parties of the transaction that it reverses, so there they are swapped.
    """
    comes_in = (amount > 0) != (text_at(entry, "RvslInd") in ("true", "1"))
    role = "Dbtr" if comes_in else "Cdtr"
    paths = (f"RltdPties/{who}{step}/Nm" for who in (role, f"Ultmt{role}") for step in ("", "/Pty"))
    return next((name for name in (text_at(part, path) for path in paths) if name), None)


def reference_within(entry: Element, part: Element, place: int) -> str | None:
    """Return the bank's id of a transaction of a batch, else the batch's id with its position."""
    batch, own = reference_of(text_at(entry, "AcctSvcrRef")), bank_reference([part])
    if own is not None and own != batch:
        return own
    return f"{batch}/{place}" if batch else None


def bank_reference(details: Sequence[Element]) -> str | None:
    """Return the bank's id of an entry's only transaction; None with several or without an id."""
    if len(details) != 1:
        return None
    return reference_of(text_at(details[0], "Refs/AcctSvcrRef"), text_at(details[0], "Refs/TxId"))


def booking_day(entry: Element) -> date:
    """Return the booking date of an entry, else its value date; raises ValueError without one."""
    paths = ("BookgDt/Dt", "BookgDt/DtTm", "ValDt/Dt", "ValDt/DtTm")
    return day(next((text for text in (text_at(entry, path) for path in paths) if text), None))


def signed(entry: Element) -> Decimal:
    """Return the amount of an entry, negative for a debit; ValueError without a direction."""
    direction = text_at(entry, "CdtDbtInd")
    if direction not in ("CRDT", "DBIT"):
        raise ValueError("The line has neither CRDT nor DBIT.")
    return number(text_at(entry, "Amt")) * (1 if direction == "CRDT" else -1)


def currency_of(entry: Element) -> str | None:
    """Return the currency of the amount of an entry."""
    amount = entry.find("Amt")
    return tidy(amount.get("Ccy"), 3) if amount is not None else None


def text_at(element: Element, path: str) -> str | None:
    """Return the text of the element at a path; None for a blank one."""
    return tidy(element.findtext(path), LONGEST_DESCRIPTION)
