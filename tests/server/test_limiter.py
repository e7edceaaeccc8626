import pytest

from accounting.errors import TooMany
from server.limiter import FailedLogins


def fail(limiter: FailedLogins, times: int, name: str = "a", now: float = 0.0) -> None:
    for _ in range(times):
        limiter.note([name], now)


class TestFailedLogins:
    def test_a_hundred_a_minute_are_only_counted(self) -> None:
        fail(FailedLogins(), 100)

    def test_the_next_one_is_refused_until_the_minute_is_over(self) -> None:
        limiter = FailedLogins()
        fail(limiter, 100, now=1000.0)
        with pytest.raises(TooMany) as caught:
            limiter.note(["a"], 1012.5)
        assert caught.value.code == "rate_limited"
        assert caught.value.detail == {"retry_after_seconds": 48}

    def test_a_new_minute_starts_afresh(self) -> None:
        limiter = FailedLogins(limit=3)
        fail(limiter, 3, now=0.0)
        with pytest.raises(TooMany):
            fail(limiter, 1, now=59.9)
        fail(limiter, 3, now=60.0)
        with pytest.raises(TooMany):
            fail(limiter, 1, now=60.0)

    def test_each_name_has_its_own_share(self) -> None:
        limiter = FailedLogins(limit=3)
        fail(limiter, 3, "a")
        fail(limiter, 3, "b")

    def test_one_name_over_its_share_is_enough(self) -> None:
        limiter = FailedLogins(limit=3)
        fail(limiter, 3, "address")
        with pytest.raises(TooMany):
            limiter.note(["partner", "address"], 0.0)

    def test_made_up_names_take_no_more_room_than_agreed(self) -> None:
        limiter = FailedLogins(limit=3, names_limit=10)
        for n in range(1000):
            limiter.note([f"partner {n}"], 0.0)
        assert len(limiter._windows) == 10

    def test_made_up_names_do_not_push_the_guesser_out(self) -> None:
        limiter = FailedLogins(limit=50, names_limit=10)
        for n in range(50):
            limiter.note([f"partner {n}", "address"], 0.0)
        with pytest.raises(TooMany):
            limiter.note(["partner x", "address"], 0.0)
