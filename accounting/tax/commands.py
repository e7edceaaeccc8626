"""Commands on tax codes and tax returns."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from accounting.absent import ABSENT, Absent
from accounting.books.accounts import AccountReference
from accounting.books.ledger import TaxPart
from accounting.tax.codes import Direction, Rate, Treatment

Boxes = Mapping[TaxPart, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTaxCode:
    """A new tax code; its default account is that of its direction and treatment."""

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
    """Changes to a tax code; setting it inactive archives it."""

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
    """The accounting basis of a return: tax is declared when it is posted, or when it is paid."""

    ACCRUAL = "accrual"
    CASH = "cash"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTaxReturn:
    """A new draft of a return; both days are included."""

    start_date: date
    end_date: date
    scheme: Scheme


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTaxReturn:
    """The filing of a draft, with the authority's reference; `lock` also locks its period.

    With `settle`, its tax moves to the account for VAT due.
    """

    reference: str | None = None
    lock: bool = False
    settle: bool = True
