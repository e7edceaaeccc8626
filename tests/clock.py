"""The clock of the tests and of the server in their process.

It runs like the machine's, but is set back if a whole run could pass midnight in UTC: many tests
assume one day. Servers in other processes use the machine's clock.
"""

from datetime import UTC, date, datetime, time, timedelta

LONGEST_RUN = timedelta(minutes=20)


def shift_at(moment: datetime) -> timedelta:
    """Return how far the clock is set back in a run that starts at a moment."""
    midnight = datetime.combine(moment.date() + timedelta(days=1), time.min, UTC)
    return LONGEST_RUN if midnight - moment < LONGEST_RUN else timedelta()


SHIFT = shift_at(datetime.now(UTC))


def now() -> datetime:
    return datetime.now(UTC) - SHIFT


def today() -> date:
    return now().date()
