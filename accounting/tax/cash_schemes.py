"""What follows the money where tax is declared as it is paid, and what does not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from accounting.tax.codes import Direction, TaxCodes
from accounting.tax.commands import Scheme
from accounting.tax.taxed_amounts import SELF_ASSESSED

BOTH: Final = frozenset(Direction)

# Which sides the scheme of a country covers. In Germany the tax of a bill is recovered by the bill.
COVERED: Final[Mapping[str, frozenset[Direction]]] = {"DE": frozenset({Direction.SALES})}


@dataclass(frozen=True, slots=True)
class Counted:
    """The codes of a business by what makes their amounts count.

    Amounts of some count when their lines are posted, whatever posts them; amounts of the others,
    of documents, when they are settled.
    """

    when_posted: tuple[UUID, ...]
    when_settled: tuple[UUID, ...] = ()


def counted(country: str | None, scheme: Scheme, codes: TaxCodes) -> Counted:
    """Tell what makes amounts of each code count.

    On accrual all count when they are posted. On cash, in Germany, so do those of purchases, and
    everywhere those of the reverse charge and of tax that a buyer assesses.
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
