"""Report filters: the postings that a report counts, and their totals."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Basis(StrEnum):
    """The time at which an amount counts: when it is agreed, or when it is paid."""

    ACCRUAL = "accrual"
    CASH = "cash"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFilter:
    """A report filter: the postings that a report counts."""

    basis: Basis = Basis.ACCRUAL
    tag: str | None = None  # Only lines whose document has this tag,
    untagged: bool = False  # or only lines whose document has no tag.
    known_at: datetime | None = None  # Only entries posted up to this time.


@dataclass(frozen=True, slots=True)
class AccountMovement:
    """The debits and credits posted to an account in a period, in minor units."""

    debits: int = 0
    credits: int = 0
