"""The counts, the log and the traces of a server with two workers."""

import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.jobs.webhooks import endpoint
from tests.operations.watching_files import alerts, queries
from tests.partner import PATIENCE_SECONDS, Business, within
from tests.ports import free_port
from tests.processes.conftest import make_folder
from tests.processes.prometheus import PROMETHEUS, Prometheus
from tests.processes.server_process import Server, children_of, remove
from tests.server.telemetry.exposition import Samples, counted_by_each, samples_of, total
from tests.server.telemetry.otlp_collector import Collector, attributes_of

UUIDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}")
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


class WatchedServer(Server):
    """A server with metrics, a JSON log and traces."""

    def __init__(self, folder: Path, collector: Collector) -> None:
        self.metrics_port = free_port()
        super().__init__(
            folder,
            *("--development", "--workers", "2"),
            ACCOUNTING_METRICS_PORT=str(self.metrics_port),
            ACCOUNTING_LOG_LEVEL="debug",
            ACCOUNTING_SLOW_MS="1",
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
            OTEL_BSP_SCHEDULE_DELAY="100",
            TMPDIR=str(folder),
        )

    @property
    def metrics(self) -> str:
        """Return the metrics as Prometheus reads them."""
        answer = httpx.get(f"http://127.0.0.1:{self.metrics_port}/metrics")
        assert answer.status_code == 200, answer.text
        return answer.text

    @property
    def samples(self) -> Samples:
        return samples_of(self.metrics)

    @property
    def scraped(self) -> set[int]:
        """Return the process that answers scrapes."""
        delivering = {event["pid"] for event in self.events("delivering")}
        return set(self.forked) - self.opened - delivering


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        yield collector


@pytest.fixture(scope="module")
def watched(migrated: Path, collector: Collector) -> Iterator[WatchedServer]:
    folder = make_folder()
    shutil.copytree(migrated, folder, dirs_exist_ok=True)
    try:
        with WatchedServer(folder, collector) as server:
            server.wait_for_workers()
            yield server
    finally:
        remove(folder)


@pytest.fixture(scope="module")
def business(watched: WatchedServer) -> Business:
    return watched.partner().business()


def counted(watched: WatchedServer) -> list[float]:
    """Return the number of listed customers that each worker has counted."""
    return counted_by_each(watched.folder, "list_customers")


class TestMetrics:
    def test_counts_of_all_workers_are_added_up(
        self, watched: WatchedServer, business: Business
    ) -> None:
        listed = {"operation": "list_customers", "status": "200"}
        path = f"/v1/platform/businesses/{business.id}/customers/"
        headers = dict(business.api.headers)
        asked = 0

        def both_have_answered() -> bool:
            nonlocal asked
            assert watched.get(path, headers=headers).status_code == 200
            asked += 1
            return sum(each > 0 for each in counted(watched)) == 2

        assert within(PATIENCE_SECONDS, both_have_answered)
        assert total(watched.samples, "accounting_requests_total", **listed) == asked
        assert total(watched.samples, "accounting_request_seconds_count", **listed) == 0
        seconds = {"operation": "list_customers"}
        assert total(watched.samples, "accounting_request_seconds_count", **seconds) == asked
        assert within(PATIENCE_SECONDS, lambda: total(watched.samples, "accounting_workers") == 2)
        assert total(watched.samples, "accounting_pool_connections_max") == 16

    def test_counts_of_a_killed_worker_are_kept(
        self, watched: WatchedServer, business: Business
    ) -> None:
        before = total(watched.samples, "accounting_requests_total")
        victim = watched.workers[0]
        watched.kill(victim)
        assert within(PATIENCE_SECONDS, lambda: victim not in watched.workers)
        assert total(watched.samples, "accounting_requests_total") >= before
        watched.wait_for_workers()
        assert within(PATIENCE_SECONDS, lambda: total(watched.samples, "accounting_workers") == 2)
        assert total(watched.samples, "accounting_requests_total") >= before

    def test_counts_of_replaced_workers_are_kept(
        self, watched: WatchedServer, business: Business
    ) -> None:
        before = total(watched.samples, "accounting_requests_total")
        workers, scraped = set(watched.workers), watched.scraped
        watched.process.send_signal(signal.SIGHUP)
        assert within(PATIENCE_SECONDS, lambda: workers.isdisjoint(watched.workers))
        watched.wait_for_workers()
        assert within(PATIENCE_SECONDS, lambda: scraped.isdisjoint(watched.scraped))
        assert total(watched.samples, "accounting_requests_total") >= before
        assert within(PATIENCE_SECONDS, lambda: total(watched.samples, "accounting_workers") == 2)

    def test_the_process_that_answers_scrapes_is_replaced(self, watched: WatchedServer) -> None:
        assert within(PATIENCE_SECONDS, lambda: len(watched.scraped) == 1)
        before = total(watched.samples, "accounting_requests_total")
        watched.kill(*watched.scraped)
        # A scrape waits for the next process: the master owns the listener.
        assert within(PATIENCE_SECONDS, lambda: len(watched.scraped) == 1)
        assert total(watched.samples, "accounting_requests_total") >= before

    def test_it_is_there_and_nowhere_else(self, watched: WatchedServer) -> None:
        assert watched.get("/metrics").status_code == 404
        other = httpx.get(f"http://127.0.0.1:{watched.metrics_port}/v1/platform/businesses/")
        assert other.status_code == 404
        accept = {"Accept": "application/openmetrics-text"}
        opened = httpx.get(f"http://127.0.0.1:{watched.metrics_port}/metrics", headers=accept)
        assert opened.headers["content-type"].startswith("application/openmetrics-text")
        assert opened.text.endswith("# EOF\n")

    def test_it_says_nothing_of_whose_books_they_are(
        self, watched: WatchedServer, business: Business
    ) -> None:
        business.customer()
        told = watched.metrics
        assert UUIDS.search(told) is None
        assert business.partner.api_key not in told


# Metrics that need a certificate or a standby, which this server does not have.
NOT_HERE = ("accounting_certificate_", "accounting_replication_", "accounting_read_standby_")


@pytest.mark.skipif(PROMETHEUS is None, reason="prometheus is not installed: apt-get install it")
class TestPrometheus:
    def test_answers_every_query_of_the_dashboard(
        self, watched: WatchedServer, business: Business
    ) -> None:
        watched.command_line.did("check-books", **watched.settings)
        endpoint(business.partner, "http://127.0.0.1:1025/")
        with Prometheus(watched.metrics_port) as prometheus:

            def all_is_known() -> bool:
                business.api.get("customers/")
                known = ("accounting_check_books_holds == 1", "rate(accounting_requests_total[1m])")
                return all(prometheus.found(each) for each in known)

            assert within(PATIENCE_SECONDS, all_is_known, every=0.2)
            unanswered = {
                title: expression
                for title, expression in queries()
                if not prometheus.found(expression)
                and not any(name in expression for name in NOT_HERE)
            }
            assert unanswered == {}
            groups = prometheus.asked("rules")["groups"]
            rules = [rule for group in groups for rule in group["rules"]]
            assert within(PATIENCE_SECONDS, lambda: bool(prometheus.found("up == 1")))
            assert {rule["name"] for rule in rules} == {rule["alert"] for rule in alerts()}
            assert [rule["lastError"] for rule in rules if rule.get("lastError")] == []
            critical = [rule for rule in rules if rule["labels"]["severity"] == "critical"]
            assert [rule["name"] for rule in critical if rule["state"] != "inactive"] == []


class TestLog:
    def test_a_request_is_followed_by_its_id(
        self, watched: WatchedServer, business: Business
    ) -> None:
        answer = business.api.post(
            "customers/",
            json={"company_name": "Never Told Bakery"},
            headers={"X-Request-Id": "followed-7"},
        )
        assert answer.status_code == 201
        assert within(
            PATIENCE_SECONDS,
            lambda: any(e["request_id"] == "followed-7" for e in watched.events("request")),
        )
        trips = [e for e in watched.events("round_trip") if e.get("request_id") == "followed-7"]
        [request] = [e for e in watched.events("request") if e["request_id"] == "followed-7"]
        texts = [text for trip in trips for text in trip["statements"]]
        assert len(texts) == request["statements"]
        assert any(text.startswith("INSERT INTO customer") for text in texts), texts
        assert 0 < request["database_ms"] < request["duration_ms"]
        assert (request["level"], request["slow"]) == ("warning", True)
        assert request["operation"] == "create_customer"
        assert "Never Told Bakery" not in watched.log


class TestTraces:
    def test_a_span_for_each_room_below_what_the_caller_names(
        self, watched: WatchedServer, business: Business, collector: Collector
    ) -> None:
        answer = business.api.post(
            "customers/",
            json={"company_name": "Never Told Bakery"},
            headers={"traceparent": f"00-{TRACE}-{PARENT}-01", "X-Request-Id": "traced-7"},
        )
        assert answer.status_code == 201
        assert within(
            PATIENCE_SECONDS,
            lambda: any(span.name == "create_customer" for span in collector.trace(TRACE)),
        )
        spans = collector.trace(TRACE)
        names = {span.span_id: span.name for span in spans}
        below = {
            (span.name, names.get(span.parent_span_id, span.parent_span_id.hex())) for span in spans
        }
        assert below >= {
            ("create_customer", PARENT),
            ("security", "create_customer"),
            ("validation", "create_customer"),
            ("handlers", "create_customer"),
            ("persistence", "handlers"),
            ("sql", "persistence"),
        }
        whole = next(span for span in spans if span.name == "create_customer")
        facts = attributes_of(whole)
        assert facts["accounting.request_id"] == "traced-7"
        assert facts["http.response.status_code"] == 201
        asked = "".join(str(attributes_of(span)) for span in spans if span.name == "sql")
        assert "INSERT INTO customer" in asked
        assert "Never Told Bakery" not in str(collector.spans)
        assert collector.resources[0]["service.name"] == "accounting"
        assert watched.process.poll() is None
        assert children_of(watched.process.pid)
