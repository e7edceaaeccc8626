"""What is open with whom, by how late it is: the aging of receivables and of payables."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final
from uuid import UUID

from accounting.values import dataclass

BUCKETS: Final = ("current", "days_1_30", "days_31_60", "days_61_90", "over_90_days")
FIRST_DAYS_LATE: Final = (1, 31, 61, 91)
"""With how many days each bucket but the first begins; what has no due day is never late."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found open with one party: an amount in a bucket; without one, it is unapplied."""

    party_id: UUID
    party_name: str
    bucket: int | None
    amount: int


@dataclass(frozen=True, slots=True)
class Aged:
    """What is open by bucket, and what settles nothing yet: money in advance and credits."""

    buckets: tuple[int, ...]
    unapplied: int

    @property
    def total(self) -> int:
        """All that is open; what is unapplied is not taken off."""
        return sum(self.buckets)


@dataclass(frozen=True, slots=True)
class AgedParty(Aged):
    """What is open with one party."""

    party_id: UUID
    party_name: str


def aged(found: Iterable[Found]) -> list[AgedParty]:
    """Lay out by party what was found, the largest first; whoever has nothing is left out.

    Of 100 not due yet, 40 that are 3 days late and 5 paid in advance: (100, 40, 0, 0, 0) and 5.
    """
    amounts: dict[tuple[UUID, str], list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
    for each in found:
        place = len(BUCKETS) if each.bucket is None else each.bucket
        amounts[each.party_id, each.party_name][place] += each.amount
    parties = [
        AgedParty(tuple(buckets), unapplied, *party)
        for party, (*buckets, unapplied) in amounts.items()
        if any(buckets) or unapplied
    ]
    return sorted(parties, key=lambda each: (-each.total, each.party_name.lower(), each.party_id))


def in_total(parties: Iterable[Aged]) -> Aged:
    """Add up what is open with all: (9, 4, 0, 0, 0) and (1, 0, 0, 0, 7) are (10, 4, 0, 0, 7)."""
    known = list(parties)
    buckets = zip(*(each.buckets for each in known), strict=True)
    nothing = (0,) * len(BUCKETS)
    return Aged(tuple(map(sum, buckets)) or nothing, sum(each.unapplied for each in known))
