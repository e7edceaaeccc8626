"""`accounting sweep-documents`: files that no record names are taken away."""

import asyncio
from datetime import UTC, datetime

import typer

from cli.databases import ready
from persistence.blobs import Blobs
from persistence.pool import make_pool
from persistence.sweeping import Swept, sweep
from server import settings


def sweep_all(*, only_look: bool) -> None:
    """Sweep the storage of the settings, and tell what was found."""
    loaded = settings.load_stores()
    with ready(loaded) as database:
        swept = asyncio.run(sweep_storage(database.url, Blobs(loaded.documents), only_look))
    for key in swept.left_behind:
        typer.echo(key)
    done = "would be removed" if only_look else "were removed"
    typer.echo(f"{len(swept.left_behind)} of {swept.seen} files have no record and {done}.")


async def sweep_storage(url: str, blobs: Blobs, only_look: bool) -> Swept:
    """Sweep over a connection of its own."""
    async with make_pool(url, size=1) as pool:
        return await sweep(pool, blobs, datetime.now(UTC), only_look=only_look)
