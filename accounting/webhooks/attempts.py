"""Attempts to deliver an event: what counts as a success, and when the next attempt is due."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final, Literal

from accounting.webhooks.endpoints import OffReason

DELAYS: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    *(timedelta(hours=hours) for hours in (2, 5, 10, 14, 20, 24)),
)
"""The time from each failed attempt to the next: ten attempts within 75 hours and 35 minutes."""

JITTER: Final = 0.1
OFF_AFTER: Final = timedelta(days=5)
SLOW_FOR: Final = timedelta(seconds=30)
LONGEST_RETRY_AFTER: Final = timedelta(hours=24)
POSTPONED_FOR: Final = timedelta(seconds=5)

_GONE: Final = 410
_SLOWING: Final = frozenset({429, 502, 504})


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt: the status and the start of the answer, or the error without an answer.

    `milliseconds` is None if no request was sent.
    """

    status_code: int | None = None
    milliseconds: int | None = None
    answer: str | None = None
    error: str | None = None
    retry_after: str | None = None

    @property
    def succeeded(self) -> bool:
        """The success: an answer of 2xx."""
        return self.status_code is not None and 200 <= self.status_code < 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """The consequences of an attempt, for the delivery and for its endpoint.

    The endpoint gets no request before `slow_until`. After an attempt that does not count, the next
    one has the same number. An endpoint fails only by attempts that are `blamed` on it.
    """

    status: Literal["pending", "delivered", "failed"]
    next_attempt_at: datetime | None = None
    slow_until: datetime | None = None
    off_reason: OffReason | None = None
    counts: bool = True
    blamed: bool = True


def postponed(now: datetime) -> Outcome:
    """Return the consequences of a fault that kept this server from sending: it retries in 5 s.

    Nothing else is sent to the endpoint before, so that many due deliveries are not tried in turn.
    """
    due = now + POSTPONED_FOR
    return Outcome("pending", due, due, counts=False, blamed=False)


def broken_off(count: int, now: datetime) -> Outcome:
    """Return the consequences of an unforeseen fault of this server, maybe after it had sent.

    The attempt counts, so that the event is sent ten times at most: after the first, in 5 s.
    """
    if count > len(DELAYS):
        return Outcome("failed", blamed=False)
    return Outcome("pending", now + DELAYS[count - 1], blamed=False)


def outcome_of(
    attempt: Attempt, count: int, now: datetime, failing_since: datetime | None, chance: float
) -> Outcome:
    """Return the consequences of an attempt; `count` is 1 for the first.

    `failing_since` is the time of the endpoint's first failure since its last success, if any.
    `chance`, from 0 to 1, moves the next attempt by up to 10 % of the delay: after the first
    failure it is due in 4.5 s for 0, in 5 s for 0.5, in 5.5 s for 1.
    """
    if attempt.succeeded:
        return Outcome("delivered")
    slow_until = _slow_until(attempt, now)
    off = _off_reason(attempt, now, failing_since)
    if count > len(DELAYS):
        return Outcome("failed", None, slow_until, off)
    due = now + DELAYS[count - 1] * (1 + JITTER * (2 * chance - 1))
    return Outcome("pending", max(due, slow_until or due), slow_until, off)


def retry_after(text: str | None, now: datetime) -> timedelta | None:
    """Parse a header Retry-After, in seconds or as a date; None if it is missing or unreadable.

    It is at most 24 hours, and never negative.
    """
    if text is None:
        return None
    stripped = text.strip()
    if stripped.isascii() and stripped.isdigit():
        wait = timedelta(seconds=min(int(stripped[:9]), 10**8))
    else:
        try:
            at = parsedate_to_datetime(stripped)
        except (ValueError, OverflowError):
            return None
        wait = (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    return min(max(wait, timedelta()), LONGEST_RETRY_AFTER)


def _slow_until(attempt: Attempt, now: datetime) -> datetime | None:
    wanted = retry_after(attempt.retry_after, now)
    if wanted is None and attempt.status_code in _SLOWING:
        wanted = SLOW_FOR
    return now + wanted if wanted else None


def _off_reason(
    attempt: Attempt, now: datetime, failing_since: datetime | None
) -> OffReason | None:
    if attempt.status_code == _GONE:
        return "gone"
    if failing_since is not None and now - failing_since >= OFF_AFTER:
        return "failing"
    return None
