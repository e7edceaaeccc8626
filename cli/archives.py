"""`accounting backup` and `restore`: everything in one folder; `--verify` checks a backup."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import typer

from cli.book_checks import prove_all, summary, tell_faults
from cli.business_files import seconds
from cli.databases import opened
from cli.progress import Progress
from libraries.embedded.binaries import find_programs
from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from persistence.archives.backups import (
    ROLES,
    DamagedBackup,
    Manifest,
    back_up,
    files_not_as_recorded,
    opened_backup,
    refuse_filled,
    refuse_older_server,
    restore_database,
    restore_files,
    rows_in,
)
from persistence.database.migrate import knows, migrate
from persistence.database.revisions import HEAD
from persistence.engine.connections import connect
from server.config import settings

MOST_TOLD = 20  # The most files with problems that are listed by name.


def make_backup(target: Path) -> int:
    """Save a backup of the configured database and document files, and print a summary.

    The database is not migrated: a backup that precedes an upgrade has the earlier schema. Returns
    the exit code: 1 if files that records name are missing or changed.
    """
    loaded = settings.load_stores()
    began = time.monotonic()
    with (
        Progress() as progress,
        opened(loaded, progress.begin, as_it_is=True, must_exist=True) as database,
    ):
        manifest = back_up(
            database.admin_url,
            loaded.documents,
            target,
            version("accounting-platform"),
            progress.begin,
        )
    tell_files("is not in the storage", manifest.missing)
    tell_files("is not what was stored", manifest.changed)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    typer.echo(f"{target} has what there was at {manifest.begun_at}.")
    typer.echo(f"{told(manifest)}; {size} bytes in all, {seconds(began)}.")
    if not manifest.holds:
        typer.echo("Files that records name are missing or changed: see above.")
    return 0 if manifest.holds else 1


def restore_backup(source: Path) -> None:
    """Restore a backup into the configured empty database and file storage, and print a summary."""
    loaded = settings.load_stores()
    began = time.monotonic()
    manifest = opened_backup(source)
    with (
        Progress() as progress,
        opened(loaded, progress.begin, as_it_is=True) as database,
    ):
        refuse_filled(database.admin_url)
        progress.begin("Putting the files of documents")
        put, there = restore_files(source, loaded.documents)
        restore_database(database.admin_url, source, manifest, progress.begin)
    typer.echo(f"The database and its files are as they were at {manifest.begun_at}.")
    typer.echo(f"{told(manifest)}; {put} files were put, {there} were there; {seconds(began)}.")
    if manifest.logins:
        typer.echo(
            f"Logins that the server used there: {', '.join(manifest.logins)}. Make them here, with"
            f" passwords, where they are not: {source / ROLES} has the statements."
        )
    if manifest.revision != HEAD:
        typer.echo(
            f"The database stands at {manifest.revision}, and this version needs {HEAD}:"
            " run `accounting migrate`."
        )


def verify_backup(source: Path) -> int:
    """Restore a backup into a temporary PostgreSQL and check its files, row counts and books.

    Returns the exit code: 1 if a check fails.
    """
    began = time.monotonic()
    with Progress() as progress:
        manifest = opened_backup(source)
        if not knows(manifest.revision):
            raise DamagedBackup(
                f"The backup is at {manifest.revision}, which this version does not know:"
                " verify it with the version that it was made with."
            )
        progress.begin("Starting a PostgreSQL for this")
        with thrown_away(manifest) as url:
            restore_database(url, source, manifest, progress.begin)
            with connect(url) as connection:
                rows = rows_in(connection)
                progress.begin("Comparing the files with their records")
                wrong = [*files_not_as_recorded(connection, source)]
            progress.begin("Proving the books")
            migrate(url)
            progress.end()
            found = prove_all(url, None, None, None, tell_faults)
    tell_files("is not what its record says", wrong)
    differing = sorted(name for name, count in manifest.rows.items() if rows.get(name) != count)
    for name in differing:
        typer.echo(f"{name} has {rows.get(name)} rows in place of {manifest.rows[name]}.")
    typer.echo(summary(found))
    holds = found.holds and not wrong and not differing
    typer.echo(f"The backup {'holds' if holds else 'does not hold'} ({seconds(began)}).")
    return 0 if holds else 1


@contextmanager
def thrown_away(manifest: Manifest) -> Iterator[str]:
    """Yield the URL of an empty database in a temporary PostgreSQL, which is deleted afterwards."""
    programs = find_programs()
    refuse_older_server(programs.major, manifest)
    home = Path(mkdtemp(prefix="accounting-verify-"))
    try:
        with EmbeddedPostgres(home, TEST_SETTINGS, programs=programs) as postgres:
            postgres.create_database()
            yield postgres.url()
    finally:
        rmtree(home, ignore_errors=True)


def told(manifest: Manifest) -> str:
    """Return the size of a backup as text: `41230 rows of 48 tables, 12 files of 93411 bytes`."""
    files = "1 file" if manifest.files == 1 else f"{manifest.files} files"
    rows = sum(manifest.rows.values())
    return f"{rows} rows of {len(manifest.rows)} tables, {files} of {manifest.bytes} bytes"


def tell_files(what: str, keys: list[str]) -> None:
    """Print the first MOST_TOLD of some files, and the number of the others."""
    for key in keys[:MOST_TOLD]:
        typer.echo(f"{key} {what}")
    if len(keys) > MOST_TOLD:
        typer.echo(f"and {len(keys) - MOST_TOLD} more")
