"""Issuer, recipient and style of printed documents."""

from accounting.trade.parties import Customer, display_name
from libraries.pdf_files import Issuer, Recipient, Style
from persistence.partners.letterheads import Letterhead


def issuer_of(letterhead: Letterhead) -> Issuer:
    """Return the business with its names, contacts and registration numbers."""
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
    """Return the language, country and currency of printed documents."""
    return Style(language=letterhead.coa_language, country=letterhead.country, currency=currency)


def recipient_of(customer: Customer) -> Recipient:
    """Return the customer with its address parts, or else with its free-form address."""
    town = " ".join(part for part in (customer.postal_code, customer.city) if part)
    parts = (customer.address_line1, customer.address_line2, town, customer.state_county)
    address = tuple(part for part in parts if part)
    return Recipient(
        name=display_name(customer),
        address=address or tuple((customer.address_string or "").split("\n")),
        country=customer.country,
        vat_number=customer.vat_number,
        reference=customer.reference_number,
    )
