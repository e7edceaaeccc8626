"""The digest of lines is the same in Python and in PostgreSQL."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from accounting.books.ledger import TaxPart
from persistence.ledger.line_digests import LINES_DIGEST_SQL, lines_digest
from persistence.ledger.split_rows import MARK_COLUMNS
from tests.api_server import ApiServer

_ACCOUNT, _CODE = UUID(int=7), UUID(int=8)
_COLUMNS = ("line_number", "account_id", "debit", "credit", "description")
_NAMES = (*_COLUMNS, *MARK_COLUMNS, "currency", "currency_amount")


def line(number: int, text: str | None = None, *mark: Any) -> dict[str, Any]:
    """Return a row of a debit of 15.00."""
    facts = [number, _ACCOUNT, 1_500, 0, text, *(mark or (None, None, None)), None, None]
    return dict(zip(_NAMES, facts, strict=True))


CASES = {
    "a text and none": [line(1, "Rent, März 東京 \\ 'x' \"y\""), line(2)],
    "an empty text": [line(1, ""), line(2, " ")],
    "several lines": [line(2, "b\nc"), line(1, "a"), line(11), line(10, "-")],
    "tax marks": [
        line(1, None, _CODE, "20", TaxPart.NET),
        line(2, "VAT", _CODE, "5.50", TaxPart.NET),
        line(3, None, _CODE, "0.00", TaxPart.NET),
        line(4, None, _CODE, Decimal("1E+1"), TaxPart.NET),
    ],
    "an own amount": [line(1, "a") | {"currency": "USD", "currency_amount": 1_650}, line(2)],
}


@pytest.mark.parametrize("case", CASES)
def test_python_and_postgresql_agree(api_server: ApiServer, case: str) -> None:
    rows = CASES[case]
    given = ", ".join(
        [
            "(%s::int, %s::uuid, %s::bigint, %s::bigint, %s::text, %s::uuid, %s::numeric, %s::text,"
            " %s::text, %s::bigint)"
        ]
        * len(rows)
    )
    told = [value for row in rows for value in row.values()]
    [(found,)] = api_server.query(
        f"SELECT {LINES_DIGEST_SQL} FROM (VALUES {given}) AS l ({', '.join(_NAMES)})", *told
    )
    assert lines_digest(rows) == found


def test_each_fact_of_a_line_counts() -> None:
    first = line(1, "a", _CODE, "20", TaxPart.NET)
    others: list[dict[str, Any]] = [
        {"account_id": _CODE},
        {"debit": 1_501},
        {"debit": 0, "credit": 1_500},
        {"description": None},
        {"description": "b"},
        {"currency": "USD", "currency_amount": 1_650},
        {"tax_rate": "21"},
        {"tax_part": TaxPart.INPUT},
        {"tax_code_id": None},
    ]
    digests = {lines_digest([{**first, **other}, line(2)]) for other in [{}, *others]}
    assert len(digests) == 1 + len(others)
