"""Customers and vendors, and the data that documents and payments have of them."""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from accounting.absent import ABSENT, Absent, said
from accounting.errors import Conflict, RuleViolation, ValidationError
from accounting.trade.sides import Side

# Country codes of ISO 3166-1, and common wrong codes.


_LISTED = """
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR
BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ
EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW
GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY
KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV
MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY
QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG
TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM
ZW
"""
CODES = frozenset(_LISTED.split())
"""ISO 3166-1 alpha-2, as of 2026."""

OF_NO_STANDARD = frozenset({"XK"})  # Kosovo: not in the standard, but in common use.
MEANT = {"UK": "GB", "EN": "GB", "EL": "GR", "SP": "ES", "SU": "RU", "YU": "RS", "TP": "TL"}


def country_code(given: str) -> str:
    """Return the code of a country in capitals: for `gb`, GB.

    Raises ValidationError `validation_error` if no country has the code; the error suggests the
    right code for a common wrong one.
    """
    code = given.upper()
    if code in CODES | OF_NO_STANDARD:
        return code
    meant = f"; did you mean {MEANT[code]}?" if code in MEANT else ""
    raise ValidationError.fields(country=[f"is not a country code in ISO 3166-1{meant}"])


# Supplied fields of customers and vendors, and references to them.


@dataclass(frozen=True, slots=True)
class PartyNamed:
    """A customer or vendor, named by its id, by its external id, or by both."""

    id: UUID | None = None
    external_id: str | None = None


@dataclass(frozen=True, slots=True)
class CreatedParty:
    """A customer or vendor that was created because a request names it by an unknown external id.

    `field` is the path of the external id in the request, such as `bills.3.vendor_external_id`.
    """

    noun: str
    external_id: str
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartyDetails:
    """The supplied fields of a customer or vendor."""

    external_id: str | Absent | None = ABSENT
    individual_name: str | Absent | None = ABSENT
    company_name: str | Absent | None = ABSENT
    email: str | Absent | None = ABSENT
    mobile_phone: str | Absent | None = ABSENT
    office_phone: str | Absent | None = ABSENT
    country: str | Absent | None = ABSENT
    address_string: str | Absent | None = ABSENT
    vat_number: str | Absent | None = ABSENT
    transaction_tags: tuple[str, ...] | Absent = ABSENT
    metadata: Any = ABSENT
    payment_terms_days: int | Absent | None = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerDetails(PartyDetails):
    """The supplied fields of a customer."""

    reference_number: str | Absent | None = ABSENT
    address_line1: str | Absent | None = ABSENT
    address_line2: str | Absent | None = ABSENT
    city: str | Absent | None = ABSENT
    state_county: str | Absent | None = ABSENT
    postal_code: str | Absent | None = ABSENT
    tax_exempt: bool | Absent = ABSENT
    notes: str | Absent | None = ABSENT
    credit_limit_cents: int | Absent | None = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorDetails(PartyDetails):
    """The supplied fields of a vendor; `standing` is ACTIVE, INACTIVE or BLOCKED."""

    memo: str | Absent | None = ABSENT
    standing: str | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Party:
    """The data of a customer or vendor that a document or payment has."""

    id: UUID
    name: str
    email: str | None = None
    external_id: str | None = None
    payment_terms_days: int | None = None
    status: str = "ACTIVE"
    company_name: str | None = None
    individual_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trader:
    """The fields that customers and vendors have in common."""

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    external_id: str | None = None
    individual_name: str | None = None
    company_name: str | None = None
    email: str | None = None
    mobile_phone: str | None = None
    office_phone: str | None = None
    country: str | None = None
    address_string: str | None = None
    vat_number: str | None = None
    transaction_tags: tuple[str, ...] = ()
    metadata: Any = None
    payment_terms_days: int | None = None
    archived_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer(Trader):
    """A customer as it is stored."""

    reference_number: str | None = None
    address_line1: str | None = None
    address_line2: str | None = None
    city: str | None = None
    state_county: str | None = None
    postal_code: str | None = None
    tax_exempt: bool = False
    notes: str | None = None
    credit_limit_cents: int | None = None

    @property
    def status(self) -> str:
        """The status: ACTIVE or ARCHIVED."""
        return "ACTIVE" if self.archived_at is None else "ARCHIVED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor(Trader):
    """A vendor as it is stored; `standing` is ACTIVE, INACTIVE or BLOCKED."""

    memo: str | None = None
    standing: str = "ACTIVE"

    @property
    def status(self) -> str:
        """The status: ACTIVE, INACTIVE, BLOCKED or ARCHIVED."""
        return self.standing if self.archived_at is None else "ARCHIVED"


T = TypeVar("T", Customer, Vendor)


def display_name(trader: Trader) -> str:
    """Return the name for people: the company, else the person."""
    return trader.company_name or trader.individual_name or ""


def full_address(customer: Customer) -> str:
    """Return the address on one line: from its parts, else the address string."""
    town = " ".join(part for part in (customer.postal_code, customer.city) if part)
    parts = (
        customer.address_line1,
        customer.address_line2,
        town,
        customer.state_county,
        customer.country,
    )
    return ", ".join(part for part in parts if part) or customer.address_string or ""


def party_of(trader: Customer | Vendor) -> Party:
    """Return the data of a customer or vendor that documents and payments have."""
    return Party(
        id=trader.id,
        name=display_name(trader),
        email=trader.email,
        external_id=trader.external_id,
        payment_terms_days=trader.payment_terms_days,
        status=trader.status,
        company_name=trader.company_name,
        individual_name=trader.individual_name,
    )


def facts(details: PartyDetails) -> dict[str, Any]:
    """Return the supplied fields of a customer or vendor, with the country in capitals.

    Raises ValidationError `validation_error` on `country`.
    """
    given = said(details)
    if given.get("country"):
        given["country"] = country_code(given["country"])
    return given


def refuse_nameless(individual_name: str | None, company_name: str | None) -> None:
    """Refuse a customer or vendor without a name.

    Raises ValidationError `validation_error` on `company_name`.
    """
    if not (individual_name or company_name):
        raise ValidationError.fields(company_name=["is required if individual_name is missing"])


def refuse_inactive(side: Side, party: Party) -> None:
    """Refuse new business with a party that is archived, or a vendor that is not active.

    Raises the side's API error, Conflict `customer_archived` or `vendor_not_active`.
    """
    if party.status != "ACTIVE":
        named = {side.names.party_id: str(party.id)}
        raise side.refusals.party_not_active(status=party.status, **named)


def unknown_party(noun: str, external_id: str, field: str) -> RuleViolation:
    """Return the refusal of an unknown external id, in a business that creates no such party.

    `field` is the path of the external id in the request.
    """
    return RuleViolation(
        "reference_not_found",
        f'No {noun} has the external id "{external_id}", and the business refuses unknown ones.'
        f" Create the {noun} first, or correct {noun}_external_id.",
        field=field,
        resource=noun,
        reference=external_id,
    )


def refuse_reference_mismatch(party: Party, external_id: str | None) -> None:
    """Refuse an external id that is not the external id of the party.

    Raises RuleViolation `reference_mismatch`.
    """
    if external_id is not None and external_id != party.external_id:
        raise RuleViolation.of_names(party.id, external_id, "parties")


def refuse_status_change(vendor: Vendor, wanted: str | None) -> None:
    """Refuse to change the status of an archived vendor, which must be unarchived first.

    Raises Conflict `invalid_state_transition`.
    """
    if wanted is not None and vendor.archived_at is not None:
        raise Conflict.of_state(
            "The vendor is archived. Unarchive it before you change its status.",
            vendor.status,
            ["ACTIVE"],
        )


@dataclass(frozen=True, slots=True)
class OpenAmounts:
    """The open amounts of a customer or vendor, in minor units.

    They are the outstanding amount of documents; the unapplied money of completed payments, and the
    refunded amount of payments that are no longer completed; the unapplied amount of credits; and
    the unpaid amount of refunds.
    """

    outstanding_balance: int = 0
    unapplied_payments: int = 0
    unapplied_credits: int = 0
    unpaid_refunds: int = 0


def archive(side: Side, trader: T, open_amounts: OpenAmounts, now: datetime) -> T:
    """Archive a customer or vendor; one that is archived already is returned unchanged.

    Raises the side's API error if anything is open, Conflict `customer_has_balance` or
    `vendor_has_balance`: for example if 500 were paid in advance and nothing is outstanding.
    """
    if trader.archived_at is not None:
        return trader
    amounts = asdict(open_amounts)
    if any(amounts.values()):
        raise side.refusals.party_has_balance(**amounts)
    return replace(trader, archived_at=now)


def unarchive(trader: T) -> T:
    """Unarchive a customer or vendor; one that is not archived is returned unchanged.

    A vendor becomes ACTIVE, whatever its earlier standing.
    """
    if trader.archived_at is None:
        return trader
    back = replace(trader, archived_at=None)
    return replace(back, standing="ACTIVE") if isinstance(back, Vendor) else back
