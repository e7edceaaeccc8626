"""Sandboxes: businesses for practice, whose clock can be moved forward."""

from enum import StrEnum
from uuid import UUID

from accounting.errors import Conflict, NotAllowed, RuleBroken


class Sandbox(StrEnum):
    """The state of a sandbox."""

    TEMPLATE = "template"  # New sandboxes copy its books; no caller uses it.
    OPEN = "open"
    GIVEN_UP = "given_up"  # Another one has replaced it; the sweep deletes it.


def refuse_given_up(found: Sandbox | None) -> None:
    """Refuse to restore a sandbox that was reset; raises Conflict."""
    if found is Sandbox.GIVEN_UP:
        raise Conflict.of_state(
            "This sandbox was reset. Another sandbox has replaced it.", Sandbox.GIVEN_UP.value
        )


def refuse_taken(found: Sandbox | None, external_id: str, business_id: UUID) -> None:
    """Refuse an external id that belongs to anything but an open sandbox; raises Conflict."""
    if found is not Sandbox.OPEN:
        raise Conflict(
            "duplicate_external_id",
            "A business that is not a sandbox has this external_id.",
            external_id=external_id,
            id=business_id,
        )


def refuse_fixed_clock(*, moves: bool) -> None:
    """Refuse to move a clock on a server outside development; raises NotAllowed."""
    if not moves:
        raise NotAllowed(
            "clock_fixed", "This server cannot move clocks. Use a server in development mode."
        )


def refuse_moving_back(ahead: int, wanted: int) -> None:
    """Refuse to move a clock back; both are seconds. Raises RuleBroken `clock_moved_back`.

    A clock that is 60 seconds ahead may be set to 60 again, but not to 59.
    """
    if wanted < ahead:
        raise RuleBroken(
            "clock_moved_back",
            "The clock of a sandbox can only move forward.",
            clock_seconds_ahead=ahead,
        )
