"""Who holds a place next, told by the letters of the tenants."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from accounting.errors import Unavailable
from persistence.engine.pool import FairSemaphore, Permit
from tests.partner import PATIENCE_SECONDS


class Crowd:
    """Tenants that come one after the other and hold their places until they are told to go."""

    def __init__(self, semaphore: FairSemaphore) -> None:
        self.semaphore = semaphore
        self.served = ""
        self.held: list[Permit] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def come(self, tenants: str) -> None:
        for tenant in tenants:
            self.tasks.append(asyncio.create_task(self._take(tenant)))
            await settled()

    async def _take(self, tenant: str) -> None:
        self.held.append(await self.semaphore.acquire(tenant))
        self.served += tenant

    async def go(self, tenants: str) -> str:
        """Let some go; return who comes in their place."""
        before = len(self.served)
        for tenant in tenants:
            self.give_back(tenant)
            await settled()
        return self.served[before:]

    def give_back(self, tenant: str) -> None:
        """Give back what a tenant took first."""
        turn = next(each for each in self.held if each.tenant == tenant)
        self.held.remove(turn)
        self.semaphore.release(turn)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def played(places: int, play: Callable[[Crowd], Awaitable[None]], *, quick: bool = False) -> None:
    asyncio.run(play(Crowd(FairSemaphore(places, quick=quick))))


class TestShare:
    @pytest.mark.parametrize(
        ("places", "served"), [(1, "a"), (2, "a"), (3, "a"), (4, "aa"), (8, "aaaa")]
    )
    def test_nobody_holds_more_than_half(self, places: int, served: str) -> None:
        async def play(crowd: Crowd) -> None:
            await crowd.come("aaaaaaaaa")
            assert crowd.served == served

        played(places, play)

    def test_permits_beyond_a_share_go_to_the_next_tenant(self) -> None:
        async def play(crowd: Crowd) -> None:
            await crowd.come("aaaaabcb")
            assert crowd.served == "aabc"
            assert await crowd.go("c") == "b"

        played(4, play)


class TestQuickWork:
    def test_new_quick_work_gets_half_of_the_permits_of_a_tenant(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("persistence.engine.pool.QUICK_SECONDS", PATIENCE_SECONDS)

        async def play(crowd: Crowd) -> None:
            await crowd.come("aaabbb")
            assert crowd.served == "aabb"
            assert await crowd.go("b") == "b"

        played(8, play, quick=True)

    def test_quick_work_that_lasts_returns_its_permit_once(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("persistence.engine.pool.QUICK_SECONDS", 0.0)

        async def play(crowd: Crowd) -> None:
            await crowd.come("aaabbb")
            assert crowd.served == "aabb"
            assert await crowd.go("abab") == "ab"
            await crowd.come("ab")
            assert crowd.served == "aabb" + "ab" + "ab"

        played(4, play, quick=True)


class TestLines:
    def test_tenants_are_served_in_turn_and_each_in_its_order(self) -> None:
        async def play(crowd: Crowd) -> None:
            await crowd.come("aabb" + "aaaa" + "bb" + "cd")
            assert crowd.served == "aabb"
            assert await crowd.go("ababcd") == "abcdab"

        played(4, play)

    def test_a_caller_without_a_tenant_waits_in_a_queue_as_well(self) -> None:
        async def play(crowd: Crowd) -> None:
            taken = await crowd.semaphore.acquire(None)
            waiting = asyncio.create_task(crowd.semaphore.acquire(None))
            await settled()
            crowd.semaphore.release(taken)
            await asyncio.wait_for(waiting, PATIENCE_SECONDS)

        played(2, play)

    def test_a_cancelled_caller_is_skipped(self) -> None:
        async def play(crowd: Crowd) -> None:
            await crowd.come("abab")
            crowd.tasks[2].cancel()
            assert await crowd.go("a") == ""
            assert await crowd.go("b") == "b"

        played(2, play)

    def test_a_caller_that_is_cancelled_with_its_permit_hands_it_on(self) -> None:
        async def play(crowd: Crowd) -> None:
            await crowd.come("abaa")
            crowd.give_back("a")
            crowd.tasks[2].cancel()
            await settled()
            assert crowd.served == "aba"

        played(2, play)

    def test_a_turn_that_comes_when_it_is_given_up_goes_to_the_next(self) -> None:
        async def play(crowd: Crowd) -> None:
            await crowd.come("abaa")
            crowd.tasks[2].cancel()
            crowd.give_back("a")
            await settled()
            assert crowd.served == "aba"

        played(2, play)


class TestFullLine:
    def test_a_tenant_has_at_most_half_of_the_queue(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("persistence.engine.pool.MOST_WAITING", 6)

        async def play(crowd: Crowd) -> None:
            await crowd.come("ab" + "aaa")
            with pytest.raises(Unavailable):
                await crowd.semaphore.acquire("a")
            await crowd.come("bbb")
            with pytest.raises(Unavailable):
                crowd.semaphore.refuse_crowd("c")
            assert await crowd.go("a") == "a"
            crowd.semaphore.refuse_crowd("c")

        played(2, play)

    def test_all_who_wait_can_be_told_not_to(self) -> None:
        async def play(crowd: Crowd) -> None:
            await crowd.come("abaab")
            crowd.semaphore.refuse_all()
            ended = await asyncio.gather(*crowd.tasks, return_exceptions=True)
            assert [type(each) for each in ended[2:]] == [Unavailable] * 3
            assert await crowd.go("ab") == ""
            await crowd.come("ab")
            assert crowd.served == "abab"

        played(2, play)
