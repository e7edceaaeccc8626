"""An invoice for the tests, and a reader of PDF pages that is independent of the writer."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any, Final

from pypdf import PageObject, PdfReader

from libraries.pdf_files import (
    Invoice,
    InvoiceLine,
    InvoiceState,
    Issuer,
    Recipient,
    SettledBy,
    Settlement,
    Style,
    TaxTotal,
)

POINT: Final = 25.4 / 72  # In mm.
BRITISH = Style(language="en", country="GB", currency="GBP")
TWENTY = TaxTotal(code="S20", treatment="standard", rate=Decimal(20), net=10_000, tax=2_000)


@dataclass(frozen=True)
class Word:
    """A word on a page: its left end and its height above the foot, in mm."""

    text: str
    x: float
    y: float
    size: float


def pages(content: bytes) -> list[list[Word]]:
    """Read the words of each page, in the order in which they were drawn."""
    return [list(_words(page)) for page in PdfReader(BytesIO(content), strict=True).pages]


def _words(page: PageObject) -> Iterator[Word]:
    found: list[Word] = []

    def visit(text: str, _user: Any, matrix: Any, _font: Any, size: float) -> None:
        if text.strip():
            found.append(Word(text.strip(), matrix[4] * POINT, matrix[5] * POINT, size))

    page.extract_text(visitor_text=visit)
    return iter(found)


def texts(content: bytes) -> list[str]:
    """Read all words of all pages."""
    return [word.text for page in pages(content) for word in page]


def invoice_line(**facts: Any) -> InvoiceLine:
    priced = {"quantity": Decimal(10), "unit_price": 1_000, "rate": Decimal(20), "amount": 10_000}
    return InvoiceLine(**{"title": "House blend, 1 kg", **priced, **facts})


def invoice(**facts: Any) -> Invoice:
    """Create an invoice of 120.00, of which 50.00 are paid."""
    usual: dict[str, Any] = {
        "issuer": Issuer(name="Harbour Coffee", legal_name="Harbour Coffee Ltd", country="GB"),
        "recipient": Recipient(name="Blue Door Bakery", address=("12 Quay Street", "Bristol")),
        "number": "INV-000042",
        "state": InvoiceState.OPEN,
        "issued_on": date(2025, 3, 1),
        "delivered_on": None,
        "due_on": date(2025, 3, 15),
        "prices_include_tax": False,
        "lines": [invoice_line()],
        "subtotal": 10_000,
        "discount": 0,
        "taxes": [TWENTY],
        "withheld": 0,
        "total": 12_000,
        "settlements": [Settlement(SettledBy.PAYMENT, date(2025, 3, 10), 5_000)],
        "left": 7_000,
        "memo": None,
        "written_at": datetime(2025, 3, 1, 9, tzinfo=UTC),
    }
    return Invoice(**{**usual, **facts})
