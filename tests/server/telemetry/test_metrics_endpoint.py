"""Metrics of the database, the disks and the certificate."""

import asyncio
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from libraries.outbound.tests.certificates import write_certificate
from persistence.files.blobs import Folder
from server.telemetry import metrics_endpoint
from server.telemetry.metrics_endpoint import Surroundings
from tests.api_server import ApiServer, settings
from tests.jobs.webhooks import endpoint
from tests.server.telemetry.exposition import Samples, exposed, total


def seen(url: str, /, **changes: object) -> Samples:
    return exposed(Surroundings(settings(**changes), url))


@pytest.fixture
def another(api_server: ApiServer) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(api_server.database_url) as connection:
        yield connection
        connection.rollback()


class TestDatabase:
    def test_the_age_of_its_oldest_transaction(
        self, api_server: ApiServer, another: psycopg.Connection[tuple[object, ...]]
    ) -> None:
        another.execute("SELECT 1")
        time.sleep(0.3)
        name = "accounting_database_oldest_transaction_seconds"
        assert total(seen(api_server.database_url), name) >= 0.3

    def test_locks_that_are_waited_for(
        self, api_server: ApiServer, another: psycopg.Connection[tuple[object, ...]]
    ) -> None:
        another.execute("LOCK TABLE payout IN ACCESS EXCLUSIVE MODE")

        async def wait_and_see() -> Samples:
            waiting = await psycopg.AsyncConnection.connect(api_server.database_url)
            reading = asyncio.create_task(waiting.execute("SELECT 1 FROM payout"))
            await asyncio.sleep(0.2)
            found = await asyncio.to_thread(seen, api_server.database_url)
            another.rollback()
            await reading
            await waiting.close()
            return found

        found = asyncio.run(wait_and_see())
        assert total(found, "accounting_database_lock_waiting") == 1
        assert total(found, "accounting_database_longest_lock_wait_seconds") > 0.1
        # The sizes need the lock as well, and do not wait long for it.
        assert "accounting_table_size_bytes" not in found
        assert total(found, "accounting_database_up") == 1

    def test_metrics_have_sizes_of_tables_and_connections(self, api_server: ApiServer) -> None:
        found = seen(api_server.database_url)
        assert total(found, "accounting_table_size_bytes", table="journal_line") > 0
        assert total(found, "accounting_database_connections", state="idle") >= 1
        assert total(found, "accounting_database_size_bytes") > 1_000_000

    def test_metrics_report_a_database_that_is_away(self, tmp_path: Path) -> None:
        found = seen("postgresql://127.0.0.1:1/books", documents=Folder(tmp_path))
        assert total(found, "accounting_database_up") == 0
        assert "accounting_database_size_bytes" not in found
        assert total(found, "accounting_disk_free_bytes", place="files") > 0

    def test_metrics_report_a_database_that_does_not_answer(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(metrics_endpoint, "LOOK_SECONDS", 0.2)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            began = time.monotonic()
            url = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/books?connect_timeout=2"
            found = seen(url)
            assert time.monotonic() - began < 2.0
        assert total(found, "accounting_database_up") == 0

    def test_the_database_is_queried_at_intervals_only(
        self, api_server: ApiServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        surroundings = Surroundings(settings(), api_server.database_url)
        first = exposed(surroundings)
        monkeypatch.setattr(metrics_endpoint, "look", lambda _url: pytest.fail("it is asked again"))
        assert total(exposed(surroundings), "accounting_database_size_bytes") == total(
            first, "accounting_database_size_bytes"
        )


class TestUpkeep:
    def test_metrics_have_the_end_and_the_failures_of_the_last_round(
        self, own_server: ApiServer
    ) -> None:
        own_server.watcher.execute(
            "UPDATE upkeep SET begun_at = to_timestamp(1000), ended_at = to_timestamp(2000),"
            " businesses = 7, failures = 2"
        )
        found = seen(own_server.database_url, upkeep_seconds=3600)
        assert total(found, "accounting_upkeep_ended_timestamp_seconds") == 2000
        assert total(found, "accounting_upkeep_businesses") == 7
        assert total(found, "accounting_upkeep_failures") == 2
        assert total(found, "accounting_upkeep_every_seconds") == 3600

    def test_metrics_have_the_beginning_of_a_running_round(self, own_server: ApiServer) -> None:
        own_server.watcher.execute(
            "UPDATE upkeep SET begun_at = to_timestamp(1000), ended_at = NULL"
        )
        found = seen(own_server.database_url)
        assert total(found, "accounting_upkeep_ended_timestamp_seconds") == 1000


class TestWebhooks:
    def test_metrics_have_the_lag_of_endpoints_that_answer_and_what_is_off(
        self, own_server: ApiServer
    ) -> None:
        partner = own_server.partner("Hooked")
        endpoints = [endpoint(partner, "https://hooks.example.com/") for _ in range(3)]
        answers, fails, off = (each["id"] for each in endpoints)
        for each, age in ((answers, 90), (fails, 900), (off, 900)):
            own_server.watcher.execute(
                "INSERT INTO webhook_delivery (id, endpoint_id, partner_id, business_id, sequence,"
                " event_id, event_type, body, created_at, status, attempts, next_attempt_at)"
                " SELECT id, id, partner_id, id, 1, id, 'x', '', now(), 'pending', 0,"
                " now() - make_interval(secs => %s) FROM webhook_endpoint WHERE id = %s",
                (age, each),
            )
        own_server.watcher.execute(
            "UPDATE webhook_health SET failing_since = now() WHERE endpoint_id = %s", (fails,)
        )
        own_server.watcher.execute(
            "UPDATE webhook_endpoint SET status = 'off', off_reason = 'gone', off_at = now()"
            " WHERE id = %s",
            (off,),
        )
        found = seen(own_server.database_url)
        assert 90 <= total(found, "accounting_webhook_lag_seconds") < 200
        counts = ("pending", "endpoints", "endpoints_failing", "endpoints_off")
        assert [total(found, f"accounting_webhook_{name}") for name in counts] == [3, 3, 1, 1]
        assert total(found, "accounting_webhook_secrets", key="test") == 3
        own_server.watcher.execute(  # Two processes that are gone held them.
            "UPDATE webhook_delivery SET held_by = gen_random_uuid()"
        )
        own_server.watcher.execute("UPDATE webhook_secret SET expires_at = now()")
        found = seen(own_server.database_url)
        assert 90 <= total(found, "accounting_webhook_lag_seconds") < 200
        assert "accounting_webhook_secrets" not in found

    def test_metrics_of_the_database_do_not_need_those_of_webhooks(
        self, own_server: ApiServer
    ) -> None:
        with own_server.watcher.transaction():
            own_server.watcher.execute("LOCK TABLE webhook_delivery")
            found = seen(own_server.database_url)
        assert total(found, "accounting_database_up") == 1
        assert "accounting_webhook_pending" not in found
        assert total(seen(own_server.database_url), "accounting_webhook_pending") >= 0


class TestStandby:
    @pytest.mark.parametrize("place", ["primary", "nowhere"])
    def test_a_standby_that_cannot_be_read_is_reported_without_lag(
        self, api_server: ApiServer, place: str
    ) -> None:
        url = api_server.database_url
        read_url = {"primary": url, "nowhere": "postgresql://127.0.0.1:1/books"}[place]
        found = seen(url, read_database_url=read_url, read_lag_seconds=7)
        assert found["accounting_read_standby_up"] == {(): 0.0}
        assert "accounting_read_standby_lag_seconds" not in found
        assert total(found, "accounting_read_standby_lag_max_seconds") == 7
        assert total(found, "accounting_database_up") == 1

    def test_a_standby_that_is_not_configured_is_not_reported(self, api_server: ApiServer) -> None:
        assert "accounting_read_standby_up" not in seen(api_server.database_url)

    def test_a_standby_that_does_not_answer_delays_no_scrape(
        self, api_server: ApiServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(metrics_endpoint, "LOOK_SECONDS", 0.5)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            began = time.monotonic()
            url = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/books?connect_timeout=2"
            found = seen(url, read_database_url=url)
            assert time.monotonic() - began < 0.9
        assert total(found, "accounting_read_standby_up") == 0


class TestMachine:
    def test_disks_and_whether_files_can_be_kept(
        self, api_server: ApiServer, tmp_path: Path
    ) -> None:
        url = api_server.database_url
        found = seen(url, documents=Folder(tmp_path), data_dir=tmp_path)
        assert total(found, "accounting_file_store_writable") == 1
        assert {dict(labels)["place"] for labels in found["accounting_disk_size_bytes"]} == {
            "files",
            "database",
        }
        found = seen(url, documents=Folder(tmp_path / "gone"), database_url=url)
        assert total(found, "accounting_file_store_writable") == 0
        assert "accounting_disk_size_bytes" not in found

    def test_metrics_have_the_end_of_the_certificate(
        self, api_server: ApiServer, tmp_path: Path
    ) -> None:
        certificate, key = write_certificate(tmp_path)
        found = seen(api_server.database_url, tls_cert=certificate, tls_key=key)
        assert total(found, "accounting_certificate_ends_timestamp_seconds") > time.time()
        assert "accounting_certificate_ends_timestamp_seconds" not in seen(api_server.database_url)

    def test_metrics_have_the_workers_and_the_build(self, api_server: ApiServer) -> None:
        found = seen(api_server.database_url, workers=3)
        assert total(found, "accounting_workers_wanted") == 3
        assert total(found, "accounting_build_info") == 1
