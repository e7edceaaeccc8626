"""The clock of the tests and of the server in their process.

It goes like the machine's, but stands back where a whole run could pass midnight in UTC: many
tests know but one today. Servers in processes of their own go by the machine's clock.
"""

from datetime import UTC, date, datetime, time, timedelta

LONGEST_RUN = timedelta(minutes=20)


def shift_at(moment: datetime) -> timedelta:
    """Return how far the clock stands back in a run that starts at a moment."""
    midnight = datetime.combine(moment.date() + timedelta(days=1), time.min, UTC)
    return LONGEST_RUN if midnight - moment < LONGEST_RUN else timedelta()


SHIFT = shift_at(datetime.now(UTC))


def now() -> datetime:
    return datetime.now(UTC) - SHIFT


def today() -> date:
    return now().date()
