"""Which postings a report counts, and what they come to."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Basis(StrEnum):
    """When something counts: as it is agreed, or as it is paid."""

    ACCRUAL = "accrual"
    CASH = "cash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Which postings a report counts."""

    basis: Basis = Basis.ACCRUAL
    tag: str | None = None  # Lines whose document has this tag,
    untagged: bool = False  # or lines whose document has none.
    known_at: datetime | None = None  # What was posted up to then.


@dataclass(frozen=True, slots=True)
class Movement:
    """What was posted to an account in a period: minor units, both sides."""

    debits: int = 0
    credits: int = 0
