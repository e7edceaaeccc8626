import asyncio
from typing import Any

import pytest

from cli.demo.in_process import started


class Recorder:
    """An application that records its events; `fault` is the error of its start-up."""

    def __init__(self, fault: Exception | None = None, *, says_so: bool = True) -> None:
        self.told: list[str] = []
        self.fault = fault
        self.says_so = says_so

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.told.append((await receive())["type"])
        if self.fault is not None:
            if self.says_so:
                await send({"type": "lifespan.startup.failed", "message": str(self.fault)})
            raise self.fault
        await send({"type": "lifespan.startup.complete"})
        self.told.append((await receive())["type"])
        await send({"type": "lifespan.shutdown.complete"})


async def live(application: Recorder) -> None:
    async with started(application):
        application.told.append("work")


class TestStarted:
    def test_work_lies_between_start_up_and_shutdown(self) -> None:
        application = Recorder()
        asyncio.run(live(application))
        assert application.told == ["lifespan.startup", "work", "lifespan.shutdown"]

    @pytest.mark.parametrize("says_so", [True, False])
    def test_what_start_up_raises_is_raised_and_nothing_is_done(self, says_so: bool) -> None:
        application = Recorder(LookupError("no database"), says_so=says_so)
        with pytest.raises(LookupError, match="no database"):
            asyncio.run(asyncio.wait_for(live(application), timeout=60))
        assert application.told == ["lifespan.startup"]
