"""Writings when the database refuses, fails or does not answer."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from access.principal import Caller, CallerKind
from accounting.errors import ApiError, Conflict, RuleViolation, Unavailable
from persistence import tables
from persistence.engine.idempotency import Claim, Outcome, of_business
from persistence.engine.ids import new_id
from persistence.engine.pipeline import execute_pipeline
from persistence.engine.pool import Pool, make_pool
from persistence.engine.sessions import WriteSession
from persistence.engine.sql import Query
from persistence.engine.tenants import BusinessTenant
from persistence.engine.transaction import MOST_RUNS, Work, writing
from tests.api_server import ApiServer
from tests.partner import Business
from tests.persistence.engine.test_unit_of_work import customer_row, entry_row

Handle = Callable[[WriteSession], Awaitable[None]]
LOCK = "SELECT id FROM customer WHERE id = %(id)s FOR UPDATE"
NOW = datetime.now(UTC)


def raising(sqlstate: str) -> Query:
    return Query(f"DO $$BEGIN RAISE SQLSTATE '{sqlstate}'; END$$", {})


def outcome(text: str, status: int = 201) -> Outcome:
    return Outcome(status, {"content-type": "application/json"}, text.encode())


class Writer:
    """Writes into one business, with a count of the runs of the handler."""

    def __init__(self, api_server: ApiServer, shop: Business) -> None:
        self.api_server = api_server
        self.business_id = UUID(shop.id)
        self.partner_id = shop.partner.partner_id
        self.runs = 0

    def work(self, handle: Handle, key: str | None = None, *, preview: bool = False) -> Work:
        async def counted(session: WriteSession) -> Callable[[], Outcome]:
            await session.fetch()  # A busy key and a replay end here.
            self.runs += 1
            await handle(session)
            return lambda: outcome(f"run {self.runs}")

        owner = of_business(self.business_id)
        claim = Claim(owner, key, "trade", b"same", new_id(), NOW) if key else None
        caller = Caller(CallerKind.PARTNER_KEY, self.partner_id)
        return Work(
            tenant=lambda: BusinessTenant(caller, self.business_id),
            now=NOW,
            business_id=self.business_id,
            claim=claim,
            preview=preview,
            handle=counted,
            render_refusal=lambda refusal: outcome(refusal.code, 409),
        )

    def write(self, handle: Handle, **options: Any) -> tuple[str, bool]:
        """Perform a writing; return its body and whether it was a replay."""
        return self.together(lambda pool: writing(pool, self.work(handle, **options)))[0]

    def together(self, *writings: Callable[[Pool], Awaitable[Any]]) -> list[tuple[str, bool]]:
        async def go() -> list[tuple[str, bool]]:
            async with make_pool(self.api_server.database_url, size=8) as pool:
                done = await asyncio.gather(*(each(pool) for each in writings))
            return [(answer.body.decode(), replayed) for answer, replayed in done]

        return asyncio.run(go())

    def customers(self) -> set[str]:
        rows = self.api_server.query(
            "SELECT company_name FROM customer WHERE business_id = %s", self.business_id
        )
        return {name for (name,) in rows}


def staging(name: str, *failing: str) -> Handle:
    """Return a handler that stages a customer and fails with one state after the other."""
    left = list(failing)

    async def handle(session: WriteSession) -> None:
        session.staging.insert(tables.customer, customer_row(company_name=name))
        if left:
            await execute_pipeline(session.connection, [raising(left.pop(0))])

    return handle


class TestRunsAgain:
    @pytest.mark.parametrize("state", ["40001", "40P01"])
    def test_a_transaction_with_a_conflict_runs_again_and_writes_once(
        self, writer: Writer, state: str
    ) -> None:
        body, replayed = writer.write(staging("once", state, state))
        assert (body, replayed, writer.customers()) == ("run 3", False, {"once"})

    def test_a_transaction_fails_with_503_after_the_last_run(self, writer: Writer) -> None:
        with pytest.raises(Unavailable) as refused:
            writer.write(staging("never", *["40001"] * 9))
        assert (writer.runs, writer.customers()) == (MOST_RUNS, set())
        assert refused.value.code == "service_unavailable"

    def test_a_deadlock_runs_one_of_two_again(self, writer: Writer, shop: Business) -> None:
        ids = [UUID(shop.customer()["id"]) for _ in range(2)]
        met, locked = asyncio.Event(), []

        def crossing(first: UUID, second: UUID) -> Handle:
            async def handle(session: WriteSession) -> None:
                for id_ in (first, second):
                    lock = Query(LOCK, {"id": id_})
                    await execute_pipeline(session.connection, [lock])
                    locked.append(id_)
                    if len(locked) == 2:
                        met.set()
                    await asyncio.wait_for(met.wait(), 5)

            return handle

        done = writer.together(
            lambda pool: writing(pool, writer.work(crossing(*ids))),
            lambda pool: writing(pool, writer.work(crossing(*reversed(ids)))),
        )
        assert (len(done), writer.runs) == (2, 3)

    def test_a_row_that_moved_meanwhile_is_read_again(self, writer: Writer, shop: Business) -> None:
        id_ = UUID(shop.customer()["id"])

        async def handle(session: WriteSession) -> None:
            read = Query("SELECT version FROM customer WHERE id = %(id)s", {"id": id_})
            [result] = await execute_pipeline(session.connection, [read])
            if writer.runs == 1:
                shop.api.patch(f"customers/{id_}/", json={"notes": "meanwhile"})
            row = customer_row(id=id_, version=result.rows[0]["version"], company_name="moved")
            session.staging.update(tables.customer, row)

        assert writer.write(handle) == ("run 2", False)
        assert writer.customers() == {"moved"}

    def test_a_race_for_an_external_id_runs_once_more_and_then_refuses(
        self, writer: Writer, shop: Business
    ) -> None:
        async def handle(session: WriteSession) -> None:
            session.staging.insert(
                tables.customer, customer_row(external_id="raced", company_name="late")
            )
            if writer.runs == 1:
                shop.customer(external_id="raced", company_name="first")

        with pytest.raises(Conflict) as refused:
            writer.write(handle)
        assert (refused.value.code, writer.runs) == ("duplicate_external_id", 2)
        assert writer.customers() == {"first"}

    def test_a_transaction_runs_again_for_each_external_id_that_it_names(
        self, writer: Writer, shop: Business
    ) -> None:
        async def handle(session: WriteSession) -> None:
            if writer.runs == 1:
                session.staging.insert(tables.customer, customer_row(external_id="new"))
                shop.customer(external_id="new", company_name="first")
            if writer.runs == 2:
                vendor = {**customer_row(external_id="raced"), "standing": "ACTIVE"}
                vendor.pop("tax_exempt")
                session.staging.insert(tables.vendor, vendor)
                shop.vendor(external_id="raced")

        assert writer.write(handle) == ("run 3", False)
        assert writer.customers() == {"first"}

    def test_a_programming_error_is_raised_unchanged(self, writer: Writer) -> None:
        async def handle(session: WriteSession) -> None:
            await execute_pipeline(session.connection, [Query("SELECT nothing_there", {})])

        with pytest.raises(psycopg.errors.UndefinedColumn):
            writer.write(handle)
        assert writer.runs == 1


class TestKeys:
    def test_a_refusal_drops_the_work_and_is_kept(self, writer: Writer) -> None:
        async def handle(session: WriteSession) -> None:
            session.staging.insert(tables.customer, customer_row())
            raise RuleViolation("negative_amount", "No.")

        assert writer.write(handle, key="r") == ("negative_amount", False)
        assert writer.write(staging("other"), key="r") == ("negative_amount", True)
        assert (writer.customers(), writer.runs) == (set(), 1)

    def test_a_refusal_by_the_flush_is_kept_as_well(self, writer: Writer, shop: Business) -> None:
        async def handle(session: WriteSession) -> None:
            read = Query("SELECT * FROM account WHERE code = '1000'", {})
            [found] = await execute_pipeline(session.connection, [read])
            [account] = found.rows
            copy = {**account, "id": uuid4(), "role": None, "business_id": None}
            session.staging.insert(tables.customer, customer_row())
            session.staging.insert(tables.account, copy)

        assert writer.write(handle, key="f") == ("duplicate_account_code", False)
        assert writer.write(handle, key="f") == ("duplicate_account_code", True)
        assert (writer.customers(), writer.runs) == (set(), 1)

    def test_a_key_keeps_no_503(self, writer: Writer) -> None:
        with pytest.raises(Unavailable):
            writer.write(staging("x", *["40001"] * 9), key="u")
        assert writer.write(staging("later"), key="u") == ("run 6", False)
        assert writer.customers() == {"later"}

    def test_concurrent_requests_of_a_key_write_once(self, writer: Writer) -> None:
        done = writer.together(
            *(lambda pool: writing(pool, writer.work(staging("one"), key="k")) for _ in range(6))
        )
        assert {body for body, _ in done} == {"run 1"}
        assert sorted(replayed for _, replayed in done) == [False] + [True] * 5
        assert writer.runs == 1

    def test_a_key_at_work_is_refused_after_a_wait(
        self, writer: Writer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("persistence.engine.transaction.WAIT_FOR_KEY_SECONDS", 0.5)
        at_work, told = asyncio.Event(), asyncio.Event()

        async def slow(session: WriteSession) -> None:
            at_work.set()
            await told.wait()

        async def late(pool: Pool) -> Any:
            await at_work.wait()
            with pytest.raises(Conflict) as refused:
                await writing(pool, writer.work(slow, key="busy"))
            assert refused.value.code == "idempotency_in_progress"
            assert refused.value.detail["retry_after_seconds"] == 1
            told.set()
            return outcome("told"), False

        done = writer.together(lambda pool: writing(pool, writer.work(slow, key="busy")), late)
        assert [body for body, _ in done] == ["run 1", "told"]


class TestPreview:
    def test_a_preview_checks_deferred_constraints_and_writes_nothing(self, writer: Writer) -> None:
        assert writer.write(staging("seen"), preview=True) == ("run 1", False)

        async def headless(session: WriteSession) -> None:
            session.staging.insert(tables.journal_entry, entry_row("JE-1"))

        with pytest.raises(psycopg.errors.CheckViolation):
            writer.write(headless, preview=True)
        assert writer.customers() == set()


class TestRefusal:
    def test_each_error_leaves_the_connection_fit_for_the_next(self, writer: Writer) -> None:
        failures = {
            **{"40001": "Outage", "22P02": "ValidationError", "23514": "CheckViolation"},
            **{"42703": "UndefinedColumn", "55P03": "Outage"},
        }

        async def go() -> list[str]:
            errors = []
            async with make_pool(writer.api_server.database_url, size=1) as pool:
                for state in failures:
                    failing = staging("x", *[state] * 9)
                    try:
                        await writing(pool, writer.work(failing, key=state))
                    except (ApiError, psycopg.Error) as error:
                        errors.append(type(error).__name__)
                    done, _ = await writing(pool, writer.work(staging(state)))
                    assert done.status == 201
            return errors

        assert asyncio.run(go()) == [*failures.values()]
        assert writer.customers() == failures.keys()
