"""Counters of the workers for Prometheus, in the multiprocess mode of prometheus-client.

Each worker has files of its own, mapped into memory and named by its process id, in the folder that
`PROMETHEUS_MULTIPROC_DIR` names. The files of a worker that has ended stay, so no count is lost or
goes down while the server lives. `AllWorkers` adds them up in the process that answers scrapes.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Final

from prometheus_client import Counter, Gauge, Histogram, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from persistence.engine.pool import Occupancy
from server.telemetry.request_watch import CAUSES_OF_503, CROWD, OTHER_CAUSE

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
CAUSES_OF_RUNS: Final = (
    "stale", "serialization", "deadlock", "raced", "outcome_unknown", "key_busy",
)  # fmt: skip
SOURCES: Final = ("standby", "primary")


class PrometheusCounts:
    """The counters of one worker.

    The child of each combination of labels is looked up once and cached.
    """

    def __init__(self) -> None:
        self._requests = _counter("requests", "Requests that were answered.", "operation", "status")
        self._durations = Histogram(
            "accounting_request_seconds",
            "How long requests took, to the last byte of the answer.",
            ("operation",),
            registry=None,
            buckets=BUCKETS,
        )
        self._refusals = _counter("refusals", "Refused requests, by error code.", "code")
        self._unavailable = _counter("unavailable", "Answers of 503, by their cause.", "cause")
        self._runs = _counter("runs_again", "Writings that began anew, by the cause.", "cause")
        self._replays = _counter("replays", "Answers that were given again for their key.")
        self._readings = _counter(
            "eventual_readings", "Readings that a standby may answer, by who did.", "source"
        )
        self._waits = _counter("pool_waits", "Waits for a connection to the database.")
        self._waited = _counter("pool_wait_seconds", "How long they took together.")
        self._gauges = {
            name: _gauge(name, told)
            for name, told in (
                ("workers", "Workers that serve."),
                ("requests_in_flight", "Requests that are being served."),
                ("pool_connections_max", "Connections that the workers may have."),
                ("pool_connections_lent", "Connections that requests work with."),
                ("pool_connections_idle", "Connections that wait for requests."),
                ("pool_waiting", "Requests that wait for a connection."),
            )
        }
        self._late = _gauge("loop_late_seconds", "How late the latest worker was last.", "livemax")
        self._by_status: dict[tuple[str, int], Counter] = {}
        self._by_operation: dict[str, Histogram] = {}
        self._begin_at_nothing()

    def _begin_at_nothing(self) -> None:
        """Create rare series at 0: a rise from a missing series shows as no rise."""
        for cause in (*CAUSES_OF_503.values(), CROWD, OTHER_CAUSE):
            self._unavailable.labels(cause)
        for cause in CAUSES_OF_RUNS:
            self._runs.labels(cause)
        for source in SOURCES:
            self._readings.labels(source)
        self._refusals.labels("invalid_credentials")

    def request(self, operation: str, status: int, seconds: float) -> None:
        """Count a request and observe its duration."""
        counter = self._by_status.get((operation, status))
        if counter is None:
            counter = self._requests.labels(operation, str(status))
            self._by_status[operation, status] = counter
        counter.inc()
        durations = self._by_operation.get(operation)
        if durations is None:
            durations = self._by_operation[operation] = self._durations.labels(operation)
        durations.observe(seconds)

    def refusal(self, code: str) -> None:
        """Count a refusal by its error code."""
        self._refusals.labels(code).inc()

    def unavailable(self, cause: str) -> None:
        """Count a 503 by its cause."""
        self._unavailable.labels(cause).inc()

    def waited(self, seconds: float) -> None:
        """Count a wait for a connection."""
        self._waits.inc()
        self._waited.inc(seconds)

    def runs_again(self, cause: str) -> None:
        """Count a retry of a writing by its cause."""
        self._runs.labels(cause).inc()

    def replayed(self) -> None:
        """Count a replayed answer."""
        self._replays.inc()

    def read_from(self, source: str) -> None:
        """Count a reading that a standby may answer, by the database that answered."""
        self._readings.labels(source).inc()

    def beat(self, in_flight: int, occupancy: Occupancy, late_seconds: float) -> None:
        """Set the gauges of this worker."""
        self._gauges["workers"].set(1)
        self._gauges["requests_in_flight"].set(in_flight)
        self._gauges["pool_connections_max"].set(occupancy.size)
        self._gauges["pool_connections_lent"].set(occupancy.lent)
        self._gauges["pool_connections_idle"].set(occupancy.idle)
        self._gauges["pool_waiting"].set(occupancy.waiting)
        self._late.set(late_seconds)


class PrometheusDeliveryCounts:
    """The counters of a process that delivers webhooks."""

    def __init__(self) -> None:
        self._attempts = _counter(
            "webhook_attempts", "Attempts to deliver an event, by their outcome.", "outcome"
        )
        for outcome in ("delivered", "failed", "postponed"):
            self._attempts.labels(outcome)
        self._durations = Histogram(
            "accounting_webhook_seconds",
            "How long receivers took to answer.",
            registry=None,
            buckets=(*BUCKETS, 15.0),
        )
        self._alive = _gauge("webhook_deliverers", "Processes that deliver webhooks.")
        self._in_flight = _gauge("webhook_in_flight", "Webhooks that are being sent.")

    def webhook(self, outcome: str, seconds: float | None) -> None:
        """Count an attempt by its outcome, and observe how long its answer took."""
        self._attempts.labels(outcome).inc()
        if seconds is not None:
            self._durations.observe(seconds)

    def beat(self, in_flight: int) -> None:
        """Set the gauges of this process."""
        self._alive.set(1)
        self._in_flight.set(in_flight)


def _counter(name: str, told: str, *labels: str) -> Counter:
    return Counter(f"accounting_{name}", told, labels, registry=None)


def _gauge(name: str, told: str, mode: str = "livesum") -> Gauge:
    return Gauge(f"accounting_{name}", told, registry=None, multiprocess_mode=mode)  # type: ignore[arg-type]


class AllWorkers:
    """The counts of all workers, ended ones included, and the gauges of the living ones."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()

    def collect(self) -> Iterable[Metric]:
        """Return the metrics of all workers, added up."""
        with self._lock:  # Scrapes run in threads: none may remove a file that another one reads.
            self._drop_gauges_of_ended_workers()
            # A worker creates a file empty, and then fills it: the library cannot read it before.
            files = [str(file) for file in self._folder.glob("*.db") if file.stat().st_size]
            found: Iterable[Metric] = MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call]
            return found

    def _drop_gauges_of_ended_workers(self) -> None:
        for file in self._folder.glob("gauge_live*.db"):
            process_id = int(file.stem.rpartition("_")[2])
            if not _is_alive(process_id):
                mark_process_dead(process_id, str(self._folder))  # type: ignore[no-untyped-call]


def _is_alive(process_id: int) -> bool:
    """Return whether a process of this user has this id."""
    try:
        os.kill(process_id, 0)
    except OSError:
        return False
    return True
