"""Statements that find rows by key: planned once, with a plan that suits large businesses."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from persistence import tables
from persistence.books import Books
from persistence.database.migrate import ALIKE, migrate
from persistence.engine.pipeline import numbered
from persistence.engine.row_statements import replacement
from persistence.engine.sql import Fetch, Query
from persistence.tax import tax_codes
from tests.api_server import ApiServer
from tests.partner import Partner
from tests.persistence.ledger.journal_writer import JournalWriter
from tools.bench import rows, seed

CUSTOMERS = 5_000
SMALL = 500  # Businesses with one customer each.
# Statistics of businesses of equal size: no value is the most common one.
NONE_MOST_COMMON = """
UPDATE pg_statistic SET stakind1 = 0
WHERE starelid = 'tax_code'::regclass AND stakind1 = 1 AND staattnum = (
  SELECT attnum FROM pg_attribute
  WHERE attrelid = 'tax_code'::regclass AND attname = 'business_id'
)
"""
CHANGED = frozenset({"id", "version", "email"})
BY_KEY = {
    "a list": "SELECT id FROM customer WHERE business_id = $1 AND id = ANY($2::uuid[]) FOR UPDATE",
    "the flush": numbered(replacement(tables.customer, CHANGED, frozenset()))[0].decode(),
}


@pytest.fixture(scope="module")
def crowd(own_server: ApiServer, partner: Partner) -> Iterator[None]:
    """A large business among many small ones, all of them analyzed."""
    small, large = partner.business(), partner.business()
    small.customer()
    large.customer()
    seed.multiply(own_server.database_url, small.id, SMALL)
    rows.multiply(own_server.watcher, tables.customer, ("business_id", large.id), CUSTOMERS)
    own_server.watcher.execute("SET plan_cache_mode = force_generic_plan; ANALYZE")
    yield
    own_server.watcher.execute("RESET plan_cache_mode")


def planned_for_half(server: ApiServer) -> set[str]:
    """Return the tables for which PostgreSQL assumes that a business has half of the rows."""
    rows = server.query(
        "SELECT attrelid::regclass::text FROM pg_attribute WHERE attname = 'business_id'"
        " AND attoptions = '{n_distinct=2}'"
    )
    return {name for (name,) in rows}


def plan_of(server: ApiServer, statement: str) -> dict[str, Any]:
    """Return the generic plan of a statement."""
    ask = server.watcher.execute
    values = ", ".join("NULL" for _ in {*re.findall(r"\$\d", statement)})
    ask(f"PREPARE asked AS {statement}".encode())
    [(said,)] = ask(f"EXPLAIN (FORMAT JSON) EXECUTE asked({values})".encode()).fetchall()
    ask("DEALLOCATE asked")
    plan: dict[str, Any] = said[0]["Plan"]
    return plan


def searches(plan: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield each searched index, and whether it is searched for an id."""
    if "Index Cond" in plan:
        yield plan["Index Name"], " AND (id = " in plan["Index Cond"]
    for each in plan.get("Plans", ()):
        yield from searches(each)


class TestExpectedRows:
    def test_each_table_of_businesses_is_planned_for_large_ones(
        self, own_server: ApiServer
    ) -> None:
        own = {table.name for table in tables.metadata.sorted_tables if table.info.get("tenant")}
        assert planned_for_half(own_server) == own - ALIKE

    def test_an_estimate_for_all_businesses_is_reset_by_a_migration(
        self, own_server: ApiServer
    ) -> None:
        before = planned_for_half(own_server)
        own_server.watcher.execute("ALTER TABLE tax_code ALTER business_id SET (n_distinct = 2)")
        migrate(own_server.database_url)
        assert planned_for_half(own_server) == before

    @pytest.mark.usefixtures("crowd")
    @pytest.mark.parametrize("statement", BY_KEY.values(), ids=BY_KEY)
    def test_a_row_is_found_by_its_key(self, own_server: ApiServer, statement: str) -> None:
        assert {*searches(plan_of(own_server, statement))} == {("customer_pkey", True)}

    @pytest.mark.usefixtures("crowd")
    def test_half_of_all_tax_codes_is_not_expected_of_one_of_many_alike(
        self, own_server: ApiServer
    ) -> None:
        assert own_server.watcher.execute(NONE_MOST_COMMON).rowcount == 1
        [read] = plan_of(own_server, numbered(tax_codes.CHANGED)[0].decode())["Plans"]
        assert read["Plan Rows"] < 50


class TestReadings:
    @pytest.mark.parametrize(
        ("planned", "pinned", "mode"),
        [
            ({}, False, "force_generic_plan"),
            ({"once": True}, False, "auto"),
            ({}, True, "auto"),  # Later requests may differ, and use any statements.
        ],
    )
    def test_a_query_without_values_has_a_generic_plan_unless_once_or_pinned(
        self,
        own_server: ApiServer,
        partner: Partner,
        planned: dict[str, bool],
        pinned: bool,
        mode: str,
    ) -> None:
        asked = Query("SELECT current_setting('plan_cache_mode') AS mode", {}, **planned)

        async def ask(books: Books) -> str:
            if pinned:
                books.pin_snapshot()
            [told] = await books.fetch(Fetch(books.session, (asked,), lambda rows: rows[0]))
            return str(told[0]["mode"])

        assert JournalWriter(own_server, partner.business()).read(ask) == mode
