"""The demo's business: a coffee roaster, its products, customers and vendors."""

from dataclasses import dataclass, field
from typing import Any

from cli.demo.access import EXTERNAL_ID

Line = dict[str, Any]

BUSINESS = {
    "external_id": EXTERNAL_ID,
    "legal_name": "Tidewater Roasters Ltd",
    "name": "Tidewater Roasters",
    "entity_type": "limited",
    "email": "books@tidewater.example.com",
    "country": "GB",
}

ACCOUNTS = {
    "4000": (
        {"code": "4010", "name": "Coffee", "external_id": "coffee"},
        {"code": "4020", "name": "Training and service", "external_id": "service"},
        {"code": "4030", "name": "Machine rental", "external_id": "rental"},
    ),
    "5000": (
        {"code": "5010", "name": "Green coffee", "external_id": "green-coffee"},
        {"code": "5020", "name": "Packaging", "external_id": "packaging"},
    ),
    "6000": (
        {"code": "6010", "name": "Rent", "external_id": "rent"},
        {"code": "6020", "name": "Energy", "external_id": "energy"},
        {"code": "6030", "name": "Repairs", "external_id": "repairs"},
    ),
}
"""Accounts below Sales, Cost of sales and General expenses; each product names one of them."""


def product(name: str, price: int | str, code: str, tax_rate: int) -> Line:
    """Return an invoice line without a quantity: `price` in pence, `tax_rate` in percent.

    A price with parts of a penny is text.
    """
    return {
        "description": name,
        "unit_price" if isinstance(price, int) else "unit_price_decimal": price,
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

RENT = product("Roastery and shop, one month", 95_000, "6010", 20)
STANDING_CHARGE = product("Standing charge", 2_400, "6020", 20)
POWER = product("Electricity and gas, 1 kWh", "24.15", "6020", 20)
GREEN = (
    product("Green coffee from Huehuetenango, 1 kg", 610, "5010", 0),
    product("Green coffee from Sidama, 1 kg", 730, "5010", 0),
)
BAGS = product("Bags with a valve, 100 pieces", 1_450, "5020", 20)
PARTS = product("Burrs for a grinder", 8_500, "6030", 20)
REPAIR = product("Repair of the roaster, one hour", 7_800, "6030", 20)


@dataclass(frozen=True, slots=True)
class Customer:
    """A customer; `habit` is how it pays.

    `monthly` is the size of its monthly order, 0 for one who orders only now and then. `advance` is
    the advance payment in pence of a customer who pays in advance.
    """

    name: str
    habit: str
    monthly: int = 0
    rents: bool = False
    facts: dict[str, Any] = field(default_factory=dict)
    advance: int = 0


@dataclass(frozen=True, slots=True)
class Vendor:
    """A vendor; `habit` is how its bills are paid.

    A vendor with a `day` sends one bill a month. `initials` begin its bill numbers. `supplies` are
    lines with their least and greatest quantity. `advance` is as for a customer.
    """

    name: str
    initials: str
    habit: str = "prompt"
    day: int | None = None
    supplies: tuple[tuple[Line, int, int], ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    advance: int = 0


Party = Customer | Vendor


CUSTOMERS = (
    Customer("blue-door", "prompt", 12, True, {"company_name": "Blue Door Bakery"}),
    Customer("corner", "halves", 6, False, {"company_name": "The Corner House"}),
    Customer("quay", "slow", 9, True, {"company_name": "Quay Street Kitchen"}),
    Customer("museum", "two at once", 15, True, {"company_name": "Museum of the Sea"}),
    Customer("grand", "in advance", 20, True, {"company_name": "Grand Pier Hotel"}, 900_000),
    Customer("studio", "card", 4, False, {"company_name": "Studio Larch"}),
    Customer("kiosk", "cash", 3, False, {"company_name": "Kiosk No. 7"}),
    Customer("library", "check", 5, False, {"company_name": "Friends of the Library"}),
    Customer("amara", "card", facts={"individual_name": "Amara Lindqvist"}),
    Customer("tomas", "prompt", facts={"individual_name": "Tomas Okafor"}),
    Customer("noor", "card", facts={"individual_name": "Noor Haddad", "country": "NL"}),
)

VENDORS = (
    Vendor(
        "harbour",
        initials="HE",
        day=1,
        supplies=((RENT, 1, 1),),
        facts={"company_name": "Harbour Estates"},
    ),
    Vendor(
        "highland",
        initials="HG",
        habit="halves",
        day=5,
        supplies=tuple((kind, 60, 120) for kind in GREEN),
        facts={"company_name": "Highland Green Coffee"},
    ),
    Vendor(
        "growers",
        initials="SG",
        habit="in advance",
        day=9,
        supplies=((GREEN[1], 40, 70),),
        advance=150_000,
        facts={"company_name": "Sidama Growers"},
    ),
    Vendor(
        "northgrid",
        initials="NE",
        day=12,
        supplies=((STANDING_CHARGE, 1, 1), (POWER, 900, 1_600)),
        facts={"company_name": "Northgrid Energy"},
    ),
    Vendor(
        "bag-maker",
        initials="VK",
        habit="cash",
        day=16,
        supplies=((BAGS, 1, 2),),
        facts={"company_name": "Valve & Kraft"},
    ),
    Vendor("machinist", initials="MW", facts={"individual_name": "Morag Wallace"}),
)
