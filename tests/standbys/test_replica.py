"""Reads over HTTP from a standby: which ones, their age, and when the primary answers instead."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from access.principal import Caller, CallerKind
from libraries.embedded.postgres import EmbeddedPostgres
from persistence.engine.pool import make_pool
from persistence.engine.replica import LogPosition, Replica, StandbyLook, Unfit, complete_up_to
from persistence.engine.sessions import ReadSession
from persistence.engine.sql import Fetch, Query
from persistence.engine.tenants import PartnerTenant
from persistence.engine.transaction import reading_eventually
from persistence.partners import partners
from server.telemetry.metrics import SOURCES, AllWorkers
from server.telemetry.request_watch import Watch
from tests import clock
from tests.api_server import ApiServer, Databases
from tests.builders.sales import INVOICES, sent
from tests.contract.document import Operation, operations
from tests.partner import PATIENCE_SECONDS, Business, Partner, within
from tests.server.telemetry.exposition import counted_in, exposed, total
from tests.standbys.standby import FOLLOWED, order, standby_of, wait_until_followed

AS_OF = "x-data-as-of"
BALANCE = "reports/trial-balance/"
LAG_SECONDS = 30  # For a busy machine.
EVENTUAL = {"consistency": "eventual"}
STRONG = {"consistency": "strong"}


@pytest.fixture(scope="module")
def standby(primary: EmbeddedPostgres, url: str, both_homes: Path) -> Iterator[EmbeddedPostgres]:
    assert url
    hurried = {"max_standby_streaming_delay": "0"}
    with standby_of(primary, both_homes / "standby", **FOLLOWED, **hurried) as standby:
        wait_until_followed(primary)
        yield standby


def reading(standby: EmbeddedPostgres, lag_seconds: int = LAG_SECONDS) -> dict[str, Any]:
    """Return the settings of a server that reads from the standby."""
    return {"read_database_url": standby.url("books"), "read_lag_seconds": lag_seconds}


@pytest.fixture(scope="module")
def server(url: str, standby: EmbeddedPostgres) -> Iterator[ApiServer]:
    with ApiServer(url, **reading(standby)) as server:
        server.prepare_sandboxes()
        yield server


@pytest.fixture(scope="module")
def hasty(url: str, standby: EmbeddedPostgres, server: ApiServer) -> Iterator[ApiServer]:
    """A server over the same database that reads data at most one second old."""
    with ApiServer(url, **reading(standby, 1)) as hasty:
        yield hasty


@pytest.fixture
def partner(server: ApiServer) -> Partner:
    return server.partner("Reader")


@pytest.fixture
def shop(partner: Partner) -> Business:
    return partner.business()


@pytest.fixture
def stopped(standby: EmbeddedPostgres, shop: Business) -> Iterator[datetime]:
    """Stop the replay of the standby once it has all data of the business; yield that moment."""
    caught_up(shop)
    with pausing(standby):
        yield datetime.now(UTC)


@contextmanager
def pausing(standby: EmbeddedPostgres) -> Iterator[None]:
    order(standby, "SELECT pg_wal_replay_pause()")
    try:
        with psycopg.connect(standby.url("postgres"), autocommit=True) as owner:
            state = "SELECT pg_get_wal_replay_pause_state()"
            assert within(PATIENCE_SECONDS, lambda: owner.execute(state).fetchone() == ("paused",))
        yield
    finally:
        order(standby, "SELECT pg_wal_replay_resume()")


def caught_up(shop: Business) -> None:
    """Wait until the standby has every write that was answered so far."""
    now = datetime.now(UTC)

    def is_newer() -> bool:
        told = as_of(shop.api.get(BALANCE))
        return told is not None and told > now

    assert within(PATIENCE_SECONDS, is_newer, every=0.05)


def at(server: ApiServer, shop: Business) -> Business:
    """Return the same business on another server."""
    reader = Partner(server.url, shop.partner.partner_id, shop.partner.api_key)
    server.partners.append(reader)
    return Business(reader, shop.record)


def as_of(answer: httpx.Response) -> datetime | None:
    assert answer.status_code == 200, answer.text
    told = answer.headers.get(AS_OF)
    return None if told is None else datetime.fromisoformat(told)


def read(shop: Business, path: str, **query: Any) -> httpx.Response:
    return shop.api.get(path, params=query)


def taking(default: str) -> list[Operation]:
    """Return the operations with a `consistency` of this default."""
    return [
        operation
        for operation in operations()
        for parameter in operation.parameters
        if parameter["name"] == "consistency" and parameter["schema"]["default"] == default
    ]


class TestContract:
    def test_reports_and_exports_may_be_old_and_lists_that_ask_for_it(self) -> None:
        old = {each.name for each in taking("eventual")}
        assert {each.name for each in operations() if each.node["tags"] == ["Reports"]} < old
        assert {each.name for each in operations() if each.node["tags"] == ["Insights"]} < old
        assert {each.name for each in operations() if each.name.startswith("export_")} < old
        lists = {each.name for each in operations() if each.is_list}
        assert {each.name for each in taking("strong")} == lists - old

    def test_each_operation_that_takes_it_has_the_time(self) -> None:
        for operation in operations():
            headers = operation.node["responses"].get("200", {}).get("headers", {})
            takes = operation in taking("eventual") + taking("strong")
            assert ("X-Data-As-Of" in headers) == takes, operation.name


class TestReadings:
    def test_of_reports_are_from_the_standby_and_say_up_to_when(self, shop: Business) -> None:
        sent(shop, shop.customer(), 700)
        caught_up(shop)
        began = datetime.now(UTC)
        for asked in (
            shop.api.get(BALANCE),
            shop.api.get("general-ledger/journal-entries/export/"),
        ):
            told = as_of(asked)
            assert told is not None
            assert began - timedelta(seconds=2) < told <= datetime.now(UTC)
        strong = read(shop, BALANCE, **STRONG)
        assert as_of(strong) is None
        assert shop.api.get(BALANCE).json() == strong.json()

    def test_of_lists_are_only_where_they_are_asked_for(self, shop: Business) -> None:
        sent(shop, shop.customer(), 700)
        caught_up(shop)
        assert as_of(read(shop, INVOICES)) is as_of(read(shop, INVOICES, **STRONG)) is None
        answer = read(shop, INVOICES, page_size=1, **EVENTUAL)
        assert as_of(answer) is not None
        assert answer.json()["count"] == 1
        businesses = shop.partner.api.get("/v1/platform/businesses/", params=EVENTUAL)
        assert as_of(businesses) is not None

    def test_of_what_is_no_list_do_not_take_it(self, shop: Business) -> None:
        buyer = shop.customer()
        assert read(shop, f"customers/{buyer['id']}/", **EVENTUAL).status_code == 400
        assert read(shop, INVOICES, consistency="weak").status_code == 400

    def test_of_a_file_and_of_a_pdf_have_the_time_too(self, shop: Business) -> None:
        caught_up(shop)
        for kind in ("text/csv", "application/pdf"):
            answer = shop.api.get("reports/balance-sheet/", headers={"Accept": kind})
            assert answer.headers["content-type"].startswith(kind)
            assert as_of(answer) is not None

    def test_follow_the_page_as_they_were_asked(self, shop: Business) -> None:
        for _ in range(2):
            shop.customer()
        caught_up(shop)
        first = read(shop, "customers/", page_size=1, **EVENTUAL)
        following = shop.partner.api.get(
            first.json()["next"], headers={"Authorization": shop.api.headers["Authorization"]}
        )
        assert as_of(following) is not None

    def test_of_an_idle_primary_are_not_taken_for_old(
        self, shop: Business, hasty: ApiServer
    ) -> None:
        caught_up(shop)
        time.sleep(2)  # The standby's last replayed commit becomes older than the limit.
        there = at(hasty, shop)
        assert within(PATIENCE_SECONDS, lambda: as_of(read(there, BALANCE)) is not None)


@pytest.mark.usefixtures("stopped")
class TestLag:
    def test_is_shown_and_strong_readings_have_none(
        self, shop: Business, stopped: datetime
    ) -> None:
        buyer = shop.customer()
        sent(shop, buyer, 700)
        told = as_of(read(shop, INVOICES, **EVENTUAL))
        assert told is not None
        assert told < datetime.now(UTC)
        assert read(shop, INVOICES, **EVENTUAL).json()["count"] == 0
        assert read(shop, INVOICES, **STRONG).json()["count"] == 1
        assert shop.api.get(f"customers/{buyer['id']}/").status_code == 200
        assert read(shop, BALANCE).json() != read(shop, BALANCE, **STRONG).json()
        assert told < stopped + timedelta(seconds=1)

    def test_that_is_too_long_leads_to_the_primary_and_an_end_of_it_back(
        self, shop: Business, hasty: ApiServer, standby: EmbeddedPostgres
    ) -> None:
        there = at(hasty, shop)
        sent(shop, shop.customer(), 700)
        assert within(PATIENCE_SECONDS, lambda: as_of(read(there, BALANCE)) is None, every=0.1)
        shown = read(there, INVOICES, **EVENTUAL)
        assert (as_of(shown), shown.json()["count"]) == (None, 1)
        order(standby, "SELECT pg_wal_replay_resume()")
        caught_up(there)

    def test_lets_nobody_in_whose_tokens_were_revoked(
        self, server: ApiServer, shop: Business
    ) -> None:
        operate(server, partners.revoke_tokens, shop.partner.partner_id, clock.now())
        answer = read(shop, INVOICES, **EVENTUAL)
        assert (answer.status_code, answer.json()["error_code"]) == (401, "invalid_token")

    def test_lets_nobody_in_whose_partner_was_disabled(
        self, server: ApiServer, shop: Business
    ) -> None:
        operate(server, partners.disable_partner, shop.partner.partner_id, clock.now())
        assert read(shop, INVOICES, **EVENTUAL).status_code == 401
        operate(server, partners.enable_partner, shop.partner.partner_id, clock.now())

    def test_hides_no_new_business(self, shop: Business) -> None:
        other = shop.partner.business()
        answer = read(other, INVOICES, **EVENTUAL)
        assert as_of(answer) is None
        assert answer.json()["count"] == 0

    def test_is_no_reason_to_find_nothing(self, shop: Business) -> None:
        new = {"code": "4999", "name": "Tastings"}
        new |= {"account_type": "revenue", "account_subtype": "revenue"}
        shop.made("general-ledger/chart-of-accounts/", new)
        answer = read(shop, "reports/general-ledger/", account="4999")
        assert as_of(answer) is None
        assert read(shop, "reports/general-ledger/", account="4998").status_code == 404


class TestClock:
    def test_that_was_moved_counts_at_once(self, shop: Business, standby: EmbeddedPostgres) -> None:
        made = shop.partner.api.post("/v1/platform/sandboxes/", json={"external_id": "clock"})
        sandbox = Business(shop.partner, made.json())
        sent(
            sandbox, sandbox.customer(), 700, due_at=(clock.now() + timedelta(days=30)).isoformat()
        )
        caught_up(sandbox)
        with pausing(standby):
            moved = shop.partner.api.patch(
                f"/v1/platform/sandboxes/{sandbox.id}/", json={"clock_seconds_ahead": 45 * 86_400}
            )
            assert moved.status_code == 200, moved.text
            [invoice] = read(sandbox, INVOICES, is_overdue="true", **EVENTUAL).json()["results"]
            assert invoice["is_overdue"]


class TestUnfitReplica:
    def test_that_is_stopped_is_done_without_until_it_is_back(
        self, shop: Business, standby: EmbeddedPostgres
    ) -> None:
        caught_up(shop)
        standby.stop()
        try:
            for _ in range(10):
                assert as_of(read(shop, BALANCE)) is None
        finally:
            standby.start()
        caught_up(shop)

    @pytest.mark.parametrize("place", ["primary", "nowhere", "elsewhere"])
    def test_that_is_no_standby_of_the_primary_is_not_read(
        self, place: str, url: str, shop: Business, databases: Databases
    ) -> None:
        places = {
            "primary": url,
            "nowhere": url.replace("replicated", "missing"),
            "elsewhere": databases.clone("not_ours"),
        }
        with ApiServer(url, read_database_url=places[place]) as other:
            answer = read(at(other, shop), BALANCE)
            assert as_of(answer) is None
            assert answer.json() == read(shop, BALANCE, **STRONG).json()

    def test_of_many_machines_is_not_read(
        self, shop: Business, server: ApiServer, standby: EmbeddedPostgres
    ) -> None:
        caught_up(shop)
        spread = "citus.propagate_set_commands"
        server.watcher.execute(f"ALTER DATABASE books SET {spread} = 'local'".encode())
        try:
            now = datetime.now(UTC)
            assert within(PATIENCE_SECONDS, lambda: (as_of(read(shop, BALANCE)) or now) > now)
            place = standby.url("books")
            with ApiServer(server.database_url, read_database_url=place) as other:
                assert as_of(read(at(other, shop), BALANCE)) is None
        finally:
            server.watcher.execute(f"ALTER DATABASE books RESET {spread}".encode())

    def test_of_a_database_that_does_not_tell_where_its_log_ends_is_not_read(
        self, shop: Business, server: ApiServer
    ) -> None:
        ask = "EXECUTE ON FUNCTION pg_control_system()"
        server.watcher.execute(f"REVOKE {ask} FROM PUBLIC".encode())
        try:
            assert within(PATIENCE_SECONDS, lambda: as_of(read(shop, BALANCE)) is None, every=0.1)
        finally:
            server.watcher.execute(f"GRANT {ask} TO PUBLIC".encode())
        caught_up(shop)


class TestWatched:
    def test_its_lag_is_told_whether_or_not_anybody_reads(
        self, url: str, standby: EmbeddedPostgres, shop: Business
    ) -> None:
        look = StandbyLook(url, standby.url("books"))
        caught_up(shop)
        assert look.lag() < timedelta(seconds=LAG_SECONDS)
        with pausing(standby):
            shop.customer()
            assert within(PATIENCE_SECONDS, lambda: look.lag() > timedelta(seconds=1), every=0.1)
        assert within(PATIENCE_SECONDS, lambda: look.lag() < timedelta(seconds=1), every=0.1)

    def test_one_that_is_no_standby_has_none(self, url: str) -> None:
        with pytest.raises(Unfit):
            StandbyLook(url, url).lag()

    def test_readings_are_counted_by_who_answered(
        self, url: str, standby: EmbeddedPostgres, shop: Business, tmp_path: Path
    ) -> None:
        caught_up(shop)
        with (
            counted_in(tmp_path) as counted,
            ApiServer(url, watch=Watch(counted), **reading(standby)) as server,
        ):
            there = at(server, shop)
            assert as_of(read(there, BALANCE)) is not None
            assert as_of(read(there, BALANCE, **STRONG)) is None  # This read does not count.
            assert read(there, "reports/general-ledger/", account="4998").status_code == 404
        told = exposed(AllWorkers(tmp_path))
        name = "accounting_eventual_readings_total"
        assert [total(told, name, source=each) for each in SOURCES] == [1, 1]


class TestConflict:
    def test_with_what_the_standby_replays_leads_to_the_primary(
        self, url: str, standby: EmbeddedPostgres, partner: Partner
    ) -> None:
        caught_up(partner.business())
        asked = []

        async def slow(session: ReadSession, _tenant: PartnerTenant) -> bool:
            there = await Fetch(session, (IN_RECOVERY,), lambda rows: bool(rows[0][0]["there"]))
            asked.append(there)
            if there:
                await Fetch(session, (SLEEP,), lambda rows: rows)
            return there

        async def run() -> Any:
            async with (
                make_pool(url, size=1) as pool,
                make_pool(standby.url("books"), size=1, to_primary=False) as copies,
            ):
                replica = Replica(copies, most_behind=timedelta(seconds=PATIENCE_SECONDS))
                return await reading_eventually(pool, replica, lambda: tenant_of(partner), slow)

        with ThreadPoolExecutor(1) as thread, psycopg.connect(url) as owner:
            answering = thread.submit(lambda: asyncio.run(run()))
            with psycopg.connect(standby.url("postgres"), autocommit=True) as watcher:
                sleeps = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
                assert within(
                    PATIENCE_SECONDS, lambda: watcher.execute(sleeps).fetchone() is not None
                )
            # The standby cancels a statement that conflicts with the replay of a lock.
            owner.execute("LOCK TABLE api_key IN ACCESS EXCLUSIVE MODE")
            owner.commit()
            assert answering.result(PATIENCE_SECONDS) == (False, None)
        assert asked == [True, False]


class TestCompleteUpTo:
    def test_the_moment_of_the_mark_where_all_of_it_is_there(self) -> None:
        assert complete_up_to(state(has_all=True), MARK, None) == NOW

    def test_else_that_of_the_last_commit_or_what_was_known_before(self) -> None:
        assert complete_up_to(state(replayed_at=EARLIER), MARK, None) == EARLIER
        assert complete_up_to(state(replayed_at=EARLIER), MARK, NOW) == NOW
        assert complete_up_to(state(), MARK, EARLIER) == EARLIER

    def test_never_one_that_is_yet_to_come(self) -> None:
        later = state(replayed_at=NOW + timedelta(seconds=1))
        assert complete_up_to(later, MARK, None) == NOW

    @pytest.mark.parametrize(
        "found", [{}, {"is_standby": False, "has_all": True}, {"cluster": 8, "has_all": True}]
    )
    def test_none_where_nothing_is_known_of_it_or_it_is_another(
        self, found: dict[str, Any]
    ) -> None:
        with pytest.raises(Unfit):
            complete_up_to(state(**found), MARK, None)


IN_RECOVERY = Query("SELECT pg_is_in_recovery() AS there", {})
SLEEP = Query("SELECT pg_sleep(600) FROM api_key LIMIT 1", {})
NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
EARLIER = NOW - timedelta(seconds=7)
MARK = LogPosition(cluster=7, position="0/3000060", at=NOW)


def state(**found: Any) -> dict[str, Any]:
    """Return the state of a standby."""
    nothing = {"cluster": 7, "is_standby": True, "has_all": False, "replayed_at": None}
    return {**nothing, **found}


def tenant_of(partner: Partner) -> PartnerTenant:
    return PartnerTenant(Caller(CallerKind.PARTNER_KEY, partner.partner_id, key_id="none"))


def operate(server: ApiServer, work: Any, *arguments: Any) -> None:
    """Run a function of the operator's command line."""

    async def run() -> None:
        async with make_pool(server.database_url, size=1) as pool:
            await work(pool, *arguments)

    asyncio.run(run())
