"""The tax codes of a run: those of a new British business, and some of its own."""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

CHARGED, FREE, ASSESSED, WITHHELD = "charged", "free", "assessed", "withheld"
KINDS = {
    "standard": CHARGED,
    "reduced": CHARGED,
    "reverse_charge": ASSESSED,
    "acquisition": ASSESSED,
    "import_postponed": ASSESSED,
    "withholding": WITHHELD,
}


@dataclass(frozen=True)
class Rate:
    """A rate in percent, the recovered percentage of its tax, and the days on which it applies."""

    percent: Fraction
    recovered: int = 100
    since: date = date.min
    until: date = date.max


@dataclass(eq=False)
class Code:
    """A tax code; `account` is the account of its tax."""

    name: str
    treatment: str
    rates: tuple[Rate, ...]
    account: str
    sales: bool
    is_default: bool = False
    own: bool = False
    id: str = ""

    @property
    def kind(self) -> str:
        """The treatment of its tax: charged, self-assessed or withheld; free if there is none."""
        if self.sales and self.treatment == "reverse_charge":
            return FREE
        return KINDS.get(self.treatment, FREE)

    @property
    def is_lasting(self) -> bool:
        """Return whether the code has a rate on every day."""
        return self.rates[0].since == date.min and self.rates[-1].until == date.max

    def on(self, day: date) -> Rate | None:
        """Return the rate on a day, if any."""
        return next((each for each in self.rates if each.since <= day <= each.until), None)


@dataclass(frozen=True)
class Mark:
    """The tax mark of an amount: its code, its rate, and its part of the return."""

    code: str
    percent: Fraction
    part: str


def percent(text: object) -> Fraction:
    return Fraction(str(text))


TWENTY, FIVE, NOTHING = Rate(percent(20)), Rate(percent(5)), Rate(percent(0))
TURN = date(2025, 2, 28)
"""The last day of the first rate of codes that change."""
CHANGING = (
    Rate(percent(10), until=TURN),
    Rate(percent(25), since=date(2025, 3, 1)),
)
HALVED = (
    Rate(percent("12.5"), 50, until=TURN),
    Rate(percent("12.5"), 33, since=date(2025, 3, 1)),
)
ENDED = (Rate(percent(15), until=TURN),)


def codes_of(*, sales: bool) -> list[Code]:
    """Return the codes of a side in a run, and one of the other side."""
    return of_sales() if sales else of_purchases()


def of_sales() -> list[Code]:
    return [
        Code("S20", "standard", (TWENTY,), "2200", True, is_default=True),
        Code("S5", "reduced", (FIVE,), "2200", True),
        Code("S0", "zero", (NOTHING,), "2200", True),
        Code("SE", "exempt", (NOTHING,), "2200", True),
        Code("SO", "out_of_scope", (NOTHING,), "2200", True),
        Code("SR", "reverse_charge", (NOTHING,), "2200", True),
        Code("CHANGING", "standard", CHANGING, "2400", True, own=True),
        Code("ENDED", "reduced", ENDED, "2200", True, own=True),
        Code("KEPT", "withholding", (Rate(percent(15)),), "1310", True, own=True),
        Code("P20", "standard", (TWENTY,), "1300", False, is_default=True),
    ]


def of_purchases() -> list[Code]:
    return [
        Code("P20", "standard", (TWENTY,), "1300", False, is_default=True),
        Code("P5", "reduced", (FIVE,), "1300", False),
        Code("P0", "zero", (NOTHING,), "1300", False),
        Code("PO", "out_of_scope", (NOTHING,), "1300", False),
        Code("PA20", "reverse_charge", (TWENTY,), "1300", False),
        Code("PG5", "acquisition", (FIVE,), "1300", False),
        Code("PI20", "import_postponed", (TWENTY,), "1300", False),
        Code("CHANGING", "standard", CHANGING, "2400", False, own=True),
        Code("ENDED", "reduced", ENDED, "1300", False, own=True),
        Code("HALVED", "standard", HALVED, "1300", False, own=True),
        Code("ABROAD", "reverse_charge", (Rate(percent(20), 60),), "1300", False, own=True),
        Code("KEPT", "withholding", (Rate(percent("7.5")),), "2210", False, own=True),
        Code("S20", "standard", (TWENTY,), "2200", True, is_default=True),
    ]


def body_of(code: Code) -> dict[str, Any]:
    """Return the body that creates a code."""
    return {
        "code": code.name,
        "name": f"Code {code.name}",
        "direction": "sales" if code.sales else "purchases",
        "treatment": code.treatment,
        "rates": [rate_of(each) for each in code.rates],
        "tax_account": code.account,
    }


def rate_of(rate: Rate) -> dict[str, Any]:
    """Return the body of a rate and its days."""
    return {
        "rate": str(float(rate.percent)),
        "recoverable_percent": rate.recovered,
        **({} if rate.since == date.min else {"valid_from": rate.since.isoformat()}),
        **({} if rate.until == date.max else {"valid_to": rate.until.isoformat()}),
    }
