"""Export of one business to a file, from one snapshot of its books (docs/decisions/0046)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import IO
from uuid import UUID

from persistence.archives.package import Manifest, Packer
from persistence.archives.rows import ONE_WAY_TO_WRITE, TABLES, lines_of
from persistence.database.revisions import HEAD
from persistence.engine.database_errors import UnusableDatabase
from persistence.engine.pipeline import Connection, execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sql import Query, Row
from persistence.engine.topology import SNAPSHOT
from persistence.files.blobs import BlobStorage, key_in
from persistence.integrity.checks import NO_HURRY, BooksToProve

# The newest seal, which a receiver can verify later (`kept_seal`), and the facts that decide
# whether the business may be exported.
_FACTS = """
SELECT (SELECT version_num FROM alembic_version) AS revision, b.sandbox,
       s.number, encode(s.digest, 'hex') AS digest
FROM business b LEFT JOIN LATERAL (
  SELECT number, digest FROM audit_seal WHERE business_id = %(business_id)s
  ORDER BY number DESC LIMIT 1
) s ON true WHERE b.id = %(business_id)s
"""
_DOCUMENTS = """
SELECT id, file_name, file_size, sha256, storage_key FROM stored_document
WHERE business_id = %(business_id)s AND id > %(after)s ORDER BY id LIMIT 500
"""


class CannotExport(Exception):
    """A business cannot be written to a file; the message says why."""


@dataclass(frozen=True, slots=True)
class StoredContent:
    """The recorded facts of a file. `size` is in bytes, `digest` SHA-256 in hexadecimal."""

    id: UUID
    file_name: str
    size: int
    digest: str
    storage_key: str


async def export_books(
    pool: Pool, books: BooksToProve, storage: BlobStorage, file: IO[bytes], product_version: str
) -> Manifest:
    """Write a business to a file and return its manifest.

    The rows are read in the server's role: row security hides those of other businesses. Raises
    CannotExport, UnusableDatabase, StorageUnavailable or OSError.
    """
    async with pool.connection() as connection:
        confined = connection.machines.set_tenant(books.id)
        facts = Query(_FACTS, {"business_id": books.id})
        opening = [SNAPSHOT, Query(NO_HURRY, {}), ONE_WAY_TO_WRITE, confined, facts]
        [found] = (await execute_pipeline(connection, opening))[-1].rows
        _refuse(found)
        packer = Packer(file)
        for table in TABLES:
            with packer.table(table.name) as lines:
                async for line in lines_of(connection, table, books.id):
                    lines.write(line)
        async for content in stored_contents(connection, books.id):
            packer.content(content.storage_key, _content(storage, books.id, content))
        await connection.rollback()
    seal = {"number": found["number"], "digest": found["digest"]} if found["digest"] else None
    return packer.finish(
        business_id=books.id,
        business_name=books.name,
        partner_id=books.partner_id,
        partner_name=books.partner_name,
        revision=found["revision"],
        product_version=product_version,
        exported_at=datetime.now(UTC).isoformat(),
        newest_seal=seal,
    )


async def stored_contents(
    connection: Connection, business_id: UUID
) -> AsyncIterator[StoredContent]:
    """Yield the recorded facts of the files of all documents, read in batches of 500."""
    after = UUID(int=0)
    while True:
        asked = Query(_DOCUMENTS, {"business_id": business_id, "after": after})
        [result] = await execute_pipeline(connection, [asked])
        for row in result.rows:
            yield StoredContent(*row.values())
        if not result.rows:
            return
        after = result.rows[-1]["id"]


def _refuse(found: Row) -> None:
    if found["revision"] != HEAD:
        raise UnusableDatabase(
            f"The database stands at {found['revision']} and this version writes the rows of"
            f" {HEAD}: run `accounting migrate` first."
        )
    if found["sandbox"] == "template":
        raise CannotExport("Sandboxes are copied from these books; they are no business's own.")


def _content(storage: BlobStorage, business_id: UUID, said: StoredContent) -> bytes:
    content = storage.get(key_in(business_id, said.storage_key))
    if content is None:
        raise CannotExport(f"The file of document {said.id} ({said.file_name}) is not there.")
    if sha256(content).hexdigest() != said.digest:
        raise CannotExport(
            f"The file of document {said.id} ({said.file_name}) is not what was stored."
        )
    return content
