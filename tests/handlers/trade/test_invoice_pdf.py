"""get_invoice_pdf: an invoice as its customer receives it."""

from collections import Counter

import pytest

from libraries.pdf_files.tests.papers import pages, texts
from tests.bookkeeping import Ledger
from tests.builders.sales import credited, invoice_body, paid, part, sent, written_off
from tests.builders.trade import Record, line
from tests.partner import Business, Partner

HOSTILE = (
    "\u202e=1+1 {nb} </text> (\\) %PDF- \u202e 👩\u200d🍳 店 שלום مقهى e\u0301 \ue000 " + "W" * 150
)


def paper(shop: Business, invoice: Record) -> bytes:
    answer = shop.api.get(f"invoices/{invoice['id']}/pdf/")
    assert answer.status_code == 200, answer.text
    return answer.content


def beside(content: bytes, name: str) -> str:
    """Return the word on the right of a word."""
    [page] = pages(content)
    [named] = [word for word in page if word.text == name]
    return next(word.text for word in page if word.y == named.y and word.x > named.x)


def amount_due(content: bytes) -> str:
    return beside(content, "Amount due")


class TestGetInvoicePdf:
    def test_the_pdf_names_seller_buyer_and_lines(self, acme: Partner) -> None:
        shop = acme.business(
            name="Harbour Coffee",
            vat_number="GB980780684",
            company_number="01234567",
            phone_number="+442079460018",
        )
        buyer = shop.customer(
            address_line1="12 Quay Street",
            postal_code="BS1 4DB",
            city="Bristol",
            country="GB",
            vat_number="GB220430231",
            reference_number="PO-7712",
        )
        coffee = line(1_250, 3, description="House blend", product="COFFEE-1KG", tax_rate=20)
        milk = line(1_000, discount_amount=100, product="Milk", tax_code="S0")
        invoice = sent(
            shop, buyer, line_items=[coffee, milk], due_at="2025-03-15T00:00:00Z", memo="Thank you!"
        )
        answer = shop.api.get(f"invoices/{invoice['id']}/pdf/")
        assert answer.headers["content-disposition"] == 'attachment; filename="inv-000001.pdf"'
        [page] = pages(answer.content)
        words = [word.text for word in page]
        assert words[:6] == [
            *("Harbour Coffee", "Harbour Coffee Ltd", "United Kingdom"),
            *("books@harbour.example.com", "+442079460018", "VAT number GB980780684"),
        ]
        recipient = words.index("Bill to") + 1
        assert words[recipient : recipient + 5] == [
            *("Blue Door Bakery", "12 Quay Street", "BS1 4DB Bristol", "United Kingdom"),
            "VAT number GB220430231",
        ]
        first, second = words.index("House blend"), words.index("Milk")
        blend = ["House blend", "3", "12.50", "20%", "37.50", "COFFEE-1KG"]
        assert words[first : first + 6] == blend
        assert words[second : second + 6] == ["Milk", "1", "10.00", "-1.00", "0%", "9.00"]
        facts = {"Number": "INV-000001", "Date": "1 March 2025", "Due": "15 March 2025"}
        sums = {
            "Subtotal without VAT": "£46.50",
            "VAT 20% of £37.50 (S20)": "£7.50",
            "Zero-rated, of £9.00 (S0)": "£0.00",
            "Total": "£54.00",
            "Amount due": "£54.00",
        }
        for name, value in (facts | sums | {"Your reference": "PO-7712"}).items():
            assert beside(answer.content, name) == value
        assert "Thank you!" in words

    def test_the_pdf_shows_settlements_and_the_open_amount(
        self, shop: Business, buyer: Record, ledger: Ledger
    ) -> None:
        invoice = sent(shop, buyer, 10_000)
        paid(shop, buyer, 2_500, part(invoice, 2_500))
        credited(shop, buyer, 1_000, {"invoice_id": invoice["id"], "amount": 1_000})
        written_off(shop, invoice, amount_cents=500, write_off_at="2025-03-20T00:00:00Z")
        content = paper(shop, invoice)
        assert beside(content, "Paid on 10 March 2025") == "-£25.00"
        assert beside(content, "Credited on 5 March 2025") == "-£10.00"
        assert beside(content, "Written off on 20 March 2025") == "-£5.00"
        assert amount_due(content) == "£60.00"

    def test_money_on_its_way_has_paid_nothing_yet(self, shop: Business, buyer: Record) -> None:
        invoice = sent(shop, buyer, 10_000)
        paid(shop, buyer, 2_500, part(invoice, 2_500), status="pending")
        paid(shop, buyer, 1_500, part(invoice, 1_500))
        content = paper(shop, invoice)
        assert [text for text in texts(content) if text.startswith("-£")] == ["-£15.00"]
        assert amount_due(content) == "£85.00"

    def test_the_pdf_shows_no_failed_payment(self, shop: Business, buyer: Record) -> None:
        invoice = sent(shop, buyer, 10_000)
        payment = paid(shop, buyer, 2_500, part(invoice, 2_500))
        shop.api.patch(f"invoices/payments/{payment['id']}/", json={"status": "failed"})
        content = paper(shop, invoice)
        assert [text for text in texts(content) if text.startswith("-£")] == []
        assert amount_due(content) == "£100.00"

    def test_prices_that_include_tax_stay_what_they_are(
        self, shop: Business, buyer: Record
    ) -> None:
        priced = line(1_200, 2, description="Cup", tax_rate=20)
        facts = {"amounts_include_tax": True, "additional_discount": 240}
        content = paper(shop, sent(shop, buyer, line_items=[priced], **facts))
        words = texts(content)
        assert words[words.index("Cup") :][:5] == ["Cup", "2", "12.00", "20%", "24.00"]
        assert "Amounts in GBP, with VAT" in words
        assert beside(content, "Subtotal without VAT") == "£20.00"
        assert beside(content, "Discount") == "-£2.00"
        assert beside(content, "VAT 20% of £18.00 (S20)") == "£3.60"
        assert beside(content, "Total") == "£21.60"

    def test_taxes_that_were_given_are_named_by_their_codes(
        self, shop: Business, buyer: Record
    ) -> None:
        given = [
            {"amount": 150, "tax_code": "S20"},
            {"amount": 50, "tax_code": "S5"},
            {"amount": 7},
        ]
        content = paper(shop, sent(shop, buyer, line_items=[line(1_000, sales_taxes=given)]))
        assert beside(content, "VAT 20% of £10.00 (S20)") == "£1.50"
        assert beside(content, "VAT 5% of £10.00 (S5)") == "£0.50"
        assert beside(content, "Total") == "£12.07"

    @pytest.mark.parametrize(
        ("language", "title", "due", "total"),
        [
            ("de", "Rechnung", "Offener Betrag", "1.190,00 €"),
            ("nl", "Factuur", "Te betalen", "€ 1.190,00"),
            ("fr", "Facture", "Reste à payer", "1 190,00 €"),
            ("es", "Factura", "Pendiente de pago", "1.190,00 €"),
            ("en", "Invoice", "Amount due", "1.190,00 €"),
        ],
    )
    def test_the_pdf_is_in_the_language_of_the_chart(
        self, acme: Partner, language: str, title: str, due: str, total: str
    ) -> None:
        shop = acme.business(country="DE", entity_type="gmbh", coa_language=language)
        items = [line(100_000, tax_rate=19)]
        content = paper(shop, sent(shop, shop.customer(), line_items=items))
        assert title in texts(content)
        assert " ".join(beside(content, due).split()) == total

    def test_a_currency_without_minor_units_has_none(self, acme: Partner) -> None:
        shop = acme.business(country="IS", entity_type="ehf")
        content = paper(shop, sent(shop, shop.customer(), 123_450))
        assert amount_due(content) == "ISK123,450"

    @pytest.mark.parametrize(
        ("currency", "rate", "sums", "told"),
        [
            (
                "USD",
                "0.8123",
                {
                    "VAT 20% of US$200.50 (S20)": "US$40.10",
                    "Total": "US$240.60",
                    "Paid on 10 March 2025": "-US$60.00",
                    "Amount due": "US$180.60",
                },
                "Exchange rate: 1 USD = 0.8123 GBP. VAT in GBP: £32.57.",
            ),
            (
                "ISK",
                "0.00567",
                {
                    "VAT 20% of ISK20,050 (S20)": "ISK4,010",
                    "Total": "ISK24,060",
                    "Paid on 10 March 2025": "-ISK6,000",
                    "Amount due": "ISK18,060",
                },
                "Exchange rate: 1 ISK = 0.00567 GBP. VAT in GBP: £22.74.",
            ),
        ],
    )
    def test_a_foreign_invoice_states_its_rate_and_the_tax_in_base(
        self,
        shop: Business,
        buyer: Record,
        currency: str,
        rate: str,
        sums: dict[str, str],
        told: str,
    ) -> None:
        foreign = {"currency": currency, "exchange_rate": rate}
        invoice = sent(shop, buyer, line_items=[line(20_050, tax_rate=20)], **foreign)
        paid(shop, buyer, 6_000, part(invoice, 6_000), **foreign)
        content = paper(shop, invoice)
        assert {name: beside(content, name) for name in sums} == sums
        assert {f"Amounts in {currency}, without VAT", told} <= set(texts(content))

    def test_only_an_issued_foreign_invoice_states_a_rate(
        self, shop: Business, buyer: Record
    ) -> None:
        foreign = {"currency": "USD", "exchange_rate": "0.8"}
        draft = shop.made("invoices/", invoice_body(buyer, **foreign))
        for invoice in (draft, sent(shop, buyer)):
            told = [text for text in texts(paper(shop, invoice)) if "xchange" in text]
            assert told == []

    def test_a_draft_says_that_it_is_one(self, shop: Business, buyer: Record) -> None:
        draft = shop.made("invoices/", invoice_body(buyer))
        answer = shop.api.get(f"invoices/{draft['id']}/pdf/")
        assert '"draft.pdf"' in answer.headers["content-disposition"]
        words = texts(answer.content)
        assert "Draft invoice" in words
        assert "Number" not in words

    def test_a_void_one_says_that_it_is_not_owed(self, shop: Business, buyer: Record) -> None:
        invoice = sent(shop, buyer, 10_000)
        assert shop.api.post(f"invoices/{invoice['id']}/void/").status_code == 200
        content = paper(shop, invoice)
        assert "Void invoice" in texts(content)
        assert amount_due(content) == "£0.00"

    def test_the_pdf_has_as_many_pages_as_needed(self, shop: Business, buyer: Record) -> None:
        lines = [line(1_000, description=f"Line {at}", tax_rate=20) for at in range(1, 501)]
        sheets = pages(paper(shop, sent(shop, buyer, line_items=lines)))
        counted = Counter(word.text for page in sheets for word in page)
        assert all(counted[f"Line {at}"] == 1 for at in range(1, 501))
        assert counted["£6,000.00"] == 2
        assert counted[f"Page 3 of {len(sheets)}"] == 1

    def test_its_bytes_change_with_what_stands_on_it(self, acme: Partner) -> None:
        shop = acme.business()
        buyer = shop.customer()
        invoice = sent(shop, buyer, 10_000)
        first = paper(shop, invoice)
        assert paper(shop, invoice) == first
        shop.api.patch(f"customers/{buyer['id']}/", json={"city": "Bristol"})
        second = paper(shop, invoice)
        assert second != first
        paid(shop, buyer, 2_500, part(invoice, 2_500))
        assert paper(shop, invoice) not in (first, second)

    def test_letters_that_the_font_lacks_are_boxes(self, acme: Partner) -> None:
        shop = acme.business(name="Кафе «Гавань»", legal_name="Λιμάνι ΕΠΕ")
        buyer = shop.customer(company_name="喫茶店 Blå Dør €", address_string="Gate 1\nקפה")
        words = texts(paper(shop, sent(shop, buyer)))
        assert {"Кафе «Гавань»", "Λιμάνι ΕΠΕ", "□□□ Blå Dør €", "Gate 1", "□□□"} <= set(words)

    def test_no_text_makes_it_fail(self, acme: Partner) -> None:
        shop = acme.business(name=HOSTILE[:200], legal_name=HOSTILE[:200])
        buyer = shop.customer(company_name=HOSTILE[:200], address_string=HOSTILE, notes=HOSTILE)
        items = [line(description=HOSTILE * 4, product=HOSTILE)]
        named: Record = {"invoice_number": '../../\u202e"; rm -rf ', "memo": HOSTILE * 20}
        invoice = sent(shop, buyer, line_items=items, **named)
        answer = shop.api.get(f"invoices/{invoice['id']}/pdf/")
        assert answer.headers["content-disposition"] == 'attachment; filename="rm--rf.pdf"'
        assert "{nb}" in " ".join(texts(answer.content))

    @pytest.mark.parametrize("accepted", ["application/json", "application/pdf", "*/*"])
    def test_the_answer_is_a_pdf_for_any_accept_header(
        self, shop: Business, buyer: Record, accepted: str
    ) -> None:
        invoice = sent(shop, buyer)
        headers = {"Accept": accepted}
        answer = shop.api.get(f"invoices/{invoice['id']}/pdf/", headers=headers)
        assert answer.headers["content-type"] == "application/pdf"
        assert answer.content.startswith(b"%PDF-")
