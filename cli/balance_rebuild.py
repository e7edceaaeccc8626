"""`accounting rebuild-balances`: new computation of the monthly balances of businesses.

First, lines posted by a server from before the cash basis are marked for the cash basis.
"""

from typing import NamedTuple
from uuid import UUID

import typer

from cli.book_checks import progress_bar
from cli.databases import ready, run
from cli.named_records import NamedRecords
from persistence.engine.connections import connect
from persistence.engine.pool import Pool
from persistence.integrity.checks import all_books
from persistence.ledger.rebuild import rebuild
from persistence.ledger.unmarked_lines import mark_lines
from server.config import settings


class RebuildResult(NamedTuple):
    """The counts for one business: months of accounts, and lines marked for the cash basis."""

    months: int
    marked: int


def rebuild_balances(business_id: UUID | None) -> None:
    """Rebuild the monthly balances of one business or of all, and print how many there are."""
    with ready(settings.load_stores(), named=NamedRecords(business=business_id)) as database:
        rebuilt = run(
            database.url, lambda pool: _rebuild_each(pool, business_id, database.admin_url)
        )
    businesses = "1 business" if len(rebuilt) == 1 else f"{len(rebuilt)} businesses"
    months = sum(each.months for each in rebuilt)
    typer.echo(f"The balances of {businesses} are rolled up anew ({months} months).")
    if marked := sum(each.marked for each in rebuilt):
        typer.echo(f"Lines that a server before the cash basis posted are on it now ({marked}).")


async def _rebuild_each(
    pool: Pool, business_id: UUID | None, admin_url: str
) -> list[RebuildResult]:
    rebuilt = []
    businesses = await all_books(pool, business_id=business_id)
    with progress_bar() as bar, connect(admin_url) as owner:
        task = bar.add_task("", total=len(businesses))
        for each in businesses:
            bar.update(task, description=each.name)
            marked = mark_lines(owner, each.id)
            rebuilt.append(RebuildResult(await rebuild(pool, each.id), marked))
            bar.advance(task)
    return rebuilt
