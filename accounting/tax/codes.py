"""Tax codes: how sales and purchases are taxed, and at which rate on which day."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Final
from uuid import UUID

from accounting.books.chart import Role
from accounting.books.tax_marks import TaxPart

WHOLE: Final = Decimal(100)


class Direction(StrEnum):
    """Whether a code is of what is sold or of what is bought."""

    SALES = "sales"
    PURCHASES = "purchases"


class Treatment(StrEnum):
    """How a sale or purchase is taxed."""

    STANDARD = "standard"
    REDUCED = "reduced"
    ZERO = "zero"
    EXEMPT = "exempt"
    OUT_OF_SCOPE = "out_of_scope"
    REVERSE_CHARGE = "reverse_charge"  # Whoever buys owes the tax.
    ACQUISITION = "acquisition"  # Goods from another country of the EU.
    IMPORT_POSTPONED = "import_postponed"  # Declared in the return in place of paid at the border.
    WITHHOLDING = "withholding"  # Income tax that the buyer keeps back.


CHARGED: Final = frozenset({Treatment.STANDARD, Treatment.REDUCED})
"""What is charged to whoever buys; a rate alone names one of these."""

PURCHASES_ONLY: Final = frozenset({Treatment.ACQUISITION, Treatment.IMPORT_POSTPONED})

UNTAXED: Final = frozenset({Treatment.ZERO, Treatment.EXEMPT, Treatment.OUT_OF_SCOPE})


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate in percent, and how much of the tax is recovered, from one day to another, both in."""

    rate: Decimal
    recoverable_percent: Decimal = WHOLE
    valid_from: date | None = None
    valid_to: date | None = None

    def holds_on(self, day: date) -> bool:
        """Tell whether it is the rate of a day; without an end it goes on and on."""
        begun = self.valid_from is None or self.valid_from <= day
        return begun and (self.valid_to is None or day <= self.valid_to)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxCode:
    """A tax code of a business as it is stored."""

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    code: str
    name: str
    direction: Direction
    treatment: Treatment
    rates: tuple[Rate, ...]
    tax_account_id: UUID
    boxes: Mapping[TaxPart, tuple[str, ...]]
    is_default: bool = False
    archived_at: datetime | None = None


@dataclass(frozen=True)
class TaxCodes:
    """The tax codes of a business, the archived ones too."""

    codes: tuple[TaxCode, ...]

    @cached_property
    def _charging(self) -> Mapping[tuple[Direction, Decimal], tuple[TaxCode, ...]]:
        """The active codes that charge a rate on any day."""
        found: dict[tuple[Direction, Decimal], dict[UUID, TaxCode]] = defaultdict(dict)
        for code in self.codes:
            if code.treatment in CHARGED and code.archived_at is None:
                for held in code.rates:
                    found[code.direction, held.rate][code.id] = code
        return {key: tuple(codes.values()) for key, codes in found.items()}

    def named(self, reference: str) -> TaxCode | None:
        """Find a code by its id, then by the code itself, which is compared letter by letter."""
        by_id = next((each for each in self.codes if str(each.id) == reference.lower()), None)
        return by_id or next((each for each in self.codes if each.code == reference), None)

    def for_rate(self, direction: Direction, rate: Decimal, day: date) -> TaxCode | None:
        """Find the code that a rate alone names: an active one that charges it on a day.

        Of several it is the default, and without one none. 20 % on a sale in Great Britain is S20,
        and 0 % names none: it may be zero, exempt or out of scope.
        """
        if not rate:
            return None
        charging = [
            each
            for each in self._charging.get((direction, rate), ())
            if (held := rate_on(each, day)) is not None and held.rate == rate
        ]
        if len(charging) == 1:
            return charging[0]
        return next((each for each in charging if each.is_default), None)


def rate_on(code: TaxCode, day: date) -> Rate | None:
    """Find the rate of a code on a day: in Germany 16 of S19 on 2020-07-01, and 19 before it."""
    return next((rate for rate in code.rates if rate.holds_on(day)), None)


def account_role(direction: Direction, treatment: Treatment) -> Role:
    """Tell which account the tax of a code stands on: that of a sale on 2200 VAT payable."""
    sold = direction is Direction.SALES
    if treatment is Treatment.WITHHOLDING:
        return Role.WITHHOLDING_TAX_RECEIVABLE if sold else Role.WITHHOLDING_TAX_PAYABLE
    return Role.OUTPUT_TAX if sold else Role.INPUT_TAX
