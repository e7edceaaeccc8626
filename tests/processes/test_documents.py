"""Stored documents with several workers, and after a worker died."""

import os
import signal

import httpx

from tests.builders.files import PDF, upload
from tests.partner import NOBODY, PATIENCE_SECONDS, Partner, within
from tests.processes.server_process import Server


class TestWorkers:
    def test_what_one_of_them_kept_each_of_them_serves(self, served: Server, acme: Partner) -> None:
        served.wait_for_workers(2)
        shop = acme.business()
        urls = [upload(shop).json()["url"] for _ in range(4)]
        for url in urls:
            # A new connection each time: the kernel gives them to both workers.
            for _ in range(4):
                answer = httpx.get(f"{served.url}{url}", timeout=PATIENCE_SECONDS, verify=NOBODY)
                assert (answer.status_code, answer.content) == (200, PDF)

    def test_what_was_acknowledged_is_there_after_all_workers_were_killed(
        self, served: Server, acme: Partner
    ) -> None:
        workers = served.wait_for_workers(2)
        url = upload(acme.business()).json()["url"]
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        assert within(
            PATIENCE_SECONDS, lambda: served.serves and not set(workers) & set(served.workers)
        )
        answer = httpx.get(f"{served.url}{url}", timeout=PATIENCE_SECONDS, verify=NOBODY)
        assert (answer.status_code, answer.content) == (200, PDF)
