"""Invoices as PDF files: the texts, their positions, and the number of pages."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from libraries.pdf_files import (
    InvoiceState,
    Issuer,
    Recipient,
    SettledBy,
    Settlement,
    Style,
    TaxTotal,
    draw_invoice,
)
from libraries.pdf_files.letters import BOX, width
from libraries.pdf_files.tests.papers import BRITISH, TWENTY, invoice, invoice_line, pages, texts

RIGHT = 210 - 18  # The left edge of the right margin, in mm.
ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=200)


def sums(content: bytes) -> dict[str, str]:
    """Read the totals: each name with the amount beside it."""
    words = pages(content)[-1]
    named = [word for word in words if word.x == pytest.approx(RIGHT - 96, abs=0.1)]
    return {
        name.text: next(w.text for w in words if w.y == name.y and w.x > name.x) for name in named
    }


class TestDrawInvoice:
    def test_says_who_asks_whom_for_what(self) -> None:
        issuer = Issuer(
            name="Harbour Coffee",
            legal_name="Harbour Coffee Ltd",
            country="GB",
            email="books@harbour.example.com",
            phone_number="+442079460018",
            vat_number="GB123456789",
            company_number="01234567",
            tax_number="9876543210",
        )
        recipient = Recipient(
            name="Blue Door Bakery",
            address=("12 Quay Street", "BS1 4DB Bristol"),
            country="FR",
            vat_number="FR40303265045",
            reference="PO-7712",
        )
        found = texts(draw_invoice(invoice(issuer=issuer, recipient=recipient), BRITISH))
        numbers = ["VAT number GB123456789", "Company number 01234567", "Tax number 9876543210"]
        assert found[:8] == [
            *("Harbour Coffee", "Harbour Coffee Ltd", "United Kingdom"),
            *("books@harbour.example.com", "+442079460018"),
            *numbers,
        ]
        assert found[8:15] == [
            *("Invoice", "Bill to", "Blue Door Bakery", "12 Quay Street", "BS1 4DB Bristol"),
            *("France", "VAT number FR40303265045"),
        ]
        assert found[15:23] == [
            *("Number", "INV-000042", "Date", "1 March 2025", "Due", "15 March 2025"),
            *("Your reference", "PO-7712"),
        ]
        assert found[-1] == " · ".join(["Harbour Coffee Ltd", *numbers])

    def test_sums_up_to_what_is_left(self) -> None:
        paper = invoice(
            discount=500,
            taxes=[
                replace(TWENTY, net=9_500, tax=1_900),
                TaxTotal(code=None, treatment=None, rate=Decimal("5.5"), net=200, tax=11),
                TaxTotal(code=None, treatment=None, rate=None, net=200, tax=7),
                TaxTotal(code="SE", treatment="exempt", rate=Decimal(0), net=300, tax=0),
            ],
            withheld=18,
            total=11_400,
            settlements=[
                Settlement(SettledBy.PAYMENT, date(2025, 3, 10), 5_000),
                Settlement(SettledBy.CREDIT, date(2025, 3, 11), 1_000),
                Settlement(SettledBy.WRITE_OFF, date(2025, 3, 12), 400),
            ],
            left=5_000,
        )
        assert sums(draw_invoice(paper, BRITISH)) == {
            "Subtotal without VAT": "£100.00",
            "Discount": "-£5.00",
            "VAT 20% of £95.00 (S20)": "£19.00",
            "VAT 5.5% of £2.00": "£0.11",
            "VAT on £2.00": "£0.07",
            "Exempt from VAT, of £3.00 (SE)": "£0.00",
            "Tax withheld": "-£0.18",
            "Total": "£114.00",
            "Paid on 10 March 2025": "-£50.00",
            "Credited on 11 March 2025": "-£10.00",
            "Written off on 12 March 2025": "-£4.00",
            "Amount due": "£50.00",
        }

    def test_has_columns_for_what_lines_have(self) -> None:
        plain = invoice(lines=[invoice_line(rate=None)], taxes=[])
        assert {"VAT", "Discount"}.isdisjoint(texts(draw_invoice(plain, BRITISH)))
        reduced = invoice(lines=[invoice_line(discount=150), invoice_line(rate=None)])
        found = texts(draw_invoice(reduced, BRITISH))
        assert {"VAT", "Discount", "-1.50"} <= set(found)

    def test_sets_amounts_to_the_right(self) -> None:
        lines = [invoice_line(amount=amount) for amount in (5, 123_456_789, -1_000)]
        for word in pages(draw_invoice(invoice(lines=lines), BRITISH))[0]:
            if word.text in ("0.05", "1,234,567.89", "-10.00"):
                assert word.x + width(word.text, word.size) == pytest.approx(RIGHT, abs=0.1)
            if word.text == "£70.00":
                assert word.x + width(word.text, 8.5, bold=True) == pytest.approx(RIGHT, abs=0.1)

    @pytest.mark.parametrize(
        ("state", "title"),
        [(InvoiceState.DRAFT, "Draft invoice"), (InvoiceState.VOID, "Void invoice")],
    )
    def test_says_in_its_title_what_is_not_valid(self, state: InvoiceState, title: str) -> None:
        content = draw_invoice(invoice(state=state, number=None), BRITISH)
        assert title in texts(content)
        assert "Number" not in texts(content)

    @pytest.mark.parametrize(
        ("language", "country", "title", "due", "left"),
        [
            ("de", "DE", "Rechnung", "Offener Betrag", "70,00 €"),
            ("nl", "NL", "Factuur", "Te betalen", "€ 70,00"),
            ("fr", "FR", "Facture", "Reste à payer", "70,00 €"),
            ("es", "ES", "Factura", "Pendiente de pago", "70,00 €"),
        ],
    )
    def test_is_in_the_language_of_the_business(
        self, language: str, country: str, title: str, due: str, left: str
    ) -> None:
        style = Style(language=language, country=country, currency="EUR")
        content = draw_invoice(invoice(), style)
        assert title in texts(content)
        assert " ".join(sums(content)[due].split()) == left

    def test_mentions_who_owes_the_tax_under_reverse_charge(self) -> None:
        tax = TaxTotal(code="SU", treatment="reverse_charge", rate=Decimal(0), net=10_000, tax=0)
        style = Style(language="de", country="DE", currency="EUR")
        found = texts(draw_invoice(invoice(taxes=[tax]), style))
        assert "Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge)." in found

    def test_says_whether_prices_include_tax(self) -> None:
        assert "Amounts in GBP, without VAT" in texts(draw_invoice(invoice(), BRITISH))
        gross = invoice(prices_include_tax=True)
        assert "Amounts in GBP, with VAT" in texts(draw_invoice(gross, BRITISH))

    def test_carries_the_note_to_the_customer(self) -> None:
        found = texts(draw_invoice(invoice(memo="July beans.\nThank you!"), BRITISH))
        assert found[found.index("Notes") + 1 :][:2] == ["July beans.", "Thank you!"]

    def test_goes_on_for_as_many_pages_as_it_takes(self) -> None:
        lines = [invoice_line(title=f"Line {number}") for number in range(1, 501)]
        found = pages(draw_invoice(invoice(lines=lines), BRITISH))
        titles = [[w.text for w in page if w.text == "Description"] for page in found]
        assert len(found) > 10
        assert titles == [["Description"]] * len(found)
        drawn = [w.text for page in found for w in page if w.text.startswith("Line ")]
        assert drawn == [f"Line {number}" for number in range(1, 501)]
        assert f"Page 2 of {len(found)}" in [word.text for word in found[1]]
        lowest = min(w.y for page in found for w in page if not w.text.startswith(("Page", "Harb")))
        assert lowest > 20

    @pytest.mark.parametrize("count", range(14, 24))
    def test_keeps_the_sums_together(self, count: int) -> None:
        found = pages(draw_invoice(invoice(lines=[invoice_line()] * count), BRITISH))
        last = {word.text for word in found[-1]}
        assert {"Subtotal without VAT", "Total", "Amount due"} <= last

    def test_sets_a_text_that_is_longer_than_a_page(self) -> None:
        line = invoice_line(title="word " * 2_000, details="d" * 20_000)
        found = pages(draw_invoice(invoice(lines=[line]), BRITISH))
        assert len(found) > 2
        assert sum(w.text.count("word") for page in found for w in page) == 2_000

    def test_makes_room_for_the_largest_numbers(self) -> None:
        most = 99_999_999_999_999
        line = invoice_line(
            quantity=Decimal("99999999.123456"),
            unit_price=most,
            discount=most,
            rate=Decimal("99.1234"),
            amount=-most,
        )
        paper = invoice(lines=[line], total=most, left=most)
        words = [w for w in pages(draw_invoice(paper, BRITISH))[0] if "999,999.99" in w.text]
        assert len(words) >= 5
        places = sorted(w.x for w in words if w.y == words[0].y)
        assert places[0] > 50

    @pytest.mark.parametrize(
        ("price", "written"),
        [("16.48", "0.1648"), ("1648", "16.48"), ("0.000000000001", "0.00000000000001")],
    )
    def test_writes_a_price_with_all_its_decimals(self, price: str, written: str) -> None:
        line = invoice_line(quantity=Decimal(7_000), unit_price=Decimal(price), amount=115_360)
        assert written in texts(draw_invoice(invoice(lines=[line]), BRITISH))

    def test_has_the_same_bytes_again(self) -> None:
        assert draw_invoice(invoice(), BRITISH) == draw_invoice(invoice(), BRITISH)
        assert draw_invoice(invoice(), BRITISH) != draw_invoice(invoice(left=1), BRITISH)

    def test_tells_readers_of_files_what_it_is(self) -> None:
        from io import BytesIO

        read = PdfReader(BytesIO(draw_invoice(invoice(), BRITISH)))
        assert read.metadata is not None
        assert read.metadata.title == "Invoice INV-000042"
        assert read.metadata.author == "Harbour Coffee Ltd"
        assert read.root_object["/Lang"] == "en"

    def test_shows_boxes_and_never_its_own_marks(self) -> None:
        names = Recipient(name="店舗 Ζαχαροπλαστείο", address=("{nb}", "**bold** (\\)", "Кафе"))
        found = texts(draw_invoice(invoice(recipient=names), BRITISH))
        assert f"{BOX}{BOX} Ζαχαροπλαστείο" in found
        assert {"{nb}", "**bold** (\\)", "Кафе"} <= set(found)

    @given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
    @settings(max_examples=30, deadline=None)
    def test_takes_any_text(self, name: str, title: str, memo: str) -> None:
        paper = invoice(
            number=name,
            issuer=Issuer(name=name, legal_name=title, vat_number=memo),
            recipient=Recipient(name=title, address=(name, memo), country=name, reference=memo),
            lines=[invoice_line(title=title, details=memo)],
            memo=memo,
        )
        assert draw_invoice(paper, BRITISH).startswith(b"%PDF-")
