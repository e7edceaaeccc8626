"""The demo's business: a coffee roaster, what it sells and to whom."""

from dataclasses import dataclass, field
from typing import Any

Line = dict[str, Any]

BUSINESS = {
    "external_id": "tidewater-roasters",
    "legal_name": "Tidewater Roasters Ltd",
    "name": "Tidewater Roasters",
    "entity_type": "limited",
    "email": "books@tidewater.example.com",
    "country": "GB",
}

ACCOUNTS = (
    {"code": "4010", "name": "Coffee", "external_id": "coffee"},
    {"code": "4020", "name": "Training and service", "external_id": "service"},
    {"code": "4030", "name": "Machine rental", "external_id": "rental"},
)
"""Below Sales; what is sold names one of them."""


def product(name: str, unit_price: int, code: str, tax_rate: int) -> Line:
    """One thing that is sold; beans bear no VAT, services do."""
    return {
        "description": name,
        "unit_price": unit_price,
        "account_identifier": {"type": "AccountCode", "code": code},
        "tax_rate": tax_rate,
    }


BEANS = (
    product("House blend, 1 kg", 1_850, "4010", 0),
    product("Single origin, 1 kg", 2_640, "4010", 0),
    product("Decaf, 1 kg", 1_995, "4010", 0),
    product("Espresso blend, 5 kg", 8_400, "4010", 0),
)
TRAINING = product("Barista training, half a day", 14_500, "4020", 20)
GRINDER = product("Grinder service", 9_550, "4020", 20)
TASTING = product("Tasting for a group", 22_000, "4020", 20)
SERVICES = (TRAINING, GRINDER, TASTING)
RENTAL = product("Espresso machine, one month", 18_000, "4030", 20)


@dataclass(frozen=True, slots=True)
class Customer:
    """Who buys; `habit` says how they pay. Those with `monthly` beans get an invoice a month."""

    name: str
    habit: str
    monthly: int = 0
    rents: bool = False
    facts: dict[str, Any] = field(default_factory=dict)


CUSTOMERS = (
    Customer("blue-door", "prompt", 12, True, {"company_name": "Blue Door Bakery"}),
    Customer("corner", "halves", 6, False, {"company_name": "The Corner House"}),
    Customer("quay", "slow", 9, True, {"company_name": "Quay Street Kitchen"}),
    Customer("museum", "two at once", 15, True, {"company_name": "Museum of the Sea"}),
    Customer("grand", "in advance", 20, True, {"company_name": "Grand Pier Hotel"}),
    Customer("studio", "card", 4, False, {"company_name": "Studio Larch"}),
    Customer("kiosk", "cash", 3, False, {"company_name": "Kiosk No. 7"}),
    Customer("library", "check", 5, False, {"company_name": "Friends of the Library"}),
    Customer("amara", "card", facts={"individual_name": "Amara Lindqvist"}),
    Customer("tomas", "prompt", facts={"individual_name": "Tomas Okafor"}),
    Customer("noor", "card", facts={"individual_name": "Noor Haddad", "country": "NL"}),
)
