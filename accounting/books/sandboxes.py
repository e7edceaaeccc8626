"""Sandboxes: businesses to practise on, whose clock can be moved forward."""

from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from accounting.errors import Conflict, RuleBroken

FURTHEST_AHEAD = timedelta(days=3652)  # Ten years: numbers of entries and files of banks go on.


class Sandbox(StrEnum):
    """What a business that is no real one is there for."""

    TEMPLATE = "template"  # Its books are copied. Nobody calls it.
    OPEN = "open"
    GIVEN_UP = "given_up"  # Another one has come into its place; the sweep takes it away.


def refuse_other_than_open(business_id: UUID, found: Sandbox | None) -> None:
    """Refuse what only a sandbox in use may do; raises Conflict `not_a_sandbox`."""
    if found is not Sandbox.OPEN:
        raise Conflict(
            "not_a_sandbox", "This business is not a sandbox, or no longer one.", id=business_id
        )


def seconds_ahead(shown: datetime, wanted: datetime, real: datetime) -> int:
    """Return how many seconds a clock is ahead of the real time once it shows `wanted`.

    `shown` is what it shows now. At 12:00 a clock that shows 12:30 and is moved to 13:00 is 3600
    seconds ahead. Raises RuleBroken `clock_out_of_range`.
    """
    latest = real + FURTHEST_AHEAD
    if not shown <= wanted <= latest:
        raise RuleBroken(
            "clock_out_of_range",
            "A sandbox's clock only goes forward, at most to ten years ahead of the real time.",
            earliest=shown,
            latest=latest,
        )
    return -((real - wanted) // timedelta(seconds=1))
