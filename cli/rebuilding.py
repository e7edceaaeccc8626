"""`accounting rebuild-balances`: the balances by month of businesses rolled up anew."""

from uuid import UUID

import typer

from cli.databases import ready, run
from cli.proving import progress_bar
from persistence.engine.pool import Pool
from persistence.ledger.rebuilding import rebuild
from persistence.proof.integrity import all_books
from server import settings


def rebuild_balances(business_id: UUID | None) -> None:
    """Rebuild one business's balances or everybody's, and tell how many there are.

    Raises BadParameter where there is no such business.
    """
    with ready(settings.load_stores()) as database:
        rebuilt = run(database.url, lambda pool: _rebuild_each(pool, business_id))
    if business_id is not None and not rebuilt:
        raise typer.BadParameter("There is no such business.")
    businesses = "1 business" if len(rebuilt) == 1 else f"{len(rebuilt)} businesses"
    typer.echo(f"The balances of {businesses} are rolled up anew ({sum(rebuilt)} months).")


async def _rebuild_each(pool: Pool, business_id: UUID | None) -> list[int]:
    rebuilt = []
    businesses = await all_books(pool, business_id=business_id)
    with progress_bar() as bar:
        task = bar.add_task("", total=len(businesses))
        for each in businesses:
            bar.update(task, description=each.name)
            rebuilt.append(await rebuild(pool, each.id))
            bar.advance(task)
    return rebuilt
