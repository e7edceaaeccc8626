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
from accounting.books.ledger import TaxPart

WHOLE: Final = Decimal(100)


class Direction(StrEnum):
    """The direction of a tax code: sales or purchases."""

    SALES = "sales"
    PURCHASES = "purchases"


class Treatment(StrEnum):
    """The tax treatment of a sale or purchase."""

    STANDARD = "standard"
    REDUCED = "reduced"
    ZERO = "zero"
    EXEMPT = "exempt"
    OUT_OF_SCOPE = "out_of_scope"
    REVERSE_CHARGE = "reverse_charge"  # The buyer owes the tax.
    ACQUISITION = "acquisition"  # Goods from another country of the EU.
    IMPORT_POSTPONED = "import_postponed"  # Declared in the return, not paid at the border.
    WITHHOLDING = "withholding"  # Income tax that the buyer withholds.


CHARGED: Final = frozenset({Treatment.STANDARD, Treatment.REDUCED})
"""The treatments with tax that a seller charges; a rate without a code is one of these."""

PURCHASES_ONLY: Final = frozenset({Treatment.ACQUISITION, Treatment.IMPORT_POSTPONED})

UNTAXED: Final = frozenset({Treatment.ZERO, Treatment.EXEMPT, Treatment.OUT_OF_SCOPE})


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate in percent, and how much of the tax is recoverable; both days are included."""

    rate: Decimal
    recoverable_percent: Decimal = WHOLE
    valid_from: date | None = None
    valid_to: date | None = None

    def holds_on(self, day: date) -> bool:
        """Return whether this is the rate of a day; without a last day it has no end."""
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
    """The tax codes of a business, including archived ones."""

    codes: tuple[TaxCode, ...]

    @cached_property
    def _charging(self) -> Mapping[tuple[Direction, Decimal], tuple[TaxCode, ...]]:
        """The active codes that charge a rate on any day, by direction and rate."""
        found: dict[tuple[Direction, Decimal], dict[UUID, TaxCode]] = defaultdict(dict)
        for code in self.codes:
            if code.treatment in CHARGED and code.archived_at is None:
                for held in code.rates:
                    found[code.direction, held.rate][code.id] = code
        return {key: tuple(codes.values()) for key, codes in found.items()}

    def named(self, reference: str) -> TaxCode | None:
        """Find a code by its id, else by the code itself, which is case-sensitive."""
        by_id = next((each for each in self.codes if str(each.id) == reference.lower()), None)
        return by_id or next((each for each in self.codes if each.code == reference), None)

    def for_rate(self, direction: Direction, rate: Decimal, day: date) -> TaxCode | None:
        """Find the active code that charges a rate on a day, for a rate without a code.

        If there are several it is the default, and without a default None. 20 % on a sale in Great
        Britain is S20, and 0 % gives None: it may be zero, exempt or out of scope.
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
    """Return the rate of a code on a day: in Germany S19 has 16 on 2020-07-01, and 19 before it."""
    return next((rate for rate in code.rates if rate.holds_on(day)), None)


def account_role(direction: Direction, treatment: Treatment) -> Role:
    """Return the role of a code's tax account: that of sales is 2200 VAT payable."""
    sold = direction is Direction.SALES
    if treatment is Treatment.WITHHOLDING:
        return Role.WITHHOLDING_TAX_RECEIVABLE if sold else Role.WITHHOLDING_TAX_PAYABLE
    return Role.OUTPUT_TAX if sold else Role.INPUT_TAX
