"""The sample receiver of webhooks in Python, run as a process.

`make clients` runs it beside the SDK that it has built; `make test` has none.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from accounting_sdk import models
from tools.clients.tests.check_events import (
    EVENT,
    MESSAGE,
    OTHER,
    PING,
    SECRET,
    VECTOR,
    VECTOR_HEADERS,
    sent,
    signed,
)

ID = "00000000-0000-0000-0000-000000000001"
SAMPLE = Path("tools/clients/samples/receiver.py")


@contextmanager
def receiver(file: Path) -> Iterator[str]:
    """Run the sample receiver; yield its address."""
    environment = {**os.environ, "WEBHOOK_SECRET": SECRET}
    words = [sys.executable, SAMPLE, "0", file]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


class TestReceiver:
    def test_each_event_is_kept_once(self, tmp_path: Path) -> None:
        file = tmp_path / "events"
        body, ping = sent(MESSAGE), sent(PING)
        for _ in range(2):
            with receiver(file) as url:
                for each in (body, body, ping):
                    assert httpx.post(url, content=each, headers=signed(each)).status_code == 204
        kept = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        assert [models.Event.from_dict(each) for each in kept] == [models.Event.from_dict(EVENT)]

    def test_what_is_no_webhook_is_refused(self, tmp_path: Path) -> None:
        body = sent(MESSAGE)
        with receiver(tmp_path / "events") as url:
            old = httpx.post(url, content=VECTOR, headers=VECTOR_HEADERS)
            forged = httpx.post(url, content=body, headers=signed(body, OTHER))
        assert (old.status_code, forged.status_code) == (400, 400)
        assert (tmp_path / "events").read_text("utf-8") == ""

    def test_a_line_that_a_crash_cut_off_is_written_again(self, tmp_path: Path) -> None:
        file = tmp_path / "events"
        body = sent(MESSAGE)
        with receiver(file) as url:
            httpx.post(url, content=body, headers=signed(body))
        whole = file.read_bytes()
        earlier = whole.replace(EVENT["id"].encode(), ID.encode())
        for cut in (whole[:-1], whole[: len(whole) // 2], b"{"):
            file.write_bytes(earlier + cut)
            with receiver(file) as url:
                assert httpx.post(url, content=body, headers=signed(body)).status_code == 204
            assert file.read_bytes() == earlier + whole

    @pytest.mark.parametrize(
        ("length", "status"),
        [("-1", 400), ("many", 400), ("9" * 5000, 400), ("1000001", 413), ("0", 400)],
    )
    def test_a_wrong_length_is_refused_before_the_body_is_read(
        self, tmp_path: Path, length: str, status: int
    ) -> None:
        with receiver(tmp_path / "events") as url:
            address = httpx.URL(url)
            assert address.port is not None
            with socket.create_connection((address.host, address.port), timeout=10) as wire:
                wire.sendall(f"POST / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n".encode())
                assert wire.recv(100).split()[1] == str(status).encode()
