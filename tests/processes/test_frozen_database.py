"""A frozen PostgreSQL: every request is answered in time, and afterwards all works again."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.partner import PATIENCE_SECONDS, within
from tests.processes.server_process import Server, children_of

ANSWER_SECONDS = 3
SLACK_SECONDS = 5.0  # For a busy machine; a cancel request of psycopg takes ten.
CALLERS = 12  # More than there are connections.


@contextmanager
def frozen(postgres: int) -> Iterator[None]:
    """Stop every process of PostgreSQL with SIGSTOP during a block."""
    os.kill(postgres, signal.SIGSTOP)  # The first one, so that it starts no others.
    all_of_them = [*children_of(postgres), postgres]
    for pid in all_of_them:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in all_of_them:
            os.kill(pid, signal.SIGCONT)


class TestFrozenDatabase:
    def test_requests_are_503_in_time_and_their_keys_tell_the_rest(self, own_folder: Path) -> None:
        with Server(own_folder, ACCOUNTING_ANSWER_SECONDS=str(ANSWER_SECONDS)) as server:
            shop = server.partner().business()
            api = shop.api

            def create(number: int) -> httpx.Response:
                body = {"company_name": "Blue Door", "external_id": f"buyer-{number}"}
                headers = {"Idempotency-Key": f"key-{number}"}
                return api.post("customers/", json=body, headers=headers)

            def read(_number: int) -> httpx.Response:
                return api.get("customers/")

            with ThreadPoolExecutor(2 * CALLERS) as threads, frozen(server.postgres()):
                began = time.monotonic()
                asked = [
                    threads.submit(what, number)
                    for what in (create, read)
                    for number in range(CALLERS)
                ]
                answers = [each.result() for each in asked]
                assert time.monotonic() - began < ANSWER_SECONDS + SLACK_SECONDS
            assert {answer.status_code for answer in answers} == {503}
            assert {answer.json()["error_code"] for answer in answers} == {"service_unavailable"}
            assert all("retry-after" in answer.headers for answer in answers)

            assert within(PATIENCE_SECONDS, lambda: read(0).status_code == 200)
            assert [create(number).status_code for number in range(CALLERS)] == [201] * CALLERS
            assert read(0).json()["count"] == CALLERS
