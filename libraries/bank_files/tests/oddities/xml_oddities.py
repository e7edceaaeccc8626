"""Oddities of OFX and CAMT.053 files."""

from typing import Any

from libraries.bank_files.tests.oddities import Oddity, Right, right


def ofx(oddity: str, inside: str, *lines: Right, **more: Any) -> Oddity:
    head = "<CURDEF>EUR<BANKACCTFROM><BANKID>1<ACCTID>1234567</BANKACCTFROM>"
    text = (
        f"OFXHEADER:100\n\n<OFX><STMTRS>{head}<BANKTRANLIST>{inside}</BANKTRANLIST></STMTRS></OFX>"
    )
    return Oddity("ofx", oddity, text.encode(), lines, **more)


def moved(id: str, amount: str, day: str = "15", more: str = "") -> str:
    return f"<STMTTRN><DTPOSTED>202607{day}<TRNAMT>{amount}<FITID>{id}{more}</STMTTRN>"


OFX = (
    ofx(
        "one FITID on three lines",
        moved("900", "-5.00") + moved("900", "-6.00") + moved("900", "-5.00", "16"),
        right("07-15", "-5", external_id="900"),
        right("07-15", "-6"),
        right("07-16", "-5"),
    ),
    ofx("a decimal comma", moved("A", "-5,25"), right("07-15", "-5.25")),
    ofx(
        "thousands",
        moved("A", "-1,234.50") + moved("B", "1.234,50"),
        right("07-15", "-1234.50"),
        right("07-15", "1234.50"),
    ),
    ofx("a plus before the amount", moved("A", "+5.00"), right("07-15", "5")),
    ofx("a time and a zone", moved("A", "5.00", "15120000.000[-5:EST]"), right("07-15", "5")),
    ofx("no movements", ""),
    ofx(
        "the account of a counterparty",
        moved("A", "5.00", more="<BANKACCTTO><ACCTID>7654321</BANKACCTTO>"),
        right("07-15", "5", account="1234567"),
    ),
    ofx(
        "a line of zero",
        moved("A", "0.00") + moved("B", "5.00"),
        right("07-15", "0"),
        right("07-15", "5"),
    ),
    ofx(
        "a correction",
        moved("B", "-6.00", more="<CORRECTFITID>A<CORRECTACTION>REPLACE"),
        right("07-15", "-6", corrects="A", deletes=False),
    ),
)


def camt(oddity: str, inside: str, *lines: Right, number: str = "", **more: Any) -> Oddity:
    account = number or "<Othr><Id>1234567</Id></Othr>"
    text = (
        "<Document xmlns='urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'><BkToCstmrStmt><Stmt>"
        f"<Acct><Id>{account}</Id></Acct>{inside}</Stmt></BkToCstmrStmt></Document>"
    )
    return Oddity("camt053", oddity, text.encode(), lines, **more)


def booked(amount: str, reference: str, day: str = "15", more: str = "", way: str = "DBIT") -> str:
    return (
        f"<Ntry><Amt Ccy='EUR'>{amount}</Amt><CdtDbtInd>{way}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>"
        f"<BookgDt><Dt>2026-07-{day}</Dt></BookgDt>"
        f"<AcctSvcrRef>{reference}</AcctSvcrRef>{more}</Ntry>"
    )


CAMT = (
    camt(
        "a fee under one reference each month",
        booked("5.00", "FEE") + booked("5.00", "FEE", "16"),
        right("07-15", "-5", external_id="FEE"),
        right("07-16", "-5"),
    ),
    camt(
        "a reversal under the reference of its original",
        booked("5.00", "R") + booked("5.00", "R", way="CRDT", more="<RvslInd>true</RvslInd>"),
        right("07-15", "-5"),
        right("07-15", "5"),
    ),
    camt(
        "lines that differ only in their texts",
        booked("5.00", "B", more="<AddtlNtryInf>Anna</AddtlNtryInf>")
        + booked("5.00", "B", more="<AddtlNtryInf>Bert</AddtlNtryInf>"),
        right("07-15", "-5", description="Anna"),
        right("07-15", "-5", description="Bert"),
    ),
    camt("a national account number", booked("5.00", "A"), right("07-15", "-5", account="1234567")),
    camt(
        "an IBAN in groups",
        booked("5.00", "A"),
        right("07-15", "-5", account="DE89370400440532013000"),
        number="<IBAN>DE89 3704 0044 0532 0130 00</IBAN>",
    ),
    camt("no movements", ""),
    camt(
        "an amount of zero",
        booked("0.00", "A") + booked("5.00", "B"),
        right("07-15", "0"),
        right("07-15", "-5"),
    ),
    camt("pending entries only", booked("5.00", "A").replace("BOOK", "PDNG")),
)

ODDITIES = (*OFX, *CAMT)
