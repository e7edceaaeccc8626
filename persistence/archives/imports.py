"""Import of one business from a file, in one transaction (docs/decisions/0046).

The owner of the schema inserts the rows with every trigger and constraint active, so the database
writes an audit trail of them. The import deletes that trail before the commit and inserts the
exported one. The integrity checks then verify that it explains every row. No trigger needs a
switch, which the server's role could use as well.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from psycopg import DataError, IntegrityError, errors
from sqlalchemy import Table

from access.principal import Caller, CallerKind
from persistence.archives.exports import stored_contents
from persistence.archives.package import STORAGE_KEY, DamagedPackage, Member, Package
from persistence.archives.rows import (
    TABLES,
    TRAIL,
    WAITING_ROWS,
    await_lines,
    other_field,
    take_business,
    take_lines,
)
from persistence.database.revisions import HEAD
from persistence.engine.database_errors import UnusableDatabase, broken_constraint, first_line
from persistence.engine.pipeline import Connection, execute_pipeline
from persistence.engine.pool import owners_connection
from persistence.engine.sessions import CHECK_NOW, COMMIT
from persistence.engine.sql import Query, Row
from persistence.engine.tenants import AuditedAction
from persistence.engine.topology import BEGIN, Entrant
from persistence.files.blobs import Blobs, key_in
from persistence.integrity.checks import NO_HURRY, BooksToProve, Check, prove_within
from persistence.tables import business

_PARTNER = "SELECT id, name FROM partner WHERE id = %(partner_id)s"
_REVISION = "SELECT version_num FROM alembic_version"
# All three are checked: the trail of a deleted business may still exist.
_THERE = (
    "SELECT id FROM business WHERE id = %(business_id)s",
    "SELECT id FROM audit_record WHERE business_id = %(business_id)s LIMIT 1",
    "SELECT number FROM audit_seal WHERE business_id = %(business_id)s LIMIT 1",
)
_SAID = """
SELECT r.id, r.lock_date::text, r.sandbox
FROM incoming, json_populate_record(NULL::public.business, line) AS r
"""
_LOCK = "UPDATE business SET lock_date = %(lock_date)s::text::date WHERE id = %(business_id)s"
_FORGET = "DELETE FROM audit_record WHERE business_id = %(business_id)s"
# Adds an audit record of the import: the business may belong to another partner now.
_TELL = "SELECT audit_business(%(business_id)s)"


class CannotImport(Exception):
    """A file cannot be imported here; the message gives the reason."""


class BooksDoNotHold(Exception):
    """The imported books failed the integrity checks and were rolled back."""

    def __init__(self, books: BooksToProve, checks: list[Check]) -> None:
        super().__init__(f"The books of {books.name} do not hold: nothing of them is kept.")
        self.books = books
        self.checks = checks


@dataclass(frozen=True, slots=True)
class ImportResult:
    """An imported business, and the number of records that were checked."""

    books: BooksToProve
    checked: int


async def import_books(
    url: str,
    package: Package,
    partner_id: UUID | None,
    blobs: Blobs,
    begin: Callable[[str], None],
) -> ImportResult:
    """Import a business for a partner, by default the partner that the file names.

    `url` has the login that owns the schema. Raises CannotImport, DamagedPackage, BooksDoNotHold,
    UnusableDatabase or Unavailable; the import is then rolled back.
    """
    async with owners_connection(url) as connection:
        books = await _open(connection, package, partner_id)
        begin(f"Reading {package.manifest.rows} rows")
        try:
            await _load(connection, package, books)
        except (DataError, IntegrityError) as error:
            raise DamagedPackage(f"Its rows cannot be kept: {first_line(error)}") from error
        begin("Keeping the files")
        async with _files_kept(connection, package, books.id, blobs):
            begin("Proving the books")
            checks = await prove_within(connection, books, lambda _: None)
            if not all(check.ok for check in checks):
                raise BooksDoNotHold(books, checks)
        await execute_pipeline(connection, [COMMIT])
    return ImportResult(books, sum(check.checked for check in checks))


async def _open(connection: Connection, package: Package, partner_id: UUID | None) -> BooksToProve:
    """Begin the transaction, and refuse a file that cannot be imported before its rows are read."""
    manifest = package.manifest
    whose = {"partner_id": partner_id or manifest.partner_id}
    which = {"business_id": manifest.business_id}
    caller = Caller(CallerKind.PARTNER_KEY, whose["partner_id"])
    announced = AuditedAction("import_business", by_operator=True).by(caller)
    opening = [
        BEGIN,
        Query(NO_HURRY, {}),
        *connection.machines.write_partner(Entrant(whose["partner_id"], None, None), announced),
        connection.machines.set_tenant(manifest.business_id),
        WAITING_ROWS,
    ]
    asked = [Query(_REVISION, {}), Query(_PARTNER, whose), *(Query(e, which) for e in _THERE)]
    results = [result.rows for result in await execute_pipeline(connection, [*opening, *asked])]
    [standing], partners, *there = results[len(opening) :]
    if standing["version_num"] != HEAD:
        raise UnusableDatabase(
            f"The database stands at {standing['version_num']} and this version at {HEAD}:"
            " run `accounting migrate` first."
        )
    if manifest.revision != HEAD:
        raise CannotImport(
            f"The file has the rows of {manifest.revision}, and this version those of {HEAD}."
            f" Rows are not migrated: bring both deployments to one version, then export again."
        )
    if [member.table for member in manifest.tables] != [table.name for table in TABLES]:
        raise DamagedPackage("The file does not have the tables of its version.")
    if not partners:
        raise CannotImport(
            f"There is no partner {whose['partner_id']} here: name one with --partner."
        )
    if any(there):
        raise CannotImport(f"The business {manifest.business_id} is here already.")
    [partner] = partners
    return BooksToProve(
        manifest.business_id, manifest.business_name, partner["id"], partner["name"]
    )


async def _load(connection: Connection, package: Package, books: BooksToProve) -> None:
    this = {"business_id": books.id}
    ours, *others = zip(TABLES, package.manifest.tables, strict=True)
    said = await _load_business(connection, package, ours[1], books)
    for table, member in others:
        if table is TRAIL[0]:
            await _send(connection, _LOCK, {**this, "lock_date": said["lock_date"]})
            await _send(connection, _FORGET, this)
        await _stage(connection, package, table, member)
        taken = await take_lines(connection, table, books.id)
        if taken != member.rows:
            raise DamagedPackage(f"{taken} of {member.rows} rows of {table.name} are there.")
    await _send(connection, _TELL, this)
    await execute_pipeline(connection, [CHECK_NOW])


async def _stage(connection: Connection, package: Package, table: Table, member: Member) -> None:
    """Load the lines of a table; raise DamagedPackage for a field that no export has."""
    await await_lines(connection, package.lines(member))
    if (name := await other_field(connection, table)) is not None:
        raise DamagedPackage(f"A row of {table.name} has the field {name[:100]!r} of no export.")


async def _load_business(
    connection: Connection, package: Package, member: Member, books: BooksToProve
) -> Row:
    """Insert the business itself, which reserves its id, and return its exported row."""
    await _stage(connection, package, business, member)
    rows = await _send(connection, _SAID, {})
    if [row["id"] for row in rows] != [books.id]:
        raise DamagedPackage("The file holds another business than it says.")
    if rows[0]["sandbox"] == "template":
        raise CannotImport("Sandboxes are copied from these books; they are no business's own.")
    try:
        await take_business(connection, books.id, books.partner_id)
    except errors.UniqueViolation as error:
        if broken_constraint(error) == business.primary_key.name:
            raise CannotImport(f"The business {books.id} is here already.") from error
        raise CannotImport(
            f"{books.partner_name} has a business with the external id of this one already."
        ) from error
    return rows[0]


@asynccontextmanager
async def _files_kept(
    connection: Connection, package: Package, business_id: UUID, blobs: Blobs
) -> AsyncIterator[None]:
    """Store the files before the commit of their records; on an error, delete them again.

    No other transaction can store files there, because this one holds the id of the business.
    """
    if await _files_of(blobs, business_id):
        raise CannotImport(
            f"Files of the business {business_id} are in the storage already. Where no other"
            " database has it, they were left behind: take them away first."
        )
    try:
        async for said in stored_contents(connection, business_id):
            if not STORAGE_KEY.fullmatch(said.storage_key):
                raise DamagedPackage(f"{said.storage_key!r} is no name of a file.")
            content = package.content(said.storage_key, said.size, said.digest)
            await blobs.put({key_in(business_id, said.storage_key): content})
        package.refuse_more()
        yield
    except BaseException:
        for key in await _files_of(blobs, business_id):
            await blobs.delete(key)
        raise


async def _files_of(blobs: Blobs, business_id: UUID) -> list[str]:
    return [key async for some in blobs.under(str(business_id)) for key, _ in some]


async def _send(connection: Connection, text: LiteralString, parameters: Row) -> list[Row]:
    [result] = await execute_pipeline(connection, [Query(text, parameters)])
    return result.rows
