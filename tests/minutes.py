"""Minutes of the clock, by which limits are counted."""

import time


def with_seconds_left(seconds: float) -> None:
    """Return when so much is left of a minute: what is counted meanwhile is counted together."""
    left = 60 - time.time() % 60
    if left < seconds:
        time.sleep(left + 0.01)
