"""The process that answers /metrics, on a listener of its own.

A scrape reads the files of all workers and queries the state of the database. In a worker, its
requests would wait some milliseconds for that each time. When the process dies, the master starts
another one.
"""

import shutil
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from socket import socket
from socketserver import ThreadingMixIn
from threading import Lock
from time import monotonic, perf_counter
from typing import Any, Final, Generic, TypeVar
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import structlog
from cryptography import x509
from prometheus_client import CollectorRegistry, Metric, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from libraries.embedded import users
from persistence.database.condition import Condition, Webhooks, look
from persistence.engine.replica import StandbyLook
from persistence.files.blobs import Folder
from server.config.settings import Settings
from server.telemetry import logs
from server.telemetry.metrics import AllWorkers

T = TypeVar("T")

KEPT_SECONDS: Final = 10.0
"""Seconds for which a result is reused: the database is not queried more often."""

LOOK_SECONDS: Final = 5.0
"""Seconds that a scrape waits for the database; Prometheus itself waits ten."""

SCRAPER_SECONDS: Final = 10.0
"""Seconds that a scraper may take to send its request."""

NOWHERE: Final = b"There is nothing here but /metrics.\n"


def answer_scrapes(
    listener: socket, folder: Path, read: Callable[[], Settings], database_url: str
) -> None:
    """Answer scrapes until a signal ends this process or its parent is gone."""
    users.leave_with_parent()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    settings = read()
    logs.configure(settings.log_format, settings.log_level)
    registry = CollectorRegistry()
    registry.register(AllWorkers(folder))
    registry.register(Surroundings(settings, database_url))
    server = Listener(listener, make_wsgi_app(registry))
    server.serve_forever()


class Listener(ThreadingMixIn, WSGIServer):
    """The standard library's server on a bound socket, with a thread for each scrape."""

    daemon_threads = True

    def __init__(self, listener: socket, metrics: Callable[..., Iterable[bytes]]) -> None:
        address = listener.getsockname()
        super().__init__(address[:2], Quiet, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.server_name, self.server_port = address[0], address[1]
        self.setup_environ()
        self.set_app(only_metrics(metrics))

    def handle_error(self, _request: Any, _client: Any) -> None:
        """Ignore scrapers that disconnect."""


class Quiet(WSGIRequestHandler):
    """A scrape that is not logged."""

    timeout = SCRAPER_SECONDS
    server_version, sys_version = "accounting", ""

    def log_message(self, *_: Any) -> None:
        """Write nothing."""


def only_metrics(metrics: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """Answer with the library at /metrics alone; it would answer at every path."""

    def application(environ: Mapping[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"].rstrip("/") == "/metrics":
            return metrics(environ, start)
        start("404 Not Found", [("content-type", "text/plain; charset=utf-8")])
        return [NOWHERE]

    return application


class Looks(Generic[T]):
    """A query that runs in a thread of its own, and whose result is reused for `KEPT_SECONDS`."""

    def __init__(self, name: str, look: Callable[[], T]) -> None:
        self._name, self._look = name, look
        self._thread = ThreadPoolExecutor(1, name)
        self._lock = Lock()
        self._asked: Future[T | None] | None = None
        self._asked_at = 0.0
        self.took_seconds = 0.0
        self._log = structlog.get_logger("accounting.metrics")

    def begin(self) -> Future[T | None]:
        """Start the query, or return the one whose result is still reused."""
        with self._lock:
            overdue = monotonic() - self._asked_at >= KEPT_SECONDS
            if self._asked is None or (overdue and self._asked.done()):
                self._asked = self._thread.submit(self._seen)
                self._asked_at = monotonic()
            return self._asked

    def recent(self) -> T | None:
        """Return the result; None if the query failed or takes too long."""
        asked = self.begin()
        try:
            return asked.result(max(self._asked_at + LOOK_SECONDS - monotonic(), 0.0))
        except TimeoutError:
            return None

    def _seen(self) -> T | None:
        began = perf_counter()
        try:
            return self._look()
        except Exception as error:  # The other metrics are reported all the same.
            self._log.warning(f"{self._name}_not_seen", reason=type(error).__name__)
            return None
        finally:
            self.took_seconds = perf_counter() - began


class Surroundings:
    """Metrics beside the workers: of the database, the disks, the certificate and the version."""

    def __init__(self, settings: Settings, database_url: str) -> None:
        self._settings = settings
        self._certificate_ends = _end_of(settings.tls_cert)
        self._database = Looks("database", lambda: look(database_url))
        self._standby: Looks[timedelta] | None = None
        if settings.read_database_url is not None:
            standby = StandbyLook(database_url, settings.read_database_url)
            self._standby = Looks("standby", standby.lag)

    def collect(self) -> Iterator[Metric]:
        """Yield these metrics."""
        yield _gauge("workers_wanted", "Workers that were asked for.", self._settings.workers)
        build = GaugeMetricFamily("accounting_build_info", "What serves.", labels=["version"])
        build.add_metric([version("accounting-platform")], 1)
        yield build
        if self._certificate_ends is not None:
            yield _gauge(
                "certificate_ends_timestamp_seconds",
                "When the certificate that is served ends.",
                self._certificate_ends,
            )
        yield _gauge(
            "upkeep_every_seconds",
            "How long after one round of upkeep the next begins; 0 for never.",
            self._settings.upkeep_seconds,
        )
        yield from self._disks()
        if self._standby is not None:
            self._standby.begin()  # Both queries run at the same time.
        condition = self._database.recent()
        yield _gauge("database_up", "1 where the database answers.", condition is not None)
        yield _gauge(
            "database_look_seconds", "How long asking it took.", self._database.took_seconds
        )
        if condition is not None:
            yield from of_condition(condition)
        if self._standby is not None:
            yield from of_standby(self._standby.recent(), self._settings.read_lag_seconds)

    def _disks(self) -> Iterator[Metric]:
        free = GaugeMetricFamily("accounting_disk_free_bytes", "Left to write.", labels=["place"])
        whole = GaugeMetricFamily("accounting_disk_size_bytes", "As a whole.", labels=["place"])
        for place, folder in self._folders():
            try:
                usage = shutil.disk_usage(folder)
            except OSError:
                continue
            free.add_metric([place], usage.free)
            whole.add_metric([place], usage.total)
        yield from (free, whole)
        if isinstance(self._settings.documents, Folder):
            writable = self._settings.documents.seems_writable()
            yield _gauge("file_store_writable", "1 where files can be kept.", writable)

    def _folders(self) -> Iterator[tuple[str, Path]]:
        if isinstance(self._settings.documents, Folder):
            yield "files", self._settings.documents.root
        if self._settings.database_url is None:
            yield "database", self._settings.data_dir


def of_standby(lag: timedelta | None, most_seconds: int) -> Iterator[Metric]:
    """Yield the metrics of the standby that is read; without a lag it cannot be read."""
    yield _gauge("read_standby_up", "1 where the standby can be read.", lag is not None)
    yield _gauge("read_standby_lag_max_seconds", "Beyond it, it is not read.", most_seconds)
    if lag is not None:
        seconds = lag.total_seconds()
        yield _gauge("read_standby_lag_seconds", "How far it is behind.", seconds)


def of_condition(condition: Condition) -> Iterator[Metric]:
    """Yield the metrics of the database."""
    for name, told, value in (
        (
            "database_oldest_transaction_seconds",
            "Age of the oldest open transaction that this login sees.",
            condition.oldest_transaction_seconds,
        ),
        ("database_lock_waiting", "Locks that are waited for.", condition.lock_waiting),
        (
            "database_longest_lock_wait_seconds",
            "How long the longest of these waits has lasted.",
            condition.longest_lock_wait_seconds,
        ),
        ("database_size_bytes", "Size of the database.", condition.size_bytes),
        ("database_connections_max", "Connections it takes.", condition.connections_max),
        ("database_in_recovery", "1 where it is a standby.", condition.in_recovery),
    ):
        yield _gauge(name, told, value)
    yield CounterMetricFamily(
        "accounting_database_deadlocks", "Deadlocks it has broken.", value=condition.deadlocks
    )
    yield _labelled("database_connections", "Its connections.", "state", condition.connections)
    yield _labelled("table_size_bytes", "With indexes.", "table", condition.table_bytes)
    yield _labelled("table_rows", "Rows, as estimated.", "table", condition.table_rows)
    seconds = {name: lag for name, (lag, _) in condition.lag.items()}
    behind = {name: lag for name, (_, lag) in condition.lag.items()}
    yield _labelled("replication_lag_seconds", "Of each standby.", "standby", seconds)
    yield _labelled("replication_lag_bytes", "Of each standby.", "standby", behind)
    run = condition.newest_proof
    if run is not None:
        yield _gauge(
            "check_books_ended_timestamp_seconds",
            "When all books were looked through last.",
            run.ended_at.timestamp(),
        )
        yield _gauge("check_books_holds", "1 where all of them held.", run.holds)
        yield _gauge("check_books_businesses", "How many there were.", run.businesses)
        yield _gauge("check_books_faulty", "How many did not hold.", run.faulty)
        yield _gauge("check_books_seconds", "How long it took.", run.seconds)
    if condition.upkeep is not None:
        yield _gauge(
            "upkeep_ended_timestamp_seconds",
            "When the last round of upkeep ended, or the one under way began.",
            condition.upkeep.moved_at.timestamp(),
        )
        yield _gauge("upkeep_businesses", "Looked after in it.", condition.upkeep.businesses)
        yield _gauge("upkeep_failures", "Not looked after in it.", condition.upkeep.failures)
    if condition.webhooks is not None:
        yield from of_webhooks(condition.webhooks)


def of_webhooks(webhooks: Webhooks) -> Iterator[Metric]:
    """Yield the metrics of the webhooks of all servers."""
    for name, told, value in (
        ("lag_seconds", "How long the oldest due delivery has waited.", webhooks.lag_seconds),
        ("pending", "Deliveries that are not done.", webhooks.pending),
        ("endpoints", "Endpoints of all partners.", webhooks.endpoints),
        ("endpoints_failing", "Those whose last answer was no success.", webhooks.failing),
        ("endpoints_off", "Those that were switched off.", webhooks.off),
    ):
        yield _gauge(f"webhook_{name}", told, value)
    yield _labelled("webhook_secrets", "By master secret.", "key", webhooks.secrets)


def _gauge(name: str, told: str, value: float) -> Metric:
    return GaugeMetricFamily(f"accounting_{name}", told, value=float(value))


def _labelled(name: str, told: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(f"accounting_{name}", told, labels=[label])
    for each, value in values.items():
        family.add_metric([each], value)
    return family


def _end_of(certificate: Path | None) -> float | None:
    if certificate is None:
        return None
    first = x509.load_pem_x509_certificates(certificate.read_bytes())[0]
    return first.not_valid_after_utc.timestamp()
