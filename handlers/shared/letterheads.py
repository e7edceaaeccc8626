"""How a business stands on its papers."""

from pdf_files import Issuer, Style
from persistence.ledger.letterheads import Letterhead


def issuer_of(letterhead: Letterhead) -> Issuer:
    """Name the business and its numbers."""
    return Issuer(
        name=letterhead.name,
        legal_name=letterhead.legal_name,
        country=letterhead.country,
        email=letterhead.email,
        phone_number=letterhead.phone_number,
        vat_number=letterhead.vat_number,
        company_number=letterhead.company_number,
        tax_number=letterhead.tin,
    )


def style_of(letterhead: Letterhead, currency: str) -> Style:
    """Say in which words and numbers its papers are."""
    return Style(language=letterhead.coa_language, country=letterhead.country, currency=currency)
