"""`accounting sweep-documents`: files that no record names go, and audit trails are sealed."""

from datetime import UTC, datetime

import typer

from cli.databases import ready, run
from persistence.engine.pool import Pool
from persistence.files.blobs import Blobs
from persistence.files.sweeping import sweep
from persistence.proof.integrity import all_books
from persistence.proof.seals import seal
from server import settings


def sweep_all(*, only_look: bool) -> None:
    """Sweep the storage of the settings, seal the audit trails, and tell what was found."""
    loaded = settings.load_stores()
    with ready(loaded) as database:
        blobs, now = Blobs(loaded.documents), datetime.now(UTC)
        swept = run(database.url, lambda pool: sweep(pool, blobs, now, only_look=only_look))
        sealed = 0 if only_look else run(database.url, seal_all)
    for key in swept.left_behind:
        typer.echo(key)
    done = "would be removed" if only_look else "were removed"
    typer.echo(f"{len(swept.left_behind)} of {swept.seen} files have no record and {done}.")
    if sealed:
        typer.echo(f"{sealed} new records of audit trails were sealed.")


async def seal_all(pool: Pool) -> int:
    """Seal the audit trail of every business; return how many records were new."""
    return sum([await seal(pool, business.id) for business in await all_books(pool)])
