"""How PostgreSQL finds one page of a list: as the server's role, behind row security."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg.rows import dict_row

from bench.stage import Business
from persistence.engine.fetches import Fetch
from persistence.engine.pages import Listing, Page, PageRequest
from persistence.engine.pool import SERVER_ROLE
from persistence.engine.sql import Row
from persistence.ledger import journal_lists
from persistence.partners import registry
from persistence.trade import customers, invoices

Connection = psycopg.Connection[Row]

FAR_DOWN = 20
PAGE_SIZE = 20


@dataclass(frozen=True, slots=True)
class Plan:
    """What PostgreSQL did for one page."""

    noun: str
    page: str
    how: str
    rows_read: int

    @property
    def is_flat(self) -> bool:
        """Whether it reads no more than it shows: an index has the order."""
        return "Sort" not in self.how and self.rows_read <= PAGE_SIZE + 1


def listings() -> dict[str, Listing]:
    """Every list by its noun."""
    return {
        "customers": customers.CUSTOMERS.listing,
        "invoices": invoices.INVOICES.listing,
        "invoice payments": invoices.PAYMENTS.listing,
        "journal entries": journal_lists.LISTING,
        "businesses": registry.LISTING,
    }


def plans(ours: Business) -> Iterator[Plan]:
    """Explain of every list the first page, one further down by cursor, and that one by number."""
    with psycopg.connect(ours.database_url, autocommit=True, row_factory=dict_row) as connection:
        connection.execute(f"SET ROLE {SERVER_ROLE}")
        connection.execute("SET plan_cache_mode = force_generic_plan")
        connection.execute("SELECT set_config('app.business_id', %s, false)", [str(ours.id)])
        for noun, listing in listings().items():
            first = _fetch(listing, ours, PageRequest())
            middle = _fetch(listing, ours, PageRequest(page=FAR_DOWN))
            page = middle.answer([_rows(connection, middle)])
            yield _explain(connection, noun, "first", first, listing)
            if page.next_cursor:
                after = _fetch(listing, ours, PageRequest(cursor=page.next_cursor))
                yield _explain(connection, noun, "by cursor", after, listing)
                yield _explain(connection, noun, "by number", middle, listing)


def _fetch(listing: Listing, ours: Business, wanted: PageRequest) -> Fetch[Page[Row]]:
    """Have a list make its statement; nobody asks it here."""
    scope = {
        "business_id": ours.id,
        "partner_id": ours.partner_id,
        "today": datetime.now(UTC).date(),
    }
    nobody: Any = None
    return listing.fetch(nobody, replace(wanted, count=False), scope, lambda row: row)


def _rows(connection: Connection, fetch: Fetch[Any]) -> list[Row]:
    [query] = fetch.queries
    return connection.execute(query.text, query.parameters).fetchall()


def _explain(
    connection: Connection, noun: str, page: str, fetch: Fetch[Any], listing: Listing
) -> Plan:
    [query] = fetch.queries
    # Prepared at once, so that the plan is the one for whatever parameters.
    row = connection.execute(
        f"EXPLAIN (ANALYZE, FORMAT JSON) {query.text}", query.parameters, prepare=True
    ).fetchone()
    assert row is not None
    nodes = list(_nodes(row["QUERY PLAN"][0]["Plan"]))
    table = listing.key.table.name
    scans = [node for node in nodes if node.get("Relation Name") == table]
    most = max(scans, key=_rows_read)
    sorted_by = [node["Node Type"] for node in nodes if "Sort" in node["Node Type"]]
    how = f"{most['Node Type']} {most.get('Index Name', '')}".strip()
    return Plan(noun, page, ", then ".join([how, *sorted_by]), _rows_read(most))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", ()):
        yield from _nodes(below)


def _rows_read(node: dict[str, Any]) -> int:
    """The rows that a node has touched, those that it threw away too."""
    touched: float = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    loops: int = node["Actual Loops"]
    return round(touched * loops)
