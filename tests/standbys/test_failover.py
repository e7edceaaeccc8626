"""A failover over HTTP: the primary is killed under load, and its standby is promoted."""

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import httpx
import psycopg
import pytest

from libraries.embedded import places
from libraries.embedded.postgres import EmbeddedPostgres
from persistence.database.checks import refuse_unusable
from persistence.engine.database_errors import DatabaseAway
from tests.api_server import ApiServer
from tests.builders.sales import INVOICES, invoice_body
from tests.builders.trade import SENT
from tests.partner import PATIENCE_SECONDS, Business, client, within
from tests.standbys.failover import fail_over
from tests.standbys.standby import FOLLOWED, either, order, standby_of, wait_for_each_write

RELOAD = "SELECT pg_reload_conf()"
ANSWER_SECONDS = 3


@pytest.fixture(scope="module")
def standby(primary: EmbeddedPostgres, url: str, both_homes: Path) -> Iterator[EmbeddedPostgres]:
    """A synchronous standby, copied before the primary waits for it.

    A later copy would itself wait for a standby after its promotion.
    """
    assert url
    with standby_of(primary, both_homes / "standby", **FOLLOWED) as standby:
        wait_for_each_write(primary)
        yield standby


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a connection about as long as a production server does."""
    monkeypatch.setattr("persistence.engine.pool.CONNECT_SECONDS", 1.0)


@pytest.fixture
def server(url: str, standby: EmbeddedPostgres, hurry: None) -> Iterator[ApiServer]:
    primary_of_both = either(url, standby.url("books"), target_session_attrs="read-write")
    with ApiServer(primary_of_both, answer_seconds=ANSWER_SECONDS) as server:
        yield server


@pytest.fixture
def shop(server: ApiServer) -> Business:
    return server.partner("Steadfast").business()


@pytest.fixture
def door(both_homes: Path, primary: EmbeddedPostgres) -> Path:
    """The folder of a socket that leads to either server, as an address may."""
    door = both_homes / f"door-{uuid4().hex[:8]}"
    door.mkdir()
    lead(door, primary)
    return door


def lead(door: Path, postgres: EmbeddedPostgres) -> None:
    unfinished = door / "unfinished"
    unfinished.symlink_to(places.socket_path(postgres.home))
    unfinished.rename(door / places.SOCKET_NAME)


def is_turned_away(answer: httpx.Response) -> bool:
    """Return whether an answer is a 503 with Retry-After."""
    return (answer.status_code, answer.headers.get("retry-after")) == (503, "1")


class TestStart:
    def test_tells_of_a_standby_in_a_sentence_and_waits_for_a_primary(
        self, url: str, standby: EmbeddedPostgres
    ) -> None:
        with pytest.raises(DatabaseAway, match="can only be read: it is a standby"):
            refuse_unusable(standby.url("books"), durable=False)
        both = either(standby.url("books"), url, target_session_attrs="read-write")
        refuse_unusable(both, durable=False)


class TestReadOnlyPrimary:
    def test_refuses_writings_with_503_is_not_ready_and_all_is_well_again_afterwards(
        self, server: ApiServer, shop: Business, primary: EmbeddedPostgres
    ) -> None:
        buyer = shop.customer()
        with only_read(primary):
            assert within(PATIENCE_SECONDS, lambda: ready(server) == 503)
            assert is_turned_away(shop.api.post(INVOICES, json=invoice_body(buyer)))
            assert is_turned_away(shop.api.get(INVOICES))
        assert within(PATIENCE_SECONDS, lambda: ready(server) == 200)
        shop.made(INVOICES, invoice_body(buyer))


class TestStandbyBehindTheAddress:
    def test_is_neither_read_nor_written_until_the_address_leads_to_a_primary(
        self, door: Path, primary: EmbeddedPostgres, standby: EmbeddedPostgres, hurry: None
    ) -> None:
        with ApiServer(f"postgresql://accounting@/books?host={door}") as server:
            shop = server.partner("Led astray").business()
            buyer = shop.customer()
            lead(door, standby)
            ended = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            order(primary, f"{ended} WHERE application_name = 'accounting'")
            assert is_turned_away(shop.api.get(INVOICES))
            assert is_turned_away(shop.api.post(INVOICES, json=invoice_body(buyer)))
            assert is_turned_away(shop.partner.api.get("/v1/platform/businesses/"))
            assert ready(server) == 503
            lead(door, primary)
            assert within(PATIENCE_SECONDS, lambda: ready(server) == 200)
            shop.made(INVOICES, invoice_body(buyer))


class TestReadOnlyByNow:
    def test_earlier_connections_are_closed_with_the_first_that_is_read_only(
        self, server: ApiServer, shop: Business, primary: EmbeddedPostgres
    ) -> None:
        buyer = shop.customer()
        with ThreadPoolExecutor(4) as threads:  # Over several connections.
            [*threads.map(lambda _: shop.api.get(INVOICES).status_code, range(40))]
        before = pids(primary)

        def refused() -> bool:
            return is_turned_away(shop.api.post(INVOICES, json=invoice_body(buyer)))

        with only_read(primary):
            assert within(PATIENCE_SECONDS, refused)
        assert within(PATIENCE_SECONDS, lambda: shop.api.get(INVOICES).status_code == 200)
        assert not before & pids(primary)


@contextmanager
def only_read(postgres: EmbeddedPostgres) -> Iterator[None]:
    """Refuse writes in every session during a block, as a database with a full disk may."""
    order(postgres, "ALTER SYSTEM SET default_transaction_read_only = on", RELOAD)
    try:
        yield
    finally:
        ending = "ALTER SYSTEM RESET default_transaction_read_only"
        order(postgres, "SET default_transaction_read_only = off", ending, RELOAD)


def ready(server: ApiServer) -> int:
    with client(server.url) as anybody:
        return anybody.get("/health/ready").status_code


def pids(postgres: EmbeddedPostgres) -> set[int]:
    """Return the process IDs of the server's connections."""
    asked = "SELECT pid FROM pg_stat_activity WHERE application_name = 'accounting'"
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as owner:
        return {pid for (pid,) in owner.execute(asked)}


class TestStandbyThatIsGone:
    def test_lets_a_write_wait_and_its_key_tells_what_became_of_it(
        self, shop: Business, standby: EmbeddedPostgres
    ) -> None:
        body, key = invoice_body(shop.customer(), sent_at=SENT), {"Idempotency-Key": str(uuid4())}
        standby.stop()
        try:
            began = time.monotonic()
            waiting = shop.api.post(INVOICES, json=body, headers=key)
            assert (waiting.status_code, waiting.headers["retry-after"]) == (503, "1")
            assert time.monotonic() - began > ANSWER_SECONDS - 0.5
            assert shop.api.get(INVOICES).status_code == 200
            # The database holds its locks, as for a write that is still pending.
            again = shop.api.post(INVOICES, json=body, headers=key)
            assert again.json()["error_code"] in ("idempotency_in_progress", "service_unavailable")
        finally:
            standby.start()

        def answered() -> bool:
            nonlocal again
            again = shop.api.post(INVOICES, json=body, headers=key)
            return again.status_code == 201

        assert within(PATIENCE_SECONDS, answered, every=0.1), again.text
        assert again.headers["idempotent-replayed"] == "true"
        assert shop.api.get(INVOICES).json()["count"] == 1


class TestFailover:
    def test_loses_nothing_that_was_answered_and_doubles_nothing(
        self,
        server: ApiServer,
        shop: Business,
        primary: EmbeddedPostgres,
        standby: EmbeddedPostgres,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        told = fail_over(shop, primary, standby, server.folder)
        assert server.prover.faults_of(shop.id) == []
        with capsys.disabled():
            sys.stdout.write(f"\nfailover: {told}\n")
