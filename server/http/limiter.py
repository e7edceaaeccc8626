"""Limits of requests and of failed logins per minute. See docs/decisions/0044."""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from accounting.errors import TooMany
from server.http.errors import Headers
from server.http.shared_counts import SharedCounts, Usage

FAILED_LOGINS_PER_MINUTE: Final = 100


class RequestLimits:
    """The limits of a partner and of each of its businesses; 0 is no limit."""

    def __init__(self, shared: SharedCounts, *, partner: int, business: int) -> None:
        self._shared = shared
        self._partner = shared.limit("partner", partner) if partner else None
        self._business = shared.limit("business", business) if business else None

    async def take(
        self, partner_id: UUID, business_id: str | None
    ) -> tuple[Headers, TooMany | None]:
        """Count a request; return its RateLimit headers, and the refusal if it exceeds a limit."""
        named = ((self._partner, partner_id), (self._business, business_id))
        names = [(limit, name) for limit, name in named if limit and name]
        if not names:
            return [], None
        usage = await self._shared.count(names)
        left = ", ".join(
            [
                f'"{limit.kind}";r={limit.left(count)};t={usage.seconds_left}'
                for limit, count in usage.counts
            ]
        )
        policy = ", ".join([limit.policy for limit, _ in names])
        headers = [(b"ratelimit", left.encode()), (b"ratelimit-policy", policy.encode())]
        return headers, _refusal(usage)


class FailedLogins:
    """The failures of each name: a partner or an address.

    Only failures are counted and only failures are refused. A right key passes, even if others have
    failed under the same partner: partner ids are no secret, and a lock would let anybody exclude a
    partner. The keys themselves are far too long to be guessed.
    """

    def __init__(self, shared: SharedCounts, *, most: int = FAILED_LOGINS_PER_MINUTE) -> None:
        self._shared = shared
        self._limit = shared.limit("failed login", most)

    async def note(self, names: Iterable[str]) -> None:
        """Count one failure under each name; raises TooMany if one of them is at its limit.

        With a limit of 100, the 101st failure of a minute is refused.
        """
        usage = await self._shared.count([(self._limit, name) for name in names])
        if usage.exceeded is not None:
            raise TooMany(
                "rate_limited",
                "Too many failed logins. Try again later.",
                retry_after_seconds=usage.seconds_left,
            )


def _refusal(usage: Usage) -> TooMany | None:
    limit = usage.exceeded
    if limit is None:
        return None
    return TooMany(
        "rate_limited",
        f"The {limit.kind} has used its {limit.most} requests of this minute. Wait until the next"
        " minute.",
        retry_after_seconds=usage.seconds_left,
    )
