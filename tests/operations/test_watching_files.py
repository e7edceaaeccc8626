"""The alerts and the dashboard use existing metrics, and each alert fires when it should."""

import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from libraries.outbound.tests.certificates import write_certificate
from persistence.database.condition import Condition, KeptUp, ProofRun, Webhooks
from persistence.engine.pool import Occupancy
from persistence.files.blobs import Folder
from server.telemetry.metrics import AllWorkers, PrometheusDeliveryCounts
from server.telemetry.metrics_endpoint import Surroundings, of_condition, of_standby
from tests.api_server import settings
from tests.operations.watching_files import DASHBOARD, NAME, OPS, RULES, alerts, queries
from tests.server.telemetry.exposition import counted_in, exposed

PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(
    PROMTOOL is None, reason="promtool is not installed: apt-get install prometheus"
)


class OfCondition:
    """A database whose condition has every metric."""

    def collect(self) -> Iterator[Any]:
        run = ProofRun(datetime.now(UTC), 1.0, 2, 0, 3, True)
        condition = Condition(
            *(0.0, 0, 0.0, 0, 1, 100, False, {"idle": 1}, {"a": 1}, {"a": 1}, {"b": (0.0, 0)}),
            run,
            KeptUp(datetime.now(UTC), 2, 0),
            Webhooks(0.0, 1, 2, 0, 0, {"first": 2}),
        )
        yield from of_condition(condition)
        yield from of_standby(timedelta(seconds=1), 10)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Return the name of every metric of a server."""
    folder = tmp_path_factory.mktemp("counts")
    with counted_in(folder) as counted:
        counted.request("get_customer", 200, 0.1)
        counted.beat(0, Occupancy(1, 0, 0, 0), 0.0)
        deliveries = PrometheusDeliveryCounts()
        deliveries.webhook("delivered", 0.1)
        deliveries.beat(0)
    certificate, key = write_certificate(folder)
    stands = settings(tls_cert=certificate, tls_key=key, documents=Folder(folder))
    return {
        *exposed(AllWorkers(folder)),
        *exposed(Surroundings(stands, "postgresql://127.0.0.1:1/none")),
        *exposed(OfCondition()),
    }


def asked_for(text: str) -> set[str]:
    return set(NAME.findall(text))


class TestNames:
    def test_every_number_that_is_asked_for_is_told(self, told: set[str]) -> None:
        assert asked_for(" ".join(rule["expr"] for rule in alerts())) <= told
        assert asked_for(" ".join(expression for _, expression in queries())) <= told

    def test_every_number_that_is_told_is_shown(self, told: set[str]) -> None:
        assert told - asked_for(DASHBOARD.read_text("utf-8")) == set()

    def test_every_alert_says_what_it_is_and_where_help_is(self) -> None:
        for rule in alerts():
            assert rule["labels"]["severity"] in ("critical", "warning")
            anchor = rule["alert"].lower()
            assert rule["annotations"]["runbook"] == f"docs/operations.md#{anchor}"
            assert rule["annotations"]["summary"].endswith(".")
        assert len({rule["alert"] for rule in alerts()}) == len(alerts())


WELL = {
    'up{job="accounting",instance="a"}': "1+0x200",
    'accounting_database_up{instance="a"}': "1+0x200",
    'accounting_file_store_writable{instance="a"}': "1+0x200",
    'accounting_workers{instance="a"}': "2+0x200",
    'accounting_workers_wanted{instance="a"}': "2+0x200",
    'accounting_requests_total{instance="a",operation="x",status="200"}': "0+6000x200",
    'accounting_requests_total{instance="a",operation="x",status="503"}': "0+6x200",
    'accounting_request_seconds_bucket{instance="a",operation="x",le="1.0"}': "0+5990x200",
    'accounting_request_seconds_bucket{instance="a",operation="x",le="5.0"}': "0+6000x200",
    'accounting_request_seconds_bucket{instance="a",operation="x",le="+Inf"}': "0+6000x200",
    'accounting_unavailable_total{instance="a",cause="crowd"}': "0+1x200",
    'accounting_unavailable_total{instance="a",cause="lock_timeout"}': "0+0x200",
    'accounting_pool_wait_seconds_total{instance="a"}': "0+6x200",
    'accounting_pool_waiting{instance="a"}': "0+0x200",
    'accounting_pool_connections_max{instance="a"}': "16+0x200",
    'accounting_database_connections{instance="a",state="idle"}': "50+0x200",
    'accounting_database_connections_max{instance="a"}': "100+0x200",
    'accounting_database_oldest_transaction_seconds{instance="a"}': "2+0x200",
    'accounting_database_longest_lock_wait_seconds{instance="a"}': "0+0x200",
    'accounting_runs_again_total{instance="a",cause="deadlock"}': "0+1x200",
    'accounting_loop_late_seconds{instance="a"}': "0.01+0x200",
    'accounting_check_books_holds{instance="a"}': "1+0x200",
    'accounting_check_books_ended_timestamp_seconds{instance="a"}': "0+60x200",
    'accounting_disk_free_bytes{instance="a",place="files"}': "50+0x200",
    'accounting_disk_size_bytes{instance="a",place="files"}': "100+0x200",
    'accounting_replication_lag_seconds{instance="a",standby="b"}': "1+0x200",
    'accounting_replication_lag_bytes{instance="a",standby="b"}': "1000+0x200",
    'accounting_read_standby_up{instance="a"}': "1+0x200",
    'accounting_read_standby_lag_seconds{instance="a"}': "1+0x200",
    'accounting_read_standby_lag_max_seconds{instance="a"}': "10+0x200",
    'accounting_eventual_readings_total{instance="a",source="standby"}': "0+60x200",
    'accounting_eventual_readings_total{instance="a",source="primary"}': "0+6x200",
    'accounting_upkeep_every_seconds{instance="a"}': "1800+0x200",
    'accounting_upkeep_ended_timestamp_seconds{instance="a"}': "0+60x200",
    'accounting_upkeep_failures{instance="a"}': "0+0x200",
    'accounting_refusals_total{instance="a",code="invalid_credentials"}': "0+1x200",
    'accounting_certificate_ends_timestamp_seconds{instance="a"}': "5000000+0x200",
    'accounting_webhook_deliverers{instance="a"}': "1+0x200",
    'accounting_webhook_lag_seconds{instance="a"}': "0.2+0x200",
    'accounting_webhook_attempts_total{instance="a",outcome="delivered"}': "0+600x200",
    'accounting_webhook_attempts_total{instance="a",outcome="failed"}': "0+60x200",
    'accounting_webhook_endpoints_off{instance="a"}': "3+0x200",
}
# Faults, by a part of the series' name; a series with None is missing.
WRONG: list[tuple[str, dict[str, str | None]]] = [
    ("AccountingDown", {"up{job": "0+0x200"}),
    ("AccountingNotReady", {"accounting_database_up": "0+0x200"}),
    ("AccountingNotReady", {"accounting_file_store_writable": "0+0x200"}),
    ("AccountingWorkersMissing", {"accounting_workers{": "1+0x200"}),
    ("AccountingWorkersMissing", {"accounting_workers{": None}),
    ("AccountingErrors", {'status="503"': "0+100x200"}),
    ("AccountingUnavailable", {'cause="crowd"': "0+30x200"}),
    ("AccountingSlow", {'le="1.0"': "0+5000x200"}),
    ("AccountingPoolExhausted", {"accounting_pool_wait_seconds_total": "0+120x200"}),
    ("AccountingPoolExhausted", {"accounting_pool_waiting": "17+0x200"}),
    ("AccountingConnectionsShort", {"accounting_database_connections{": "95+0x200"}),
    ("AccountingOldTransaction", {"accounting_database_oldest": "400+0x200"}),
    ("AccountingLockWaits", {"accounting_database_longest": "6+0x200"}),
    ("AccountingLockWaits", {'cause="lock_timeout"': "0+2x200"}),
    ("AccountingRunsAgain", {"accounting_runs_again_total": "0+120x200"}),
    ("AccountingLoopLate", {"accounting_loop_late_seconds": "0.5+0x200"}),
    ("AccountingBooksDoNotHold", {"accounting_check_books_holds": "0+0x200"}),
    ("AccountingBooksNotChecked", {"accounting_check_books_ended": "-100000+0x200"}),
    ("AccountingBooksNotChecked", {"accounting_check_books_ended": None}),
    ("AccountingDiskLow", {"accounting_disk_free_bytes": "9+0x200"}),
    ("AccountingReplicationLag", {"accounting_replication_lag_seconds": "40+0x200"}),
    ("AccountingReplicationLag", {"accounting_replication_lag_bytes": "500000000+0x200"}),
    ("AccountingStandbyNotRead", {"accounting_read_standby_up": "0+0x200"}),
    ("AccountingStandbyNotRead", {"accounting_read_standby_lag_seconds": "11+0x200"}),
    ("AccountingStandbyNotRead", {'source="primary"': "0+120x200"}),
    ("AccountingUpkeepLate", {"accounting_upkeep_ended": "-1000+0x200"}),
    ("AccountingUpkeepFails", {"accounting_upkeep_failures": "2+0x200"}),
    ("AccountingFailedLogins", {"accounting_refusals_total": "0+30x200"}),
    ("AccountingCertificateEnds", {"accounting_certificate": "1000000+0x200"}),
    ("AccountingWebhooksStopped", {"accounting_webhook_deliverers": "0+0x200"}),
    ("AccountingWebhooksStopped", {"accounting_webhook_deliverers": None}),
    ("AccountingWebhooksLate", {"accounting_webhook_lag": "90+0x200"}),
    ("AccountingWebhooksFail", {'outcome="failed"': "0+900x200"}),
    ("AccountingWebhookEndpointOff", {"accounting_webhook_endpoints_off": "3+0x60 4+0x140"}),
]


WELL_ALL_THE_SAME: list[dict[str, str | None]] = [
    # Upkeep is turned off.
    {"accounting_upkeep_ended": "-100000+0x200", "accounting_upkeep_every": "0+0x200"},
]


def told_when(wrong: dict[str, str | None]) -> list[dict[str, str]]:
    """Return the metrics of a server with a fault."""
    series = dict[str, str | None](WELL)
    for part, values in wrong.items():
        [name] = [name for name in series if part in name]
        series[name] = values
    return [{"series": name, "values": told} for name, told in series.items() if told is not None]


def case(wrong: dict[str, str | None], *firing: str) -> dict[str, Any]:
    expected = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in firing]
    return {
        "interval": "1m",
        "input_series": told_when(wrong),
        "promql_expr_test": [
            {
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                "eval_time": "90m",
                "exp_samples": expected,
            }
        ],
    }


@needs_promtool
class TestAlerts:
    def test_promtool_finds_nothing_wrong(self) -> None:
        for words in (["check", "rules", str(RULES)], ["check", "config", f"{OPS}/prometheus.yml"]):
            assert "FAILED" not in promtool(*words)

    def test_each_fires_when_it_should_and_none_else(self, tmp_path: Path) -> None:
        assert {name for name, _ in WRONG} == {rule["alert"] for rule in alerts()}
        tests = [case(well) for well in ({}, *WELL_ALL_THE_SAME)]
        tests += [case(wrong, name) for name, wrong in WRONG]
        file = tmp_path / "tests.yml"
        file.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "tests": tests}))
        assert "SUCCESS" in promtool("test", "rules", str(file))


def promtool(*words: str) -> str:
    """Return the output of promtool, which must find no error."""
    done = subprocess.run([str(PROMTOOL), *words], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
