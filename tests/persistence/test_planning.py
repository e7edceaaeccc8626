"""What is found by key is planned once, and so that it is found by key in large businesses too."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from bench import planting, rows
from persistence import tables
from persistence.books import Books
from persistence.database.expected_rows import ALIKE
from persistence.database.migrate import migrate
from persistence.engine.fetches import Fetch
from persistence.engine.pipeline import numbered
from persistence.engine.row_statements import replacement
from persistence.engine.sql import Query
from tests.api_server import ApiServer
from tests.partner import Partner
from tests.persistence.posting import JournalWriter

CUSTOMERS = 5_000
SMALL = 500  # Businesses with one customer each.
CHANGED = frozenset({"id", "version", "email"})
BY_KEY = {
    "a list": "SELECT id FROM customer WHERE business_id = $1 AND id = ANY($2::uuid[]) FOR UPDATE",
    "the flush": numbered(replacement(tables.customer, CHANGED, frozenset()))[0].decode(),
}


@pytest.fixture(scope="module")
def crowd(own_server: ApiServer, partner: Partner) -> Iterator[None]:
    """A large business among many small ones, all of them counted."""
    small, large = partner.business(), partner.business()
    small.customer()
    large.customer()
    planting.multiply(own_server.database_url, small.id, SMALL)
    rows.multiply(own_server.watcher, tables.customer, ("business_id", large.id), CUSTOMERS)
    own_server.watcher.execute("SET plan_cache_mode = force_generic_plan; ANALYZE")
    yield
    own_server.watcher.execute("RESET plan_cache_mode")


def bounded(server: ApiServer) -> set[str]:
    """The tables of which PostgreSQL is told that a business has half."""
    rows = server.query(
        "SELECT attrelid::regclass::text FROM pg_attribute WHERE attname = 'business_id'"
        " AND attoptions = '{n_distinct=2}'"
    )
    return {name for (name,) in rows}


def searches(plan: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """The indexes that are searched, and whether for an id."""
    if "Index Cond" in plan:
        yield plan["Index Name"], " AND (id = " in plan["Index Cond"]
    for each in plan.get("Plans", ()):
        yield from searches(each)


class TestExpectedRows:
    def test_each_table_of_businesses_is_planned_for_large_ones(
        self, own_server: ApiServer
    ) -> None:
        own = {table.name for table in tables.metadata.sorted_tables if table.info.get("tenant")}
        assert bounded(own_server) == own - ALIKE

    def test_one_that_is_alike_for_all_is_taken_back(self, own_server: ApiServer) -> None:
        before = bounded(own_server)
        own_server.watcher.execute("ALTER TABLE tax_code ALTER business_id SET (n_distinct = 2)")
        migrate(own_server.database_url)
        assert bounded(own_server) == before

    @pytest.mark.usefixtures("crowd")
    @pytest.mark.parametrize("statement", BY_KEY.values(), ids=BY_KEY)
    def test_a_row_is_found_by_its_key(self, own_server: ApiServer, statement: str) -> None:
        ask = own_server.watcher.execute
        values = ", ".join("NULL" for _ in {*re.findall(r"\$\d", statement)})
        ask(f"PREPARE asked AS {statement}".encode())
        [(told,)] = ask(f"EXPLAIN (FORMAT JSON) EXECUTE asked({values})".encode()).fetchall()
        ask("DEALLOCATE asked")
        assert {*searches(told[0]["Plan"])} == {("customer_pkey", True)}


class TestReadings:
    @pytest.mark.parametrize(
        ("planned", "pinned", "mode"),
        [
            ({}, False, "force_generic_plan"),
            ({"once": True}, False, "auto"),
            ({}, True, "auto"),  # More rounds may come, with whatever statements.
        ],
    )
    def test_what_goes_by_no_value_has_one_plan(
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
            [told] = await books.fetch(Fetch(books.scope.session, (asked,), lambda rows: rows[0]))
            return str(told[0]["mode"])

        assert JournalWriter(own_server, partner.business()).read(ask) == mode
