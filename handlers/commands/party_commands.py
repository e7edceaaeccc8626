"""Customers and vendors, and references to them in other bodies."""

from uuid import UUID

from accounting.absent import ABSENT, Absent, or_none
from accounting.trade.party_details import CustomerDetails, PartyNamed, VendorDetails
from handlers.bodies import CustomerCreate, CustomerUpdate, VendorCreate, VendorUpdate


def party(id: UUID | Absent, external_id: str | Absent) -> PartyNamed:
    """Parse a reference to a customer or vendor."""
    return PartyNamed(or_none(id), or_none(external_id))


def customer(body: CustomerCreate | CustomerUpdate) -> CustomerDetails:
    """Parse a customer; both names of the credit limit have the same meaning."""
    limit = body["credit_limit_cents"]
    return CustomerDetails(
        external_id=body["external_id"],
        reference_number=body["reference_number"],
        individual_name=body["individual_name"],
        company_name=body["company_name"],
        email=body["email"],
        mobile_phone=body["mobile_phone"],
        office_phone=body["office_phone"],
        address_line1=body["address_line1"],
        address_line2=body["address_line2"],
        city=body["city"],
        state_county=body["state_county"],
        postal_code=body["postal_code"],
        country=body["country"],
        address_string=body["address_string"],
        vat_number=body["vat_number"],
        notes=body["notes"],
        tax_exempt=body["tax_exempt"],
        transaction_tags=tags(body["transaction_tags"]),
        payment_terms_days=body["payment_terms_days"],
        credit_limit_cents=body["credit_limit"] if limit is ABSENT else limit,
        metadata=body["metadata"],
    )


def create_vendor(body: VendorCreate) -> VendorDetails:
    """Parse a new vendor."""
    return VendorDetails(
        external_id=body["external_id"],
        individual_name=body["individual_name"],
        company_name=body["company_name"],
        email=body["email"],
        mobile_phone=body["mobile_phone"],
        office_phone=body["office_phone"],
        address_string=body["address_string"],
        memo=body["memo"],
        transaction_tags=tags(body["transaction_tags"]),
        country=body["country"],
        vat_number=body["vat_number"],
        payment_terms_days=body["payment_terms_days"],
        metadata=body["metadata"],
    )


def change_vendor(body: VendorUpdate) -> VendorDetails:
    """Parse changes to a vendor; `status` in the body is the vendor's standing."""
    return VendorDetails(
        external_id=body["external_id"],
        individual_name=body["individual_name"],
        company_name=body["company_name"],
        email=body["email"],
        mobile_phone=body["mobile_phone"],
        office_phone=body["office_phone"],
        address_string=body["address_string"],
        memo=body["memo"],
        standing=body["status"],
        transaction_tags=tags(body["transaction_tags"]),
        payment_terms_days=body["payment_terms_days"],
        metadata=body["metadata"],
    )


def tags(given: list[str] | Absent) -> tuple[str, ...] | Absent:
    """Return tags as a tuple; ABSENT if they were not sent."""
    return given if isinstance(given, Absent) else tuple(given)
