"""Minutes of the clock, which limits are counted by."""

import time


def with_seconds_left(seconds: float) -> None:
    """Return when `seconds` of a minute are left, so that later requests count together."""
    left = 60 - time.time() % 60
    if left < seconds:
        time.sleep(left + 0.01)
