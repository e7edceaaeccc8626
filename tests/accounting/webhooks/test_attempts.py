"""Attempts: the schedule, Retry-After, and endpoints that are switched off."""

from datetime import UTC, datetime, timedelta

import pytest

from accounting.webhooks.attempts import (
    DELAYS,
    Attempt,
    Outcome,
    broken_off,
    outcome_of,
    postponed,
    retry_after,
)

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
FAILED = Attempt(500, 3, "no")


def after(attempt: Attempt, count: int = 1, **facts: object) -> Outcome:
    return outcome_of(attempt, count, NOW, facts.get("failing_since"), facts.get("chance", 0.5))  # type: ignore[arg-type]


class TestSchedule:
    def test_has_ten_attempts_within_75_hours_and_35_minutes(self) -> None:
        dues = [after(FAILED, count).next_attempt_at for count in range(1, 10)]
        assert [due - NOW for due in dues if due] == list(DELAYS)
        assert sum(DELAYS, timedelta()) == timedelta(hours=75, minutes=35, seconds=5)
        assert after(FAILED, 10) == Outcome("failed")

    @pytest.mark.parametrize(("chance", "seconds"), [(0.0, 4.5), (1.0, 5.5)])
    def test_has_a_tenth_of_jitter(self, chance: float, seconds: float) -> None:
        assert after(FAILED, chance=chance).next_attempt_at == NOW + timedelta(seconds=seconds)

    @pytest.mark.parametrize("status", [200, 201, 204, 299])
    def test_ends_with_2xx(self, status: int) -> None:
        assert after(Attempt(status, 3)) == Outcome("delivered")

    @pytest.mark.parametrize("status", [199, 300, 301, 307, 400, 404, 500, 503])
    def test_goes_on_after_every_other_status(self, status: int) -> None:
        assert after(Attempt(status, 3)).status == "pending"
        assert after(Attempt(error="No connection could be made.")).status == "pending"

    def test_is_not_begun_by_a_fault_of_this_server(self) -> None:
        due = NOW + timedelta(seconds=5)
        assert postponed(NOW) == Outcome("pending", due, due, counts=False, blamed=False)

    def test_goes_on_after_an_unforeseen_fault_without_blame(self) -> None:
        due = NOW + timedelta(minutes=5)
        assert broken_off(2, NOW) == Outcome("pending", due, blamed=False)
        assert broken_off(10, NOW) == Outcome("failed", blamed=False)


class TestSlowness:
    @pytest.mark.parametrize("status", [429, 502, 504])
    def test_of_a_receiver_that_has_too_much_lasts_30_seconds(self, status: int) -> None:
        slow = NOW + timedelta(seconds=30)
        assert after(Attempt(status, 3)) == Outcome("pending", slow, slow)
        assert after(Attempt(status, 3), 2).next_attempt_at == NOW + DELAYS[1]

    def test_lasts_as_long_as_the_receiver_asks(self) -> None:
        slow = NOW + timedelta(seconds=120)
        assert after(Attempt(503, 3, retry_after="120")) == Outcome("pending", slow, slow)
        assert after(Attempt(200, 3, retry_after="120")).slow_until is None

    @pytest.mark.parametrize(
        ("text", "seconds"),
        [
            ("0", 0),
            ("7", 7),
            (" 7 ", 7),
            ("Wed, 01 Jul 2026 12:00:09 GMT", 9),
            ("Wed, 01 Jul 2026 11:00:00 GMT", 0),
            ("9" * 300, 86_400),
            ("Fri, 01 Jul 2033 12:00:00 GMT", 86_400),
            ("-5", None),
            ("soon", None),
            ("Mon, 01 Jan 99999999999 00:00:00 GMT", None),
            ("Fri, 01 Jul 2033 12:00:00 +999999999999", None),
            ("٣", None),
            (None, None),
        ],
    )
    def test_is_read_in_both_forms(self, text: str | None, seconds: int | None) -> None:
        expected = None if seconds is None else timedelta(seconds=seconds)
        assert retry_after(text, NOW) == expected


class TestSwitchingOff:
    def test_follows_at_once_from_410(self) -> None:
        assert after(Attempt(410, 3)).off_reason == "gone"

    def test_follows_from_five_days_without_a_success(self) -> None:
        five = NOW - timedelta(days=5)
        assert after(FAILED, failing_since=five).off_reason == "failing"
        later = five + timedelta(seconds=1)
        assert after(FAILED, failing_since=later).off_reason is None
        assert after(Attempt(200, 3), failing_since=five).off_reason is None
