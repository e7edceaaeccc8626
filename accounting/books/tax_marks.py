"""Tax marks of posted lines."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Protocol
from uuid import UUID


class TaxPart(StrEnum):
    """The part of a taxed amount that a posted line is."""

    NET = "net"
    OUTPUT = "output"  # Tax that is owed: charged on a sale, or self-assessed on a purchase.
    INPUT = "input"  # Tax on a purchase that is recovered.
    BLOCKED = "blocked"  # Tax on a purchase that is not recovered, and so is cost.
    WITHHELD = "withheld"
    RELIEF_NET = "relief_net"  # The net of what was written off with relief of its tax,
    RELIEF = "relief"  # and that tax.


@dataclass(frozen=True, slots=True)
class TaxMark:
    """The tax code of an amount, its rate in percent, and the part that the amount is."""

    code_id: UUID
    rate: Decimal
    part: TaxPart

    @classmethod
    def of_net(cls, code_id: UUID | None, rate: Decimal | None) -> "TaxMark | None":
        """Mark the net of an amount that a code taxes; without a code there is no mark."""
        return None if code_id is None or rate is None else cls(code_id, rate, TaxPart.NET)


class Marking(Protocol):
    """A source of tax marks: by the code that a caller names, at the code's rate on a day."""

    def marked(self, reference: str, part: TaxPart, on: date, place: str) -> TaxMark:
        """Mark an amount; `place` is its path in the request.

        Raises RuleBroken `reference_not_found`, `tax_code_mismatch` or `tax_rate_missing`; Conflict
        `tax_code_archived`.
        """
