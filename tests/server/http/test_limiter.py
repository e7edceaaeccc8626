import asyncio
import functools
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from accounting.errors import TooMany
from persistence.partners.request_counts import OthersCounts
from server.http import limiter
from server.http.limiter import FailedLogins, RequestLimits, SharedCounts

PARTNER = UUID("0192f3aa-1111-7000-8000-00000000000a")


@dataclass
class Table:
    """The table that workers share, as fast as a database; it may be unavailable."""

    seconds: float = 0.003
    is_away: bool = False
    rows: dict[int, dict[str, dict[int, int]]] = field(default_factory=dict)
    reports: int = 0

    def worker(self, number: int) -> limiter.Report:
        async def report(minute: int, counts: Mapping[str, int]) -> OthersCounts:
            self.reports += 1
            await asyncio.sleep(self.seconds)
            if self.is_away:
                raise OSError("away")
            names = self.rows.setdefault(minute, {})
            for name, count in {"": 0, **counts}.items():
                names.setdefault(name, {})[number] = count
            others = {
                name: sum(count for other, count in names[name].items() if other != number)
                for name in counts
            }
            return OthersCounts(len(names[""]), others)

        return report


class Clock:
    """A clock that only a test moves; 12 s into a minute."""

    def __init__(self) -> None:
        self.now = 1_800_000_012.0

    def __call__(self) -> float:
        return self.now


def workers(count: int, table: Table, clock: Clock, guessed: int = 2) -> list[SharedCounts]:
    return [SharedCounts(table.worker(each), workers=guessed, clock=clock) for each in range(count)]


def in_a_loop(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run a test in an event loop of its own."""

    @functools.wraps(test)
    def run(*arguments: Any, **fixtures: Any) -> None:
        async def whole() -> None:
            await test(*arguments, **fixtures)

        asyncio.run(whole())

    return run


def limits(count: int, table: Table, clock: Clock, partner: int) -> list[RequestLimits]:
    """Return the limits of `count` workers for the requests of a partner."""
    counting = workers(count, table, clock)
    return [RequestLimits(each, partner=partner, business=0) for each in counting]


def failed_logins(clock: Clock, most: int = 3) -> FailedLogins:
    [alone] = workers(1, Table(), clock, guessed=1)
    return FailedLogins(alone, most=most)


async def fail(failures: FailedLogins, times: int, name: str = "a") -> None:
    for _ in range(times):
        await failures.note([name])


class TestFailedLogins:
    @in_a_loop
    async def test_the_next_one_is_refused_until_the_minute_is_over(self) -> None:
        clock = Clock()
        failures = failed_logins(clock, 100)
        await fail(failures, 100)
        clock.now += 0.5
        with pytest.raises(TooMany) as caught:
            await failures.note(["a"])
        assert caught.value.code == "rate_limited"
        assert caught.value.detail == {"retry_after_seconds": 48}
        clock.now += 47.4
        with pytest.raises(TooMany):
            await failures.note(["a"])
        clock.now += 0.1
        await fail(failures, 100)
        with pytest.raises(TooMany):
            await failures.note(["a"])

    @in_a_loop
    async def test_a_clock_that_goes_back_begins_anew(self) -> None:
        clock = Clock()
        failures = failed_logins(clock)
        await fail(failures, 3)
        clock.now -= 3600
        await fail(failures, 3)

    @in_a_loop
    async def test_each_name_has_its_own_share(self) -> None:
        failures = failed_logins(Clock())
        await fail(failures, 3, "a")
        await fail(failures, 3, "b")

    @in_a_loop
    async def test_a_login_is_refused_when_a_single_name_is_over_its_limit(self) -> None:
        failures = failed_logins(Clock())
        await fail(failures, 3, "address")
        with pytest.raises(TooMany):
            await failures.note(["partner", "address"])

    @in_a_loop
    async def test_invented_names_are_limited_in_number_and_replace_no_name(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(limiter, "MOST_NAMES", 10)
        failures = failed_logins(Clock(), 50)
        for number in range(50):
            await failures.note([f"partner {number}", "address"])
        assert len(failures._limit.counts) == 10
        with pytest.raises(TooMany):
            await failures.note(["partner x", "address"])

    @in_a_loop
    async def test_invented_names_are_not_reported(self) -> None:
        table = Table()
        [alone] = workers(1, table, Clock())
        failures = FailedLogins(alone)
        for number in range(200):
            await failures.note([f"partner {number}"])
        await asyncio.sleep(0.1)
        assert [set(names) for names in table.rows.values()] == [{""}]

    @in_a_loop
    async def test_all_workers_count_together(self) -> None:
        counting = [FailedLogins(each) for each in workers(4, Table(), Clock())]
        answered = 0
        for number in range(200):
            with suppress(TooMany):
                await counting[number % 4].note(["partner", f"address {number}"])
                answered += 1
        assert 100 <= answered <= 110


async def let_through(
    limits: Iterable[RequestLimits], shares: Iterable[int], seconds: float
) -> int:
    """Send these numbers of requests to the workers; return how many pass."""

    async def ask(limit: RequestLimits, count: int) -> int:
        passed = 0
        for number in range(count):
            _, refusal = await limit.take(PARTNER, None)
            passed += refusal is None
            await asyncio.sleep(seconds / count if number % 5 == 0 else 0)
        return passed

    asking = [ask(limit, count) for limit, count in zip(limits, shares, strict=True)]
    return sum(await asyncio.gather(*asking))


class TestRequestLimits:
    @pytest.mark.parametrize(
        "shares",
        [(900,) * 4, (3600, 0, 0, 0), (2400, 600, 300, 300), (50,) * 39 + (1650,), (90,) * 40],
        ids=["even", "one alone", "uneven", "one of forty", "forty"],
    )
    @pytest.mark.parametrize("guessed", [1, 4])
    @in_a_loop
    async def test_all_workers_together_let_through_the_limit_and_a_tenth_more_at_most(
        self, shares: tuple[int, ...], guessed: int
    ) -> None:
        counting = workers(len(shares), Table(), Clock(), guessed)
        made = [RequestLimits(each, partner=1200, business=0) for each in counting]
        assert 1200 <= await let_through(made, shares, seconds=0.5) <= 1320

    @in_a_loop
    async def test_no_request_is_refused_before_the_limit(self) -> None:
        made = limits(4, Table(), Clock(), 1200)
        assert await let_through(made, (1190, 4, 3, 3), seconds=0.2) == 1200

    @in_a_loop
    async def test_hardly_any_request_waits_for_the_others(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waits = []
        wait_for_report = SharedCounts._wait_for_report

        async def noted(shared: SharedCounts, waiting: Iterable[limiter.Count]) -> None:
            waits.append(shared)
            await wait_for_report(shared, waiting)

        monkeypatch.setattr(SharedCounts, "_wait_for_report", noted)
        table = Table()
        made = limits(4, table, Clock(), 8000)
        assert await let_through(made, (1900,) * 4, seconds=2.0) == 7600
        assert len(waits) < 76
        assert table.reports < 400

    @in_a_loop
    async def test_a_worker_counts_alone_while_the_table_is_away_and_reports_later(self) -> None:
        table = Table(is_away=True)
        made = limits(2, table, Clock(), 1000)
        began = time.monotonic()
        assert await let_through(made, (600, 300), seconds=0.1) == 900
        assert await let_through(made[:1], (600,), seconds=0.1) == 400
        assert time.monotonic() - began < 1.5  # No request waited for long.
        table.is_away = False
        await asyncio.sleep(limiter.RETRY_SECONDS)
        # The other worker has read the count of the first, 1,000.
        assert await let_through(made[1:], (700,), seconds=0.2) <= 50

    @in_a_loop
    async def test_a_table_that_hangs_delays_no_request_for_long(self) -> None:
        [alone] = workers(1, Table(seconds=3600), Clock())
        made = RequestLimits(alone, partner=100, business=0)
        async with asyncio.timeout(10):
            for _ in range(20):
                assert (await made.take(PARTNER, None))[1] is None
        await alone.close()

    @in_a_loop
    async def test_the_next_minute_begins_anew_on_all_workers(self) -> None:
        clock = Clock()
        made = limits(3, Table(), clock, 90)
        for _ in range(2):
            assert 90 <= await let_through(made, (60, 60, 60), seconds=0.2) <= 99
            clock.now += 60

    @in_a_loop
    async def test_a_report_is_no_part_of_a_request(self) -> None:
        observers: list[str] = []
        observer = ContextVar("observer", default="nobody")

        async def report(_minute: int, _counts: Mapping[str, int]) -> OthersCounts:
            observers.append(observer.get())
            return OthersCounts(1, {})

        observer.set("a request")
        shared = SharedCounts(report, workers=1, clock=Clock())
        made = RequestLimits(shared, partner=20, business=20)
        for _ in range(2):  # The second try waits for a report.
            await made.take(PARTNER, None)
        await shared.close()
        assert observers == ["nobody"]

    @in_a_loop
    async def test_without_a_limit_no_request_is_counted(self) -> None:
        table = Table()
        [made] = limits(1, table, Clock(), 0)
        assert [await made.take(PARTNER, "b") for _ in range(500)] == [([], None)] * 500
        assert table.reports == 0

    @in_a_loop
    async def test_a_business_has_a_share_of_its_own(self) -> None:
        [alone] = workers(1, Table(), Clock())
        made = RequestLimits(alone, partner=0, business=2)
        left = [await made.take(PARTNER, business) for business in ("a", "a", "b", "a")]
        assert [lines[0][1] for lines, _ in left] == [
            b'"business";r=1;t=48',
            b'"business";r=0;t=48',
            b'"business";r=1;t=48',
            b'"business";r=0;t=48',
        ]
        assert [refusal is None for _, refusal in left] == [True, True, True, False]
