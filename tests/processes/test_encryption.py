"""TLS, trusted proxies, and the refusal of plain HTTP."""

import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from libraries.outbound.tests.certificates import write_certificate
from server.process.connections import HANDSHAKE_SECONDS
from tests.partner import PATIENCE_SECONDS
from tests.processes.server_process import Server, secrets

BELIEVED, OTHER = "127.0.0.2", "127.0.0.3"


@pytest.fixture(scope="module")
def encrypted(lived_in: Path) -> Iterator[Server]:
    certificate, key = write_certificate(lived_in)
    words = ("--workers", "1", "--tls-cert", str(certificate), "--tls-key", str(key))
    with Server(lived_in, *words, scheme="https", ACCOUNTING_SECRET_KEYS=secrets()) as server:
        yield server


@pytest.fixture(scope="module")
def behind_proxy(lived_in: Path) -> Iterator[Server]:
    with Server(
        lived_in,
        *("--workers", "1"),
        ACCOUNTING_SECRET_KEYS=secrets(),
        ACCOUNTING_FORWARDED_ALLOW_IPS=BELIEVED,
    ) as server:
        yield server


def ask(server: Server, address: str, said: str | None) -> httpx.Response:
    """Send a request from a loopback address, with an X-Forwarded-Proto header if given."""
    headers = {} if said is None else {"X-Forwarded-Proto": said}
    transport = httpx.HTTPTransport(local_address=address)
    return server.get("/v1/platform/businesses/", transport=transport, headers=headers)


class TestTls:
    def test_https_works_and_says_to_stay_with_it(self, encrypted: Server) -> None:
        trust = ssl.create_default_context(cafile=str(encrypted.folder / "certificate.pem"))
        answer = encrypted.get("/health/ready", verify=trust)
        assert answer.status_code == 200
        assert answer.headers["strict-transport-security"].startswith("max-age=31536000")

    def test_a_caller_that_does_not_know_the_certificate_refuses_it(
        self, encrypted: Server
    ) -> None:
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            encrypted.get("/health/ready")

    def test_old_versions_of_tls_are_refused(self, encrypted: Server) -> None:
        old = ssl.create_default_context(cafile=str(encrypted.folder / "certificate.pem"))
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        with pytest.raises(httpx.ConnectError):
            encrypted.get("/health/ready", verify=old)

    def test_a_handshake_that_does_not_come_is_not_waited_for(self, encrypted: Server) -> None:
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", encrypted.port), PATIENCE_SECONDS) as silent:
            assert silent.recv(1) == b""
        assert time.monotonic() - began > HANDSHAKE_SECONDS - 1
        assert "Traceback" not in encrypted.log

    def test_plain_http_is_not_understood_on_its_port(self, encrypted: Server) -> None:
        with pytest.raises(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{encrypted.port}/health/live")


class TestPlainHttp:
    def test_production_refuses_it_before_anything_else(self, behind_proxy: Server) -> None:
        answer = behind_proxy.get("/v1/platform/businesses/")
        assert answer.status_code == 403
        assert answer.json()["error_code"] == "https_required"
        assert "strict-transport-security" not in answer.headers

    @pytest.mark.parametrize("path", ["/health/live", "/health/ready"])
    def test_health_is_told_to_whoever_asks(self, behind_proxy: Server, path: str) -> None:
        answer = behind_proxy.get(path)
        assert (answer.status_code, "strict-transport-security" in answer.headers) == (200, False)
        bare = f"GET {path} HTTP/1.0\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", behind_proxy.port)) as probe:
            probe.sendall(bare)
            assert probe.makefile("rb").read().startswith(b"HTTP/1.1 200 ")

    def test_the_named_proxy_is_believed(self, behind_proxy: Server) -> None:
        answer = ask(behind_proxy, BELIEVED, "https")
        assert answer.status_code == 401  # It is served, but has no token.
        assert "strict-transport-security" in answer.headers

    @pytest.mark.parametrize(
        ("address", "said"),
        [(OTHER, "https"), ("127.0.0.1", "https"), (BELIEVED, "http"), (BELIEVED, None)],
    )
    def test_nobody_else_is(self, behind_proxy: Server, address: str, said: str | None) -> None:
        assert ask(behind_proxy, address, said).status_code == 403
