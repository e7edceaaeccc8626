"""`accounting export-business` and `import-business`: a business in a file, checked twice."""

import asyncio
import os
import time
from importlib.metadata import version
from pathlib import Path
from uuid import UUID

import typer

from cli.book_checks import tell_faults
from cli.check_workers import Proof
from cli.databases import ready, run
from cli.named_records import NamedRecords
from cli.progress import Progress
from persistence.archives.atomic_write import written_whole
from persistence.archives.exports import export_books
from persistence.archives.imports import BooksDoNotHold, import_books
from persistence.archives.package import Manifest, Package
from persistence.engine.pool import Pool
from persistence.files.blobs import Blobs, BlobStorage
from persistence.integrity.checks import BooksToProve, all_books, prove
from persistence.integrity.seals import seal
from server.config import settings


def export_business(business_id: UUID, target: Path) -> int:
    """Check a business, export it to a new file and print a summary.

    Returns the exit code: 1 if a check fails, and then nothing is exported.
    """
    loaded = settings.load_stores()
    began = time.monotonic()
    named = NamedRecords(business=business_id)
    with Progress() as progress, ready(loaded, progress.begin, named=named) as database:
        progress.begin("Proving the books")
        proof = run(database.url, lambda pool: _proven(pool, business_id))
        if proof.faults:
            progress.end()
            tell_faults(proof)
            typer.echo("The books do not hold: nothing is exported.")
            return 1
        progress.begin("Writing the file")
        manifest = run(
            database.url, lambda pool: _export(pool, proof.books, loaded.documents, target)
        )
    whose = f"{manifest.business_name} ({manifest.business_id}) of {manifest.partner_name}"
    typer.echo(f"{whose} is in {target}.")
    typer.echo(f"{told(manifest)}, {target.stat().st_size} bytes, {seconds(began)}.")
    tell_digests(manifest)
    return 0


async def _proven(pool: Pool, business_id: UUID) -> Proof:
    [books] = await all_books(pool, business_id=business_id)
    checks = await prove(pool, books, lambda _: None)
    await seal(pool, business_id)  # So that the importer can compare the newest seal.
    return Proof(books, checks)


async def _export(pool: Pool, books: BooksToProve, storage: BlobStorage, target: Path) -> Manifest:
    with written_whole(target) as draft, draft.open("xb") as file:
        manifest = await export_books(pool, books, storage, file, version("accounting-platform"))
        file.flush()
        os.fsync(file.fileno())
    return manifest


def import_business(source: Path, partner_id: UUID | None) -> int:
    """Import a business from a file and print a summary; return 1 if a check of its books fails."""
    loaded = settings.load_stores()
    began = time.monotonic()
    blobs = Blobs(loaded.documents)
    named = NamedRecords(partner=partner_id)
    with (
        Package(source) as package,
        Progress() as progress,
        ready(loaded, progress.begin, named=named) as database,
    ):
        try:
            taking = import_books(database.admin_url, package, partner_id, blobs, progress.begin)
            imported = asyncio.run(taking)
        except BooksDoNotHold as fault:
            progress.end()
            tell_faults(Proof(fault.books, fault.checks))
            typer.echo(str(fault))
            return 1
    books, manifest = imported.books, package.manifest
    typer.echo(f"{books.name} ({books.id}) is a business of {books.partner_name} now.")
    typer.echo(f"{told(manifest)}, {seconds(began)}.")
    typer.echo(f"Its books hold ({imported.checked} things checked).")
    tell_digests(manifest)
    return 0


def told(manifest: Manifest) -> str:
    """Return the size of an export as text: `2310 rows of 47 tables, 5 files of 812 bytes`."""
    documents = manifest.documents
    files = "1 file" if documents.files == 1 else f"{documents.files} files"
    rows = f"{manifest.rows} rows of {len(manifest.tables)} tables"
    return f"{rows}, {files} of {documents.bytes} bytes"


def tell_digests(manifest: Manifest) -> None:
    """Print the digest of the file and the newest seal, to compare both ends."""
    typer.echo(f"Digest: {manifest.sha256}")
    if manifest.newest_seal is not None:
        seal_of = manifest.newest_seal
        typer.echo(f"Newest seal of the audit trail: {seal_of['number']}, {seal_of['digest']}")


def seconds(since: float) -> str:
    """Return the time since a reading of the monotonic clock, as text: `1.2 s`."""
    return f"{time.monotonic() - since:.1f} s"
