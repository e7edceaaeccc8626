"""Oddities of MT940 files: fields 61 and 86 as banks write them."""

from typing import Any

from libraries.bank_files.tests.oddities import Oddity, Right, right


def statement(inside: str) -> str:
    head = ":20:STARTUMS\n:25:10020030/1234567\n:28C:1/1\n:60F:C260714EUR9,00"
    return f"{head}\n{inside}\n:62F:C260716EUR9,00\n-\n"


def entry(
    oddity: str, field_61: str, amount: str, field_86: str = "", day: str = "07-15", **facts: Any
) -> Oddity:
    """Return a statement with one entry, and its right line."""
    details = f"\n:86:{field_86}" if field_86 else ""
    content = statement(f":61:{field_61}{details}").encode("latin-1")
    return Oddity("mt940", oddity, content, (right(day, amount, **facts),))


def whole(oddity: str, text: str, *lines: Right, **more: Any) -> Oddity:
    return Oddity("mt940", oddity, text.encode("latin-1"), lines, **more)


ENTRIES = (
    entry(
        "one decimal",
        "2607150715D0,7N310NONREF//B7B27AG0MQ01",
        "-0.7",
        external_id="B7B27AG0MQ01",
        reference=None,
    ),
    entry("no decimals", "2607150715CR5000,NTRFNONREF", "5000", reference=None),
    entry("no comma", "260715C500NTRFX", "500"),
    entry("no entry date", "260715D65,00NTRFX", "-65"),
    entry(
        "blanks for the entry date",
        "260715    DD65,00NDEFNONREF//",
        "-65",
        external_id=None,
        reference=None,
    ),
    entry("one blank for the entry date", "260715 D65,00NTRFX", "-65"),
    entry("the third letter of the currency", "2607150715DR65,00NTRFX", "-65"),
    entry("a row end before the amount", "2607150715CR\n30,00N062NONREF", "30"),
    entry("leading zeros", "260715C000000000250,00N541EREF", "250", reference=None),
    entry(
        "a text behind the type code",
        "2607150715DR5,00NCOLKREF+//2607150012",
        "-5",
        "166?00LAST?20KREF+LOT-7?21SVWZ+Rent",
        external_id="2607150012",
        reference="LOT-7",
    ),
    entry(
        "no bank reference behind the slashes",
        "2607150715DR5,00NTRFNONREF//",
        "-5",
        external_id=None,
        reference=None,
    ),
    entry("no type code", "2607150715C5,00NONREF", "5", reference=None),
    entry(
        "no type code and a bank reference",
        "2607150715C5,00//B-17",
        "5",
        external_id="B-17",
        reference=None,
    ),
    entry(
        "a type code of another letter",
        "2607150715D0,42MCI0NONREF//0550",
        "-0.42",
        external_id="0550",
        reference=None,
    ),
    entry(
        "a type code of digits",
        "2607150715CR653,00S445328556-76501096",
        "653",
        reference="328556-76501096",
    ),
    entry("a type code with blanks", "2607150715DF2402,00S   X", "-2402"),
    entry(
        "NONREF for both references",
        "2607150715C5,9FMSC12345//NONREF",
        "5.9",
        external_id=None,
        reference="12345",
    ),
    entry(
        "a reference of 35 characters",
        "2607150715DR20,NTRFBIPI-abcDEFghiJKLmnoPQRstuVWXyz0123//2026071516391",
        "-20",
        external_id="2026071516391",
        reference="BIPI-abcDEFghiJKLmnoPQRstuVWXyz0123",
    ),
    entry(
        "an IBAN as the reference",
        "2607150715D5,00NIDBNL20INGB0001234567",
        "-5",
        reference="NL20INGB0001234567",
    ),
    entry(
        "a long bank reference",
        "2607150715D5,00NTRFX//O/341241774/2026-07-15/0000000001",
        "-5",
        external_id="O/341241774/2026-07-15/0000000001",
    ),
    entry(
        "a second row of codes",
        "2607150715CR119,00NTRFRE-42//2607\n/OCMT/EUR119,00/",
        "119",
        external_id="2607",
        reference="RE-42",
        description=None,
    ),
    entry(
        "a bank reference in a row of its own",
        "2607150715C5,00NTRFNONREF\n//B-18\n/OCMT/EUR5,00/",
        "5",
        external_id="B-18",
        reference=None,
        description=None,
    ),
    entry(
        "a second row of text",
        "260715C0,92FMSCNONREF\nBALANCE_CASHBACK-510151a4",
        "0.92",
        reference=None,
        description="BALANCE_CASHBACK-510151a4",
    ),
    entry(
        "several rows",
        "2607150715C119,NMSC341/1//O/341\nPaiement\nclient",
        "119",
        external_id="O/341",
        description="Paiement client",
    ),
    entry(
        "a name behind a padded reference",
        "260715D5,00N544NONREF          W.P. Jansen",
        "-5",
        reference=None,
        description="W.P. Jansen",
    ),
    entry("a reversal of a credit", "2607150715RCR5,00NRTIX//R26", "-5", external_id="R26"),
    entry("a value date of 30 February", "2602300228D6,00NMSCNONREF", "-6", day="02-28"),
    whole(
        "an expected entry is not booked",
        statement(":61:260715ED5,00NTRFX\n:61:260715D6,00NTRFY"),
        right("07-15", "-6"),
    ),
    whole(
        "an amount with a point",
        statement(":61:260715D5.00NTRFX\n:61:260715D6,00NTRFY"),
        right("07-15", "-6"),
        bad=1,
    ),
)

DETAILS = (
    entry(
        "numbered fields after ?",
        "260715C5,00NTRFX",
        "5",
        "166?00GUTSCHRIFT?20EREF+E-7?21SVWZ+Rechnung?22 7?32Max Mu?33ster",
        description="Rechnung 7",
        counterparty_name="Max Muster",
        reference="E-7",
    ),
    entry(
        "numbered fields after >",
        "260715C5,00NTRFX",
        "5",
        "073>00PRZELEW>20Faktura 7>32Jan Nowak",
        description="Faktura 7",
        counterparty_name="Jan Nowak",
    ),
    entry(
        "numbered fields after > without a code",
        "260715C5,00NTRFX",
        "5",
        ">20some details>32Anna",
        description="some details",
        counterparty_name="Anna",
    ),
    entry(
        "numbered fields after ~",
        "260715C5,00NTRFX",
        "5",
        "020~00PRZELEW~20Faktura 8~32Jan Nowak",
        description="Faktura 8",
        counterparty_name="Jan Nowak",
    ),
    entry(
        "numbered fields after a slash",
        "260715C5,00NTRFX",
        "5",
        "020/00PRZELEW/20Faktura 9/32Jan",
        description="Faktura 9",
        counterparty_name="Jan",
    ),
    entry(
        "a question in a numbered field",
        "260715C5,00NTRFX",
        "5",
        "166?20Miete?21 bezahlt? ja?32Max",
        description="Miete bezahlt? ja",
        counterparty_name="Max",
    ),
    entry(
        "keywords without numbers",
        "260715C5,00NTRFX",
        "5",
        "EREF+E-9SVWZ+Rechnung 9",
        description="Rechnung 9",
        reference="E-9",
    ),
    entry(
        "fields between slashes",
        "260715C5,00NTRFNONREF",
        "5",
        "/TRTP/SEPA/NAME/J. Jansen/REMI/Factuur 7/EREF/NOTPROVIDED",
        description="Factuur 7",
        counterparty_name="J. Jansen",
        reference=None,
    ),
    entry(
        "a greater sign in a text",
        "260715C5,00NTRFX",
        "5",
        "BANK>AMSTERDAM 22-07",
        description="BANK>AMSTERDAM 22-07",
    ),
    whole(
        "details in a field of the bank's own",
        statement(":61:260715D5,00S   X\n:NS:01026715\n09Fee 7.21\n15ERGO Zrt.\n16Budapest\n17G2"),
        right("07-15", "-5", description="026715 Fee 7.21", counterparty_name="ERGO Zrt. Budapest"),
    ),
    entry(
        "an umlaut in latin-1",
        "260715C5,00NTRFX",
        "5",
        "166?20Gebühr?32Müller",
        description="Gebühr",
        counterparty_name="Müller",
    ),
    entry("an empty field 86", "260715C5,00NTRFX", "5", "091", description="091"),
)

FILES = (
    whole("no movements", statement("")),
    whole(
        "a reference used again",
        statement(":61:260715D5,00NCHGX//REF-1\n:61:260716D5,00NCHGX//REF-1"),
        right("07-15", "-5", external_id="REF-1"),
        right("07-16", "-5"),
    ),
    whole(
        "a reversal under the reference of its original",
        statement(":61:260715D5,00NTRFX//REF-2\n:61:260715RD5,00NTRFX//REF-2"),
        right("07-15", "-5", external_id="REF-2"),
        right("07-15", "5"),
    ),
    whole(
        "two equal lines without a reference",
        statement(":61:260715D3,20NMSCNONREF\n:86:COFFEE\n:61:260715D3,20NMSCNONREF\n:86:COFFEE"),
        right("07-15", "-3.20"),
        right("07-15", "-3.20"),
    ),
    whole(
        "account and bank in field 25P",
        statement(":61:260715D5,00NTRFX").replace(":25:10020030/1234567", ":25P:1234567\nBANKDEFF"),
        right("07-15", "-5"),
    ),
    whole(
        "fields behind the blocks of SWIFT, with blanks before them",
        "{1:F01BANKDEFF}{2:I940}{4:" + statement(" :61:260715D5,00NTRFX") + "}",
        right("07-15", "-5"),
    ),
    whole(
        "an IBAN behind a bank code",
        statement(":61:260715D5,00NTRFX").replace(
            "10020030/1", "BANKDEFF/DE89370400440532013000/1"
        ),
        right("07-15", "-5", account="DE89370400440532013000"),
    ),
)

ODDITIES = (*ENTRIES, *DETAILS, *FILES)
