"""The clock of the tests stays on one day."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.clock import shift_at


@pytest.mark.parametrize(
    ("at", "minutes"), [("23:40", 0), ("23:41", 20), ("23:59", 20), ("00:00", 0)]
)
def test_it_stands_back_where_a_run_could_pass_midnight(at: str, minutes: int) -> None:
    moment = datetime.fromisoformat(f"2026-11-22T{at}").replace(tzinfo=UTC)
    assert shift_at(moment) == timedelta(minutes=minutes)
