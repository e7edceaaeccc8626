"""SIGHUP: each worker is replaced by one that has read the settings again."""

import signal
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from libraries.outbound.tests.certificates import write_certificate
from tests.partner import PATIENCE_SECONDS, within
from tests.processes.server_process import Server, secrets


@pytest.fixture(scope="module")
def encrypted(lived_in: Path) -> Iterator[Server]:
    certificate, key = write_certificate(lived_in)
    words = ("--workers", "2", "--tls-cert", str(certificate), "--tls-key", str(key))
    with Server(lived_in, *words, scheme="https", ACCOUNTING_SECRET_KEYS=secrets()) as server:
        server.wait_for_workers()
        yield server


def shown(server: Server) -> bytes:
    """Return the certificate of the answering worker, and check its answer."""
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS) as plain,
        trust.wrap_socket(plain) as connection,
    ):
        connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200"
        found = connection.getpeercert(binary_form=True)
    assert found is not None
    return found


class TestReadingAnew:
    def test_the_next_certificate_is_served_and_nobody_is_turned_away(
        self, encrypted: Server
    ) -> None:
        first, workers = shown(encrypted), set(encrypted.wait_for_workers())
        write_certificate(encrypted.folder)
        encrypted.process.send_signal(signal.SIGHUP)
        # Each of these connections gets an answer, from an old or a new worker.
        assert within(
            PATIENCE_SECONDS,
            lambda: shown(encrypted) != first and workers.isdisjoint(encrypted.workers),
        )
        assert len({shown(encrypted) for _ in range(8)} - {first}) == 1
        assert len(encrypted.wait_for_workers()) == 2

    def test_settings_that_cannot_be_used_change_nothing(self, encrypted: Server) -> None:
        first, workers = shown(encrypted), encrypted.wait_for_workers()
        (encrypted.folder / "key.pem").write_text("no key")
        encrypted.process.send_signal(signal.SIGHUP)
        assert within(PATIENCE_SECONDS, lambda: encrypted.events("settings_refused"))
        assert "--tls-cert" in encrypted.events("settings_refused")[0]["reason"]
        assert (shown(encrypted), encrypted.workers) == (first, workers)
