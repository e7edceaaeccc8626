"""Sandboxes: businesses to practise on, whose clock can be moved forward."""

from enum import StrEnum
from uuid import UUID

from accounting.errors import Conflict, NotAllowed, RuleBroken


class Sandbox(StrEnum):
    """What a business that is no real one is there for."""

    TEMPLATE = "template"  # Its books are copied. Nobody calls it.
    OPEN = "open"
    GIVEN_UP = "given_up"  # Another one has come into its place; the sweep takes it away.


def refuse_given_up(found: Sandbox | None) -> None:
    """Refuse to bring back a sandbox that was reset; raises Conflict."""
    if found is Sandbox.GIVEN_UP:
        raise Conflict.of_state(
            "This sandbox was reset. Another one is in its place.", Sandbox.GIVEN_UP.value
        )


def refuse_taken(found: Sandbox | None, external_id: str, business_id: UUID) -> None:
    """Refuse the external id of a business that is no sandbox in use; raises Conflict."""
    if found is not Sandbox.OPEN:
        raise Conflict(
            "duplicate_external_id",
            "A business that is no sandbox has this external_id.",
            external_id=external_id,
            id=business_id,
        )


def refuse_fixed_clock(*, moves: bool) -> None:
    """Refuse to move a clock on a server that is none in development; raises NotAllowed."""
    if not moves:
        raise NotAllowed(
            "clock_fixed", "This server moves no clocks. One that runs in development does."
        )


def refuse_moving_back(ahead: int, wanted: int) -> None:
    """Refuse to move a clock back that is `ahead` seconds; raises RuleBroken `clock_moved_back`.

    One that is 60 seconds ahead stays so with 60, and is not taken back to 59.
    """
    if wanted < ahead:
        raise RuleBroken(
            "clock_moved_back", "A sandbox's clock only goes forward.", clock_seconds_ahead=ahead
        )
