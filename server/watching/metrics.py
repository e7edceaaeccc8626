"""What the workers count for Prometheus, in files that the one process reads that is asked for it.

prometheus-client keeps each number of a process in a file of its own that is mapped into memory, so
that a worker which is killed takes nothing of it along. Its files are named by the process, and one
more is left behind by each worker that there ever was; ours are named by a place that a worker
holds while it lives and the next one takes over, with what was counted there. So there are never
more files than there were workers at once, and no count goes backwards.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

from prometheus_client import Counter, Gauge, Histogram, Metric, values
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from persistence.engine.pool import Occupancy
from server.watching.requests import CAUSES_OF_503, CROWD, OTHER_CAUSE

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
CAUSES_OF_RUNS: Final = (
    "stale", "serialization", "deadlock", "raced", "outcome_unknown", "key_busy",
)  # fmt: skip
SOURCES: Final = ("standby", "primary")


class Counted:
    """Counts what happens in one worker, in a folder that is shared by all of them.

    Each number is looked up by its labels once, and kept.
    """

    def __init__(self, folder: Path) -> None:
        self._place = take_place(folder)
        # Where the library keeps its numbers, it only lets itself be told in these two ways.
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
        values.ValueClass = values.MultiProcessValue(  # type: ignore[no-untyped-call]
            lambda: self._place.name
        )
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
        """Let be there what may stay away for long, since a rise from nothing shows as none."""
        for cause in (*CAUSES_OF_503.values(), CROWD, OTHER_CAUSE):
            self._unavailable.labels(cause)
        for cause in CAUSES_OF_RUNS:
            self._runs.labels(cause)
        for source in SOURCES:
            self._readings.labels(source)
        self._refusals.labels("invalid_credentials")

    def request(self, operation: str, status: int, seconds: float) -> None:
        """Count a request."""
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
        """Count what was refused."""
        self._refusals.labels(code).inc()

    def unavailable(self, cause: str) -> None:
        """Count a 503."""
        self._unavailable.labels(cause).inc()

    def waited(self, seconds: float) -> None:
        """Count a wait for a connection."""
        self._waits.inc()
        self._waited.inc(seconds)

    def runs_again(self, cause: str) -> None:
        """Count a writing that begins anew."""
        self._runs.labels(cause).inc()

    def replayed(self) -> None:
        """Count an answer that is given again."""
        self._replays.inc()

    def read_from(self, source: str) -> None:
        """Count a reading that a standby may answer."""
        self._readings.labels(source).inc()

    def beat(self, in_flight: int, occupancy: Occupancy, late_seconds: float) -> None:
        """Take down how the worker stands."""
        self._gauges["workers"].set(1)
        self._gauges["requests_in_flight"].set(in_flight)
        self._gauges["pool_connections_max"].set(occupancy.size)
        self._gauges["pool_connections_lent"].set(occupancy.lent)
        self._gauges["pool_connections_idle"].set(occupancy.idle)
        self._gauges["pool_waiting"].set(occupancy.waiting)
        self._late.set(late_seconds)


def _counter(name: str, told: str, *labels: str) -> Counter:
    return Counter(f"accounting_{name}", told, labels, registry=None)


def _gauge(name: str, told: str, mode: str = "livesum") -> Gauge:
    return Gauge(f"accounting_{name}", told, registry=None, multiprocess_mode=mode)  # type: ignore[arg-type]


class Place:
    """A place among those who count, held until its process ends."""

    def __init__(self, name: str, lock: int) -> None:
        self.name = name
        self._lock = lock  # Never closed: the kernel does that, however the process ends.


def take_place(folder: Path) -> Place:
    """Take the first place that is free, and drop how its last holder stood."""
    with _alone(folder):
        for number in count():
            with suppress(BlockingIOError):
                place = Place(str(number), _locked(folder, number))
                _forget_standing(folder, place.name)
                return place
    raise AssertionError


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Look at places while nobody else does: a look holds each for a moment, as a worker would."""
    with (folder / "places").open("w") as looking:
        fcntl.flock(looking, fcntl.LOCK_EX)
        yield


def _forget_standing(folder: Path, name: str) -> None:
    mark_process_dead(name, str(folder))  # type: ignore[no-untyped-call]


def _locked(folder: Path, number: int) -> int:
    lock = os.open(folder / f"{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise
    return lock


class AllWorkers:
    """What all workers have counted, those that are gone as well; how only the living stand."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterable[Metric]:
        """Gather it."""
        with _alone(self._folder):
            for file in self._folder.glob("*.lock"):
                with suppress(BlockingIOError):  # Somebody lives there.
                    lock = _locked(self._folder, int(file.stem))
                    _forget_standing(self._folder, file.stem)
                    os.close(lock)
        files = [str(each) for each in self._folder.glob("*.db") if _is_begun(each)]
        found: Iterable[Metric] = MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call]
        return found


def _is_begun(file: Path) -> bool:
    """Tell whether a file says anything: a worker makes it empty first, and may end meanwhile."""
    try:
        return file.stat().st_size > 0
    except FileNotFoundError:
        return False
