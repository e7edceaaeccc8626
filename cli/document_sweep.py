"""`accounting sweep-documents`: the regular upkeep of servers, done immediately and reported."""

from datetime import UTC, datetime

import typer

from cli.databases import ready, run
from jobs.upkeep import UpkeepResult, tidy
from persistence.engine.pool import Pool
from persistence.files.blobs import Blobs
from persistence.partners.upkeep_rows import (
    delete_expired_answers_of_partners,
    every_business,
)
from persistence.partners.webhook_upkeep import delete_old_deliveries
from server.config import settings


def sweep_all(*, only_look: bool) -> None:
    """Perform the upkeep of every business and print the results; `only_look` changes nothing."""
    loaded = settings.load_stores()
    blobs = Blobs(loaded.documents)
    with ready(loaded) as database:
        done = run(database.url, lambda pool: _tidy_all(pool, blobs, only_look=only_look))
    for each in done:
        for key in each.files:
            typer.echo(key)
    left_behind = sum(len(each.files) for each in done)
    were = "would be removed" if only_look else "were removed"
    seen = sum(each.seen for each in done)
    typer.echo(f"{left_behind} of {seen} files have no record and {were}.")
    if answers := sum(each.answers for each in done):
        typer.echo(f"{answers} old answers were forgotten.")
    if records := sum(each.records for each in done):
        typer.echo(f"{records} new records of audit trails were sealed.")


async def _tidy_all(pool: Pool, blobs: Blobs, *, only_look: bool) -> list[UpkeepResult]:
    now = datetime.now(UTC)
    done = [
        await tidy(pool, blobs, business_id, now, only_look=only_look)
        async for business_id in every_business(pool)
    ]
    if not only_look:
        answers = await delete_expired_answers_of_partners(pool, now)
        await delete_old_deliveries(pool, now)
        done.append(UpkeepResult(answers=answers))
    return done
