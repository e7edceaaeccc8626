"""`accounting sweep-documents`: files that no record names are taken away."""

from datetime import UTC, datetime

import typer

from cli.databases import ready, run
from persistence.files.blobs import Blobs
from persistence.files.sweeping import sweep
from server import settings


def sweep_all(*, only_look: bool) -> None:
    """Sweep the storage of the settings, and tell what was found."""
    loaded = settings.load_stores()
    with ready(loaded) as database:
        blobs, now = Blobs(loaded.documents), datetime.now(UTC)
        swept = run(database.url, lambda pool: sweep(pool, blobs, now, only_look=only_look))
    for key in swept.left_behind:
        typer.echo(key)
    done = "would be removed" if only_look else "were removed"
    typer.echo(f"{len(swept.left_behind)} of {swept.seen} files have no record and {done}.")
