"""Digests of the lines of entries by hand, which no document proves.

The digest of a line is SHA-256 over the text `1 <account> 1500 0 - - - Rent`: its number, account,
debit, credit, tax mark and description. A foreign line has its currency and own amount before that:
`USD 1650 1 <account> ...`. That of an entry is SHA-256 over the digests of its lines.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from hashlib import sha256
from typing import Any
from uuid import UUID

from persistence.engine.sql import Row
from persistence.ledger.split_rows import MARK_COLUMNS

# The digest of the lines `l` of one entry; the same as `lines_digest`.
LINES_DIGEST_SQL = """encode(sha256(string_agg(sha256(convert_to(concat_ws(
    ' ', l.currency, l.currency_amount,
    l.line_number, l.account_id, l.debit, l.credit, coalesce(l.tax_code_id::text, '-'),
    coalesce(trim_scale(l.tax_rate)::text, '-'), coalesce(l.tax_part, '-'), l.description
  ), 'UTF8')), ''::bytea ORDER BY l.line_number)), 'hex')"""


def lines_digest(lines: Iterable[Row]) -> str:
    """Return the digest of the lines of one entry, in hexadecimal."""
    in_order = sorted(lines, key=lambda line: int(line["line_number"]))
    return sha256(b"".join(sha256(_text(line).encode()).digest() for line in in_order)).hexdigest()


def with_new_digests(entries: Iterable[Row], lines: Iterable[Row]) -> list[Row]:
    """Return copied entries with the digests of their lines, which name other accounts now."""
    by_entry: Mapping[UUID, list[Row]] = defaultdict(list)
    for line in lines:
        by_entry[line["entry_id"]].append(line)
    return [
        {**entry, "lines_digest": lines_digest(by_entry[entry["id"]])}
        if entry["lines_digest"]
        else entry
        for entry in entries
    ]


def _text(line: Row) -> str:
    code, rate, part = (line[name] for name in MARK_COLUMNS)
    mark: list[Any] = ["-"] * 3 if code is None else [code, _plain(str(rate)), str(part)]
    text = [line["line_number"], line["account_id"], line["debit"], line["credit"], *mark]
    if line.get("currency") is not None:
        text = [line["currency"], line["currency_amount"], *text]
    if line["description"] is not None:
        text.append(line["description"])
    return " ".join(str(each) for each in text)


def _plain(rate: str) -> str:
    """Return a decimal without zeros at its end, as PostgreSQL's trim_scale: 20.50 is 20.5."""
    plain = format(Decimal(rate), "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
