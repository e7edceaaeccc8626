import asyncio
from collections.abc import Mapping
from typing import Any

import orjson
import structlog
from structlog.testing import CapturingLogger

from server.http.drain import DrainState
from server.http.errors import Answer
from server.http.health import Health

GOOD = {"database": "ok", "migrations": "ok", "durability": "ok"}


class Probe:
    def __init__(self, *results: Mapping[str, str] | Exception) -> None:
        self.results = list(results)
        self.asked = 0

    async def __call__(self) -> Mapping[str, str]:
        self.asked += 1
        await asyncio.sleep(0)
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(result, Exception):
            raise result
        return result


def status_and_body(answer: Answer) -> tuple[int, Any]:
    return answer.status, orjson.loads(answer.body)


class TestLive:
    def test_live_runs_no_check(self) -> None:
        probe = Probe(RuntimeError())
        answer = asyncio.run(Health(probe).live())
        assert status_and_body(answer) == (200, {"status": "alive"})
        assert probe.asked == 0


class TestReady:
    def test_ready_is_200_when_every_check_passes(self) -> None:
        answer = asyncio.run(Health(Probe(GOOD)).ready())
        assert status_and_body(answer) == (200, {"status": "ready", "checks": GOOD})

    def test_ready_is_503_when_a_single_check_fails(self) -> None:
        checks = {**GOOD, "migrations": "behind"}
        answer = asyncio.run(Health(Probe(checks)).ready())
        assert status_and_body(answer) == (503, {"status": "unavailable", "checks": checks})
        assert (b"retry-after", b"1") in answer.headers

    def test_a_server_that_is_about_to_stop_is_not_whatever_was_asked_just_now(self) -> None:
        draining = DrainState()
        health = Health(Probe(GOOD), draining=draining)

        async def ask() -> list[Answer]:
            first = await health.ready()
            draining.begun = True
            return [first, await health.ready(), await health.live()]

        ready, leaving, live = asyncio.run(ask())
        assert status_and_body(ready)[0] == 200
        stopping = {"status": "unavailable", "checks": {"server": "stopping"}}
        assert status_and_body(leaving) == (503, stopping)
        assert status_and_body(live) == (200, {"status": "alive"})

    def test_a_probe_that_fails_keeps_its_words_inside(self) -> None:
        logger = CapturingLogger()
        log = structlog.wrap_logger(logger, processors=[])
        answer = asyncio.run(Health(Probe(RuntimeError("password=x")), log=log).ready())
        assert status_and_body(answer) == (
            503,
            {"status": "unavailable", "checks": {"probe": "failed"}},
        )
        assert [call.method_name for call in logger.calls] == ["warning"]

    def test_a_probe_that_hangs_is_given_up(self) -> None:
        async def probe() -> Mapping[str, str]:
            await asyncio.Event().wait()
            return GOOD

        answer = asyncio.run(Health(probe, probe_seconds=0.01).ready())
        assert status_and_body(answer)[1]["checks"] == {"probe": "timed out"}

    def test_many_askers_share_one_question(self) -> None:
        probe = Probe(GOOD)

        async def ask() -> list[Answer]:
            health = Health(probe)
            return list(await asyncio.gather(*[health.ready() for _ in range(20)]))

        assert {answer.status for answer in asyncio.run(ask())} == {200}
        assert probe.asked == 1

    def test_an_answer_is_not_kept_for_ever(self) -> None:
        async def ask() -> list[int]:
            health = Health(Probe(GOOD, {"database": "away"}), kept_seconds=0.01)
            first = await health.ready()
            await asyncio.sleep(0.02)
            return [first.status, (await health.ready()).status]

        assert asyncio.run(ask()) == [200, 503]
