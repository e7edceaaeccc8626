"""Aging of receivables and payables: open amounts by party and by days overdue."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from accounting.books.time_zones import start_of

BUCKETS: Final = ("current", "days_1_30", "days_31_60", "days_61_90", "over_90_days")
FIRST_DAYS_LATE: Final = (1, 31, 61, 91)
"""The first day late of each bucket after `current`. An item without a due date is never late."""


def late_moments(as_of: date, timezone: str) -> list[datetime]:
    """Return the moments before which an item of each late bucket was due, the earliest first.

    An item that is due on 30 June in the time zone is one day late at the end of 1 July.
    """
    days = (as_of - timedelta(days=late - 1) for late in reversed(FIRST_DAYS_LATE))
    return [start_of(day, timezone) for day in days]


@dataclass(frozen=True, slots=True)
class OpenAmount:
    """An open amount of one party in a bucket; without a bucket, it is unapplied."""

    party_id: UUID
    party_name: str
    bucket: int | None
    amount: int


@dataclass(frozen=True, slots=True)
class AgedBalance:
    """Open amounts by bucket, and the unapplied amount: money in advance and credits."""

    buckets: tuple[int, ...]
    unapplied: int

    @property
    def total(self) -> int:
        """The sum of the buckets; the unapplied amount is not deducted."""
        return sum(self.buckets)


@dataclass(frozen=True, slots=True)
class AgedParty(AgedBalance):
    """The open amounts of one party."""

    party_id: UUID
    party_name: str


def aged(found: Iterable[OpenAmount]) -> list[AgedParty]:
    """Return the open amounts by party, the largest total first; parties without any are omitted.

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


def in_total(parties: Iterable[AgedBalance]) -> AgedBalance:
    """Sum the open amounts: (9, 4, 0, 0, 0) and (1, 0, 0, 0, 7) are (10, 4, 0, 0, 7)."""
    known = list(parties)
    buckets = zip(*(each.buckets for each in known), strict=True)
    nothing = (0,) * len(BUCKETS)
    return AgedBalance(tuple(map(sum, buckets)) or nothing, sum(each.unapplied for each in known))
