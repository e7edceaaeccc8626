"""The counts of a worker, and those that remain when it ends."""

import os
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from persistence.engine.observer import observer
from persistence.engine.pool import Occupancy
from persistence.engine.sql import Query
from server.telemetry.metrics import AllWorkers
from server.telemetry.request_watch import Watch
from tests.api_server import ApiServer
from tests.server.telemetry.exposition import counted_in, exposed, total

OCCUPANCY = Occupancy(8, 3, 2, 1)
MOST_MICROSECONDS = 10.0

ONE_WORKER = """
import sys
from persistence.engine.pool import Occupancy
from server.telemetry.metrics import PrometheusCounts

counted = PrometheusCounts()
counted.beat(1, Occupancy(8, 3, 2, 1), 0.0)
for _ in range(3):
    counted.request("get_customer", 200, 0.004)
print("counted", flush=True)
sys.stdin.read()
"""


def worker(folder: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", ONE_WORKER],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(folder)},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "counted\n"
    return process


class TestWorkers:
    def test_a_file_that_is_made_in_this_moment_says_nothing_yet(self, tmp_path: Path) -> None:
        first = worker(tmp_path)
        try:
            (tmp_path / "histogram_1.db").touch()
            found = exposed(AllWorkers(tmp_path))
            assert total(found, "accounting_requests_total", operation="get_customer") == 3
        finally:
            first.kill()
            first.communicate()

    def test_counts_of_workers_are_added_and_a_dead_worker_loses_none(self, tmp_path: Path) -> None:
        first, second = worker(tmp_path), worker(tmp_path)
        try:
            both = exposed(AllWorkers(tmp_path))
            assert total(both, "accounting_requests_total", operation="get_customer") == 6
            assert total(both, "accounting_workers") == 2
            assert total(both, "accounting_pool_connections_lent") == 6

            first.kill()
            first.wait()
            one = exposed(AllWorkers(tmp_path))
            assert total(one, "accounting_requests_total", operation="get_customer") == 6
            assert total(one, "accounting_request_seconds_count") == 6
            assert total(one, "accounting_workers") == 1
            assert total(one, "accounting_pool_connections_lent") == 3

            third = worker(tmp_path)
            two = exposed(AllWorkers(tmp_path))
            third.kill()
            assert total(two, "accounting_requests_total", status="200") == 9
            assert total(two, "accounting_workers") == 2
            assert len(list(tmp_path.glob("gauge_livesum_*.db"))) == 2
        finally:
            for each in (first, second):
                each.kill()
                each.communicate()
        third.communicate()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("counts")


@pytest.fixture(scope="module")
def counted(folder: Path, api_server: ApiServer) -> Iterator[ApiServer]:
    with (
        counted_in(folder) as counts,
        ApiServer(api_server.database_url, watch=Watch(counts)) as server,
    ):
        yield server


@pytest.fixture
def more(folder: Path, counted: ApiServer) -> Callable[..., float]:
    """Return a function for the growth of a count since the test began."""
    before = exposed(AllWorkers(folder))

    def grown(name: str, **labels: str) -> float:
        name = f"accounting_{name}"
        return total(exposed(AllWorkers(folder)), name, **labels) - total(before, name, **labels)

    return grown


class TestCounts:
    def test_requests_are_counted_by_operation_and_status(
        self, counted: ApiServer, more: Callable[..., float]
    ) -> None:
        business = counted.partner("Counted").business()
        made = business.customer()
        assert business.api.get(f"customers/{made['id']}/").status_code == 200
        assert business.api.get(f"customers/{uuid4()}/").status_code == 404
        assert more("requests_total", operation="create_customer", status="201") == 1
        assert more("requests_total", operation="get_customer", status="200") == 1
        assert more("requests_total", operation="get_customer", status="404") == 1
        assert more("request_seconds_count", operation="get_customer") == 2
        assert more("refusals_total", code="customer_not_found") == 1

    def test_refusals_that_are_kept_under_a_key_and_replays_are_counted(
        self, counted: ApiServer, more: Callable[..., float]
    ) -> None:
        business = counted.partner("Replayed").business()
        unknown = f"invoices/{uuid4()}/send/"
        for _ in range(3):
            answer = business.api.post(unknown, headers={"Idempotency-Key": "the same"})
            assert answer.status_code == 404
        assert more("refusals_total", code=answer.json()["error_code"]) == 1
        assert more("replays_total") == 2

    def test_failed_logins_and_requests_of_no_operation_are_counted(
        self, counted: ApiServer, more: Callable[..., float]
    ) -> None:
        partner = counted.partner("Mistyped")
        wrong = partner.client(partner.url, auth=(str(partner.partner_id), "wrong"))
        for _ in range(2):
            grant = {"grant_type": "client_credentials"}
            assert wrong.post("/v1/platform/oauth2/token/", data=grant).status_code == 401
        assert wrong.get("/health/live").status_code == 200
        assert more("refusals_total", code="invalid_credentials") == 2
        assert more("requests_total", operation="none", status="200") == 1

    def test_a_503_is_counted_by_its_cause(self, tmp_path: Path, api_server: ApiServer) -> None:
        with (
            counted_in(tmp_path) as counts,
            ApiServer(api_server.database_url, watch=Watch(counts), answer_seconds=0.5) as server,
            api_server.watcher.transaction(),
        ):
            business = server.partner("Late").business()
            business.api.get("customers/")
            before = exposed(AllWorkers(tmp_path))
            api_server.watcher.execute("LOCK TABLE customer IN ACCESS EXCLUSIVE MODE")
            assert business.api.get("customers/").status_code == 503
        after = exposed(AllWorkers(tmp_path))
        late = "accounting_unavailable_total"
        assert total(after, late, cause="deadline") - total(before, late, cause="deadline") == 1

    def test_no_label_names_business_partner_or_key(self, counted: ApiServer, folder: Path) -> None:
        business = counted.partner("Unnamed").business()
        business.customer()
        text = str(exposed(AllWorkers(folder)))
        assert business.id not in text
        assert str(business.partner.partner_id) not in text
        assert business.partner.api_key not in text


class TestCost:
    def test_the_cost_of_counting_is_at_most_ten_microseconds_a_request(
        self, tmp_path: Path
    ) -> None:
        queries = [Query("SELECT 1", {})] * 3

        def one() -> None:
            watched = watch.begin("a request", [(b"host", b"a")])
            for package in ("security", "validation", "handlers", "persistence"):
                with observer.get().in_package(package):
                    pass
            for _ in range(2):
                observer.get().asked(queries, 0.001)
            watched.end("get_customer", 200, 0.004)

        with counted_in(tmp_path) as counts:
            watch = Watch(counts)
            assert microseconds(one) < MOST_MICROSECONDS


def microseconds(work: Callable[[], None]) -> float:
    """Return the least processor time of a call: other load only adds to it."""
    number = 100
    rounds = timeit.repeat(work, timer=time.thread_time, number=number, repeat=500)
    return min(rounds) / number * 1e6
