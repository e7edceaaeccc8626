"""What callers ask of tax codes, in the words of the rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from accounting.absent import ABSENT, Absent
from accounting.books.accounts import AccountReference
from accounting.books.tax_marks import TaxPart
from accounting.tax.codes import Direction, Rate, Treatment

Boxes = Mapping[TaxPart, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTaxCode:
    """A new tax code; without an account it has that of its direction and treatment."""

    code: str
    name: str
    direction: Direction
    treatment: Treatment
    rates: tuple[Rate, ...]
    tax_account: AccountReference | None = None
    boxes: Boxes | Absent = ABSENT
    is_default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTaxCode:
    """Changes to a tax code; made inactive it is archived."""

    code: str | Absent = ABSENT
    name: str | Absent = ABSENT
    direction: Direction | Absent = ABSENT
    treatment: Treatment | Absent = ABSENT
    rates: tuple[Rate, ...] | Absent = ABSENT
    tax_account: AccountReference | Absent = ABSENT
    boxes: Boxes | Absent = ABSENT
    is_default: bool | Absent = ABSENT
    active: bool | Absent = ABSENT


class Scheme(StrEnum):
    """When tax is declared: once it is posted, or once the money has moved."""

    ACCRUAL = "accrual"
    CASH = "cash"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTaxReturn:
    """The draft of a return, both days in."""

    start_date: date
    end_date: date
    scheme: Scheme


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTaxReturn:
    """A draft to be filed, under a number of the authority's; `lock` closes its period, too."""

    reference: str | None = None
    lock: bool = False
