"""Traces without the library, and without a collector."""

import socket
import sys
import time

import pytest

from server.process.worker import traces_of
from server.telemetry import traces
from server.telemetry.traces import SentTraces
from tests.api_server import settings


class TestWithoutTheLibrary:
    def test_the_server_serves_all_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "server.telemetry.traces")
        monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
        assert traces_of(settings(traced=True)) is None

    def test_nothing_is_traced_unless_somebody_collects(self) -> None:
        assert traces_of(settings()) is None


class TestWithoutACollector:
    def test_a_worker_that_ends_is_not_held_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(traces, "CLOSING_SECONDS", 0.2)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            monkeypatch.setenv(
                "OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}"
            )
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2")
            sent = SentTraces()
            sent.begin("an id", []).end("get_customer", 503, {"statements": 1})
            began = time.monotonic()
            sent.close()
            assert 0.1 < time.monotonic() - began < 1.5
