"""The order in which tenants, named by letters, get permits."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from accounting.errors import Outage, Unavailable
from persistence.engine.fair_semaphore import FairSemaphore, Permit
from tests.partner import PATIENCE_SECONDS


class Crowd:
    """Tenants that arrive one after the other and hold their permits until released."""

    def __init__(self, runner: asyncio.Runner, semaphore: FairSemaphore) -> None:
        self.runner = runner
        self.semaphore = semaphore
        self.served = ""
        self.held: list[Permit] = []
        self.tasks: list[asyncio.Task[None]] = []

    def come(self, tenants: str) -> str:
        """Acquire a permit for each tenant; return all tenants served so far."""

        async def come() -> None:
            for tenant in tenants:
                self.tasks.append(asyncio.create_task(self._take(tenant)))
                await settled()

        self.runner.run(come())
        return self.served

    async def _take(self, tenant: str) -> None:
        self.held.append(await self.semaphore.acquire(tenant))
        self.served += tenant

    def go(self, tenants: str) -> str:
        """Release a permit of each tenant; return the tenants served then."""
        before = len(self.served)

        async def go() -> None:
            for tenant in tenants:
                self.release(tenant)
                await settled()

        self.runner.run(go())
        return self.served[before:]

    def release(self, tenant: str) -> None:
        """Release the first permit of a tenant."""
        permit = next(each for each in self.held if each.tenant == tenant)
        self.held.remove(permit)
        self.semaphore.release(permit)

    def settle(self) -> None:
        self.runner.run(settled())


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


Crowds = Callable[..., Crowd]


@pytest.fixture
def crowd_for() -> Iterator[Crowds]:
    with asyncio.Runner() as runner:
        yield lambda permits, **options: Crowd(runner, FairSemaphore(permits, **options))


class TestShare:
    @pytest.mark.parametrize(
        ("permits", "served"), [(1, "a"), (2, "a"), (3, "a"), (4, "aa"), (8, "aaaa")]
    )
    def test_a_tenant_holds_at_most_half(
        self, crowd_for: Crowds, permits: int, served: str
    ) -> None:
        assert crowd_for(permits).come("aaaaaaaaa") == served

    def test_permits_beyond_a_share_go_to_the_next_tenant(self, crowd_for: Crowds) -> None:
        crowd = crowd_for(4)
        assert crowd.come("aaaaabcb") == "aabc"
        assert crowd.go("c") == "b"


class TestQuickWork:
    def test_new_quick_work_gets_half_of_the_permits_of_a_tenant(
        self, crowd_for: Crowds, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("persistence.engine.fair_semaphore.QUICK_SECONDS", PATIENCE_SECONDS)
        crowd = crowd_for(8, quick=True)
        assert crowd.come("aaabbb") == "aabb"
        assert crowd.go("b") == "b"

    def test_quick_work_that_lasts_returns_its_permit_once(
        self, crowd_for: Crowds, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("persistence.engine.fair_semaphore.QUICK_SECONDS", 0.0)
        crowd = crowd_for(4, quick=True)
        assert crowd.come("aaabbb") == "aabb"
        assert crowd.go("abab") == "ab"
        assert crowd.come("ab") == "aabb" + "ab" + "ab"


class TestQueues:
    def test_tenants_are_served_in_turn_and_each_in_its_order(self, crowd_for: Crowds) -> None:
        crowd = crowd_for(4)
        assert crowd.come("aabb" + "aaaa" + "bb" + "cd") == "aabb"
        assert crowd.go("ababcd") == "abcdab"

    def test_a_caller_without_a_tenant_waits_in_a_queue_as_well(self) -> None:
        async def wait() -> None:
            semaphore = FairSemaphore(2)
            taken = await semaphore.acquire(None)
            waiting = asyncio.create_task(semaphore.acquire(None))
            await settled()
            semaphore.release(taken)
            await asyncio.wait_for(waiting, PATIENCE_SECONDS)

        asyncio.run(wait())

    def test_a_cancelled_caller_is_skipped(self, crowd_for: Crowds) -> None:
        crowd = crowd_for(2)
        crowd.come("abab")
        crowd.tasks[2].cancel()
        assert crowd.go("a") == ""
        assert crowd.go("b") == "b"

    @pytest.mark.parametrize("is_cancelled_first", [False, True])
    def test_a_caller_that_is_cancelled_with_its_permit_hands_it_on(
        self, crowd_for: Crowds, is_cancelled_first: bool
    ) -> None:
        crowd = crowd_for(2)
        crowd.come("abaa")
        if is_cancelled_first:
            crowd.tasks[2].cancel()
            crowd.release("a")
        else:
            crowd.release("a")
            crowd.tasks[2].cancel()
        crowd.settle()
        assert crowd.served == "aba"


class TestFullQueue:
    def test_a_tenant_has_at_most_half_of_the_queue(
        self, crowd_for: Crowds, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("persistence.engine.fair_semaphore.MOST_WAITING", 6)
        crowd = crowd_for(2)
        crowd.come("ab" + "aaa")
        with pytest.raises(Unavailable):
            crowd.runner.run(crowd.semaphore.acquire("a"))
        crowd.come("bbb")
        with pytest.raises(Unavailable):
            crowd.semaphore.refuse_crowd("c")
        assert crowd.go("a") == "a"
        crowd.semaphore.refuse_crowd("c")

    def test_all_waiting_callers_can_be_refused(self, crowd_for: Crowds) -> None:
        crowd = crowd_for(2)
        crowd.come("abaab")
        crowd.semaphore.refuse_all()
        crowd.settle()
        assert [type(each.exception()) for each in crowd.tasks[2:]] == [Outage] * 3
        assert crowd.go("ab") == ""
        assert crowd.come("ab") == "abab"
