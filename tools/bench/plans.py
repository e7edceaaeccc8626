"""`python -m tools.bench.plans`: PostgreSQL's query plans for the first page of every list.

It uses every filter and every sort, as the server's role with row-level security, over copies of
the demo's rows. Exit 1 if a page reads a whole table, sorts more rows than it shows, or reads more
than twenty times the rows that it shows, and `EXCEPTIONS` gives no reason.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from libraries.embedded.postgres import EmbeddedPostgres
from persistence.database.migrate import migrate
from persistence.engine.sql import Query
from tools.bench.lists import COLUMNS, LISTS, PAGE_SIZE, UNPLANNED, Case, Owner, cases, common
from tools.bench.rows import multiply
from tools.bench.servers import program
from tools.bench.statements import Connection, be_server, prepared

MOST_READ = 20 * (PAGE_SIZE + 1)
MOST_SORTED = 9 * (PAGE_SIZE + 1)  # A page for each of nine statuses.
# A business has a few dozen at most, and each bank account has its own ledger account.
FEW = {
    "bank_account",
    "bank_rule",
    "bank_reconciliation",
    "tax_code",
    "tax_return",
}
LARGE = 1_000  # A table of more rows must not be scanned completely.
OTHER_ORDER = "a range of one column, in the order of another"
TEXTS = "a part of a text is found by reading texts"
LATE = "what is late comes with the day: the open ones are looked through"
RARE = "an index more for every row, for a value that hardly anybody asks for"
OFTEN = "one row in thirty or forty has it here: a page is found sooner in the order of the list"
FEW_BUSINESSES = "a partner has thousands of businesses, not millions"
EXCEPTIONS: Mapping[str, str] = {
    "*search=*": TEXTS,
    "*_contains=*": TEXTS,
    "list_payouts external_id=*": TEXTS,
    "list_businesses *": FEW_BUSINESSES,
    "*_from=*": OTHER_ORDER,
    "*_to=*": OTHER_ORDER,
    "* m??_amount=*": OTHER_ORDER,
    "list_invoices status=*": LATE,
    "list_bills status=*": LATE,
    "* is_overdue=*": LATE,
    "* open_on=*": "what was open on a day is what is open less what was posted since",
    "* payment_method=*": RARE,
    "* processor=*": RARE,
    "* currency=*": RARE,
    "* refund_type=*": RARE,
    "* transaction_tags=*": RARE,
    "list_customers status=ARCHIVED": RARE,
    "list_vendors status=*": RARE,
    "list_customers name=*": OFTEN,
    "list_vendor_refund_payments vendor_id=*": OFTEN,
    "list_journal_entries created_by=*": RARE,
    "list_vendor_refunds status=*": "summed up from two other tables; there are few of them",
    "list_vendor_refunds is_fully_allocated=*": "summed up from its allocations",
    "list_journal_entries account*": "lines of the account are looked through within its days",
    "list_account_entries known_at=*": "what was posted since is looked through on the way",
    "list_audit_records *": "the trail grows with every change, and is read by object",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """The work and the time of PostgreSQL for one page."""

    case: Case
    scans: tuple[str, ...]
    read: int
    sorted: int
    ms: float

    @property
    def faults(self) -> list[str]:
        """Return the faults of the plan: full scans, large sorts, and many rows read."""
        said = [scan for scan in self.scans if scan.startswith("Seq Scan")]
        if self.sorted > MOST_SORTED:
            said.append(f"sorts {self.sorted} rows")
        if self.read > MOST_READ:
            said.append(f"reads {self.read} rows")
        return said

    @property
    def excuse(self) -> str | None:
        """Return the reason in `EXCEPTIONS` for which faults are accepted; None without one."""
        found = (why for name, why in EXCEPTIONS.items() if fnmatch(self.case.name, name))
        return next(found, None)


def plans(connection: Connection, owner: Owner) -> Iterator[Plan]:
    """Explain the first page of every list."""
    scope = {
        "business_id": owner.business_id,
        "partner_id": owner.partner_id,
        "today": datetime.combine(datetime.now(UTC), time.min, UTC),
        "account_id": common(connection, COLUMNS["account_id"]),
        "refund_id": common(connection, COLUMNS["refund_id"]),
        "bank_account_id": common(connection, "bank_account_id FROM bank_transaction"),
    }
    found = list(cases(connection))
    be_server(connection, owner.business_id)
    nobody: Any = None
    for case in found:
        fetch = LISTS[case.operation].fetch(nobody, case.asked, scope, lambda row: row)
        yield explained(connection, case, fetch.queries[0])


def explained(connection: Connection, case: Case, query: Query) -> Plan:
    """Run a statement with EXPLAIN ANALYZE, and return its plan."""
    with prepared(connection, query) as explain:
        told = explain("ANALYZE, ")
    nodes = list(_nodes(told["Plan"]))
    scans = [node for node in nodes if "Relation Name" in node or "Index Name" in node]
    table = LISTS[case.operation].key.table.name
    return Plan(
        case,
        tuple(dict.fromkeys(_said(node) for node in scans if _is_large(node))),
        round(sum(_rows(node) for node in scans if node.get("Relation Name") == table)),
        round(
            max(
                (_rows(node["Plans"][0]) for node in nodes if "Sort" in node["Node Type"]),
                default=0,
            )
        ),
        told["Execution Time"],
    )


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", ()):
        yield from _nodes(below)


def _sorts(node: dict[str, Any]) -> bool:
    return "Sort" in node["Node Type"]


def _rows(node: dict[str, Any]) -> float:
    """Return the number of rows that a node touched, including those that it filtered out."""
    removed: float = node.get("Rows Removed by Filter", 0)
    each: float = node["Actual Rows"] + removed + node.get("Rows Removed by Index Recheck", 0)
    loops: int = node["Actual Loops"]
    return each * loops


def _said(node: dict[str, Any]) -> str:
    return f"{node['Node Type']} {node.get('Index Name', node.get('Relation Name'))}"


def _is_large(node: dict[str, Any]) -> bool:
    is_plain = node["Node Type"] == "Seq Scan"
    return not is_plain or _rows(node) > LARGE * node["Actual Loops"]


def filled(url: str, folder: Path, rows: int) -> None:
    """Fill the demo, and copy its rows."""
    environment = {**os.environ, "DATABASE_URL": url, "ACCOUNTING_DATA_DIR": str(folder)}
    subprocess.run(
        [program("accounting"), "demo"], env=environment, check=True, capture_output=True
    )
    with psycopg.connect(url, row_factory=dict_row, autocommit=True) as connection:
        owner = owner_of(connection)
        planned = [listing for name, listing in LISTS.items() if name not in UNPLANNED]
        for table in dict.fromkeys(listing.key.table for listing in planned):
            if table.name in FEW:
                continue
            own = table.name != "business"
            scope = ("business_id", owner.business_id) if own else ("partner_id", owner.partner_id)
            multiply(connection, table, scope, rows if own else min(rows, 10_000))
        connection.execute("VACUUM (ANALYZE)")


def owner_of(connection: Connection) -> Owner:
    """Return the demo's business, the oldest one, with its partner."""
    row = connection.execute(
        "SELECT id, partner_id FROM business WHERE id IN (SELECT business_id FROM invoice)"
        " ORDER BY id LIMIT 1"
    ).fetchone()
    assert row is not None, "the demo has one"
    return Owner(row["id"], row["partner_id"])


def report(found: list[Plan]) -> bool:
    """Print the pages with faults and the reasons; return whether each has a reason."""
    print("| list, filter or sort | how | faults | ms | why |\n|---|---|---|---|---|")
    for plan in found:
        if plan.faults:
            how, faults = ", ".join(plan.scans), ", ".join(plan.faults)
            why = plan.excuse or "**none**"
            print(f"| {plan.case.name} | {how} | {faults} | {plan.ms:.2f} | {why} |")
    slowest = max(found, key=lambda plan: plan.ms)
    print(f"\n{len(found)} pages; the slowest took {slowest.ms:.0f} ms: {slowest.case.name}")
    return all(plan.excuse for plan in found if plan.faults)


def main() -> int:
    """Fill, explain, print, and return the exit status."""
    options = argparse.ArgumentParser(prog="python -m tools.bench.plans", description=__doc__)
    options.add_argument("--rows", type=int, default=10_000, help="of every list, about")
    chosen = options.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        EmbeddedPostgres(Path(folder) / "postgres") as postgres,
    ):
        postgres.create_database()
        migrate(postgres.url())
        filled(postgres.url(), Path(folder) / "data", chosen.rows)
        with psycopg.connect(postgres.url(), autocommit=True, row_factory=dict_row) as connection:
            return 0 if report(list(plans(connection, owner_of(connection)))) else 1


if __name__ == "__main__":
    sys.exit(main())
