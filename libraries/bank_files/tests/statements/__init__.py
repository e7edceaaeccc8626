"""Statements as banks write them; accounts, people and amounts are made up."""

from pathlib import Path
from typing import Any

from libraries import bank_files
from libraries.bank_files import Columns, FileLine

# The numbers of good and bad lines in each, for a bank account in its currency.
FILES = {
    "gb.csv": (4, 0),
    "gb_in_out.csv": (2, 0),
    "de.csv": (3, 1),
    "nl.csv": (3, 0),
    "nl_without_header.tab": (2, 0),
    "gb_102.ofx": (3, 0),
    "gb_one_line.ofx": (3, 0),
    "gb_211.ofx": (1, 2),
    "nl_camt_02.xml": (7, 0),
    "de_camt_08.xml": (4, 2),
    "nl_abn.sta": (4, 0),
    "nl_ing.sta": (3, 0),
    "nl_rabo.sta": (2, 0),
    "de_deutsche.sta": (3, 1),
}
# The bank account of a file with statements of several accounts.
IBANS = {"de_camt_08.xml": "DE89370400440532013000"}
EUROS = {name for name in FILES if name.startswith(("de", "nl"))}
MAPPINGS: dict[str, dict[str, Any]] = {
    "gb.csv": {"date": "Date", "amount": "Amount", "description": "Memo"},
    "gb_in_out.csv": {
        "date": "Date",
        "credit": "paid in",
        "debit": "Paid out",
        "description": "Description",
        "date_format": "DD MMM YYYY",
        "decimal_comma": False,
    },
    "de.csv": {
        "date": "Buchungstag",
        "amount": "Betrag (EUR)",
        "counterparty_name": "Auftraggeber / Begünstigter",
        "description": "Verwendungszweck",
        "reference": "Kundenreferenz",
    },
    "nl.csv": {
        "date": "Datum",
        "amount": "Bedrag (EUR)",
        "direction": "Af Bij",
        "counterparty_name": "Naam / Omschrijving",
        "description": "Mededelingen",
    },
    "nl_without_header.tab": {"date": "3", "amount": "7", "description": "8", "currency": "2"},
}


KINDS = {"csv": "csv", "tab": "csv", "ofx": "ofx", "xml": "camt053", "sta": "mt940"}


def format_of(name: str) -> Any:
    return KINDS[name.rpartition(".")[2]]


def lines_of(name: str) -> list[Any]:
    """Return the lines of a sample, good and bad."""
    columns = Columns(**MAPPINGS[name]) if name in MAPPINGS else None
    return bank_files.read(content_of(name), format_of(name), columns)


def good_lines(name: str) -> list[FileLine]:
    return [line for line in lines_of(name) if isinstance(line, FileLine)]


def content_of(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()
