"""The time zones in which the model plays; Python finds their days, not the product."""

from datetime import time
from zoneinfo import ZoneInfo

from tests import clock

ZONES = (
    *("UTC", "Europe/London", "Europe/Amsterdam", "Asia/Kolkata", "America/St_Johns"),
    *("Pacific/Kiritimati", "Pacific/Pago_Pago"),
)
LATE = time(23, 50)


def usual_if_late(timezone: str) -> str:
    """Return UTC in place of a zone whose day is about to end: a run assumes one day."""
    return "UTC" if clock.now().astimezone(ZoneInfo(timezone)).time() > LATE else timezone
