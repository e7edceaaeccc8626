"""Sandboxes: businesses to practise on, whose clock can be moved forward."""

from enum import StrEnum

from accounting.errors import Conflict, RuleBroken


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


def refuse_moving_back(ahead: int, wanted: int) -> None:
    """Refuse to move a clock back that is `ahead` seconds; raises RuleBroken `clock_moved_back`.

    One that is 60 seconds ahead stays so with 60, and is not taken back to 59.
    """
    if wanted < ahead:
        raise RuleBroken(
            "clock_moved_back", "A sandbox's clock only goes forward.", clock_seconds_ahead=ahead
        )
