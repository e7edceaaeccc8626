"""The tax codes whose amounts count when they are paid, for returns on the cash basis."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from accounting.tax.codes import Direction, TaxCodes
from accounting.tax.commands import Scheme
from accounting.tax.taxed_amounts import SELF_ASSESSED

BOTH: Final = frozenset(Direction)

# The sides that a country's cash basis covers. In Germany, the bill itself recovers its tax.
COVERED: Final[Mapping[str, frozenset[Direction]]] = {"DE": frozenset({Direction.SALES})}


@dataclass(frozen=True, slots=True)
class Counted:
    """The codes of a business by the event that makes their amounts count.

    Amounts of `when_posted` count when their lines are posted, by any source; amounts of
    `when_settled` are on documents, and count when they are settled.
    """

    when_posted: tuple[UUID, ...]
    when_settled: tuple[UUID, ...] = ()


def counted(country: str | None, scheme: Scheme, codes: TaxCodes) -> Counted:
    """Return the codes of a business by the event that makes their amounts count.

    On accrual all amounts count when they are posted. On cash this is so for self-assessed tax,
    such as the reverse charge, and in Germany for all purchases.
    """
    if scheme is Scheme.ACCRUAL:
        return Counted(tuple(each.id for each in codes.codes))
    covered = COVERED.get(country or "", BOTH)
    settled = [
        each.id
        for each in codes.codes
        if each.direction in covered and each.treatment not in SELF_ASSESSED
    ]
    others = (each.id for each in codes.codes if each.id not in settled)
    return Counted(tuple(others), tuple(settled))
