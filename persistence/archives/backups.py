"""A backup of everything: a dump, the roles it needs, the files of documents, and a manifest.

The files match the dump. A file is stored before the record that names it is committed, so every
file that a record of the snapshot names exists when the snapshot is taken. Records of documents are
never deleted, and the sweep deletes only files without a record, so the file still exists when it
is copied. Files that are stored later have no record in the dump and are left out. Only the removal
of sandboxes deletes records with their files: files that it deletes between the dump and the copy
are listed as missing.

SHA256SUMS has a line for each part, in the form of `sha256sum --check`; the manifest has the digest
of SHA256SUMS.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Final, LiteralString

import psycopg
from psycopg.sql import SQL, Identifier

from libraries.embedded.binaries import find_clients
from persistence.archives.atomic_write import written_whole
from persistence.archives.dumps import read_dump, write_dump
from persistence.archives.roles import (
    Sight,
    database_settings,
    full_sight,
    named_roles,
    owner_of,
    roles_made,
    script,
    set_all,
)
from persistence.database.checks import refuse_empty
from persistence.database.distribution import is_distributed
from persistence.engine.connections import connect
from persistence.engine.database_errors import UnusableDatabase
from persistence.files.blobs import BlobStorage, Folder, key_in, synchronise

FORMAT: Final = "accounting-backup"
FORMAT_VERSION: Final = 1
MANIFEST: Final = "manifest.json"
SUMS: Final = "SHA256SUMS"
DUMP: Final = "database.dump"
ROLES: Final = "roles.sql"
DOCUMENTS: Final = "documents"
_SUM: Final = re.compile(r"([0-9a-f]{64})  ([\w./-]+)")
_KEY: Final = re.compile(r"[0-9a-f-]{36}/[0-9a-f]{32}")

Begin = Callable[[str], None]
"""Receives the name of each step that may take a while."""


class DamagedBackup(Exception):
    """A folder is no backup, or was changed since; the message gives the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The manifest of a backup.

    `begun_at` is the time of the snapshot (UTC). `missing` lists recorded files that did not exist,
    and `changed` those with another digest than their record. `logins` are the members of the
    roles.
    """

    product_version: str
    revision: str
    begun_at: str
    ended_at: str
    server_major: int
    programs_major: int
    owner: str
    logins: list[str]
    settings: list[str]
    rows: dict[str, int]
    files: int
    bytes: int
    missing: list[str]
    changed: list[str]
    sums_sha256: str

    @property
    def holds(self) -> bool:
        """Return whether all recorded files exist and have the digests of their records."""
        return not self.missing and not self.changed


# ── Writing a backup ───────────────────────────────────────────────────────────────────────────


def back_up(
    url: str, storage: BlobStorage, target: Path, product_version: str, begin: Begin
) -> Manifest:
    """Write a backup to a new folder, with the login that owns the schema.

    Raises CannotWrite, UnusableDatabase, EmbeddedError, StorageUnavailable or OSError.
    """
    with connect(url) as connection:
        refuse_empty(connection)
        if is_distributed(connection):
            raise UnusableDatabase(
                "The tables are spread over the machines of a cluster, of which no dump has one"
                " moment: back up its machines together, as docs/many-machines.md says."
            )
        major = connection.info.server_version // 10_000
        programs = find_clients(major)
        sight = full_sight(connection)
        roles = named_roles(connection)
        with written_whole(target) as draft, _snapshot(connection, sight) as snapshot:
            draft.mkdir(mode=0o700)
            facts = _facts(connection)
            (draft / ROLES).write_text(script(roles, facts["owner"]))
            begin("Dumping the database")
            write_dump(programs, url, draft / DUMP, snapshot, sight)
            begin("Copying the files of documents")
            with (draft / SUMS).open("w") as sums:
                for part in (DUMP, ROLES):
                    sums.write(f"{_digest(draft / part)}  {part}\n")
                copied = _copied(connection, storage, Folder(draft / DOCUMENTS), sums.write)
            manifest = Manifest(
                product_version=product_version,
                server_major=major,
                programs_major=programs.major,
                ended_at=datetime.now(UTC).isoformat(),
                sums_sha256=_digest(draft / SUMS),
                logins=sorted({login for role in roles for login in role.logins}),
                **facts,
                **copied,
            )
            said = {"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(manifest)}
            (draft / MANIFEST).write_text(json.dumps(said, indent=2) + "\n")
            _secure(draft)
    return manifest


@contextmanager
def _snapshot(connection: psycopg.Connection, sight: Sight) -> Iterator[str]:
    """Open a transaction with a snapshot of the whole database; yield the snapshot's name."""
    connection.execute("SET idle_in_transaction_session_timeout = 0")
    connection.execute("SET statement_timeout = 0")
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    try:
        for statement in sight.statements:
            connection.execute(statement)
        [(snapshot,)] = connection.execute("SELECT pg_export_snapshot()").fetchall()
        yield snapshot
    finally:
        connection.execute("ROLLBACK")


def _facts(connection: psycopg.Connection) -> dict[str, Any]:
    [(revision, moment)] = connection.execute(
        "SELECT version_num, transaction_timestamp() FROM alembic_version"
    ).fetchall()
    return {
        "revision": revision,
        "owner": owner_of(connection),
        "begun_at": moment.astimezone(UTC).isoformat(),
        "settings": database_settings(connection),
        "rows": rows_in(connection),
    }


def rows_in(connection: psycopg.Connection) -> dict[str, int]:
    """Count the rows of each table."""
    tables = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        " AND relkind IN ('r', 'p') ORDER BY 1"
    ).fetchall()
    counting: LiteralString = "SELECT count(*) FROM {}"
    return {
        name: connection.execute(SQL(counting).format(Identifier(name))).fetchall()[0][0]
        for (name,) in tables
    }


def recorded_files(connection: psycopg.Connection) -> Iterator[tuple[str, str]]:
    """Yield the key and the digest of each file that a record names, in an open transaction."""
    with connection.cursor(name="recorded_files") as cursor:
        cursor.itersize = 1_000
        cursor.execute(
            "SELECT business_id, storage_key, sha256 FROM stored_document ORDER BY business_id, id"
        )
        for business_id, storage_key, digest in cursor:
            yield key_in(business_id, storage_key), digest


def _copied(
    connection: psycopg.Connection,
    storage: BlobStorage,
    folder: Folder,
    write: Callable[[str], object],
) -> dict[str, Any]:
    """Copy every recorded file to the folder; return the counts and faults for the manifest."""
    files = size = 0
    missing, changed = list[str](), list[str]()
    for key, recorded in recorded_files(connection):
        content = storage.get(key)
        if content is None:
            missing.append(key)
            continue
        digest = sha256(content).hexdigest()
        if digest != recorded:
            changed.append(key)
        folder.put(key, content)
        write(f"{digest}  {DOCUMENTS}/{key}\n")
        files, size = files + 1, size + len(content)
    return {"files": files, "bytes": size, "missing": missing, "changed": changed}


def _secure(folder: Path) -> None:
    """Sync the parts of a backup to the disk; `put` has already synced the documents."""
    for name in (DUMP, ROLES, SUMS, MANIFEST):
        descriptor = os.open(folder / name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fchmod(descriptor, 0o600)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    synchronise(folder)


# ── Reading a backup ───────────────────────────────────────────────────────────────────────────


def opened_backup(source: Path) -> Manifest:
    """Read the manifest of a backup and verify the dump and the roles; raises DamagedBackup."""
    try:
        said = json.loads((source / MANIFEST).read_text())
        if said.pop("format") != FORMAT or said.pop("format_version") != FORMAT_VERSION:
            raise DamagedBackup(f"{source} is no backup that this version reads.")
        manifest = Manifest(**said)
        if _digest(source / SUMS) != manifest.sums_sha256:
            raise DamagedBackup(f"{SUMS} of {source} is not what was written.")
        with (source / SUMS).open() as sums:
            for line in (sums.readline(), sums.readline()):
                digest, name = _sum(line)
                if _digest(source / name) != digest:
                    raise DamagedBackup(f"{name} of {source} is not what was written.")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedBackup(f"{source} is no whole backup: {error}") from error
    return manifest


def restore_database(url: str, source: Path, manifest: Manifest, begin: Begin) -> None:
    """Restore the database of a backup into an empty one, with the login that will own the schema.

    Raises UnusableDatabase or EmbeddedError.
    """
    programs = find_clients(manifest.programs_major)
    refuse_filled(url)
    with connect(url) as connection:
        refuse_older_server(connection.info.server_version // 10_000, manifest)
        begin("Restoring the database")
        with roles_made(connection, (source / ROLES).read_text(), manifest.owner):
            read_dump(programs, url, source / DUMP)
        set_all(connection, manifest.settings)
        begin("Gathering statistics")
        connection.execute("ANALYZE")


_FILLED = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname NOT IN ('information_schema') AND n.nspname !~ '^pg_'
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY 1 LIMIT 1
"""


def refuse_filled(url: str) -> None:
    """Raise UnusableDatabase if a database is not empty."""
    with connect(url) as connection:
        found = connection.execute(_FILLED).fetchone()
    if found is not None:
        raise UnusableDatabase(
            f"The database is not empty (it has {found[0]}): a backup is restored into a new one."
        )


def refuse_older_server(major: int, manifest: Manifest) -> None:
    """Raise UnusableDatabase if the server is older than the server of the backup."""
    if major < manifest.server_major:
        raise UnusableDatabase(
            f"The backup is of PostgreSQL {manifest.server_major}, and this one is {major}: restore"
            " it into one that is as new or newer."
        )


def restore_files(source: Path, storage: BlobStorage) -> tuple[int, int]:
    """Copy the files of a backup to a storage; return the numbers of new and of existing files.

    It may be repeated, and it runs before their records are restored. Raises DamagedBackup if a
    file of the backup is damaged, or if the storage has another content under its key.
    """
    put = there = 0
    kept = Folder(source / DOCUMENTS)
    for digest, key in _listed_files(source):
        content = kept.get(key)
        if content is None or sha256(content).hexdigest() != digest:
            raise DamagedBackup(f"{DOCUMENTS}/{key} of {source} is not what was written.")
        standing = storage.get(key)
        if standing is None:
            storage.put(key, content)
            put += 1
        elif standing == content:
            there += 1
        else:
            raise DamagedBackup(f"{storage.place} has another file as {key}, which stays.")
    return put, there


def files_not_as_recorded(connection: psycopg.Connection, source: Path) -> Iterator[str]:
    """Yield the keys of recorded files that the backup lacks or has with another digest."""
    kept = Folder(source / DOCUMENTS)
    with connection.transaction():
        for key, digest in recorded_files(connection):
            content = kept.get(key)
            if content is None or sha256(content).hexdigest() != digest:
                yield key


def _listed_files(source: Path) -> Iterator[tuple[str, str]]:
    with (source / SUMS).open() as sums:
        for line in sums:
            digest, name = _sum(line)
            if name in (DUMP, ROLES):
                continue
            key = name.removeprefix(f"{DOCUMENTS}/")
            if not _KEY.fullmatch(key):
                raise DamagedBackup(f"{name} is no name of a file.")
            yield digest, key


def _sum(line: str) -> tuple[str, str]:
    found = _SUM.fullmatch(line.rstrip("\n"))
    if found is None:
        raise DamagedBackup(f"{SUMS} has a line that says nothing: {line!r}.")
    return found[1], found[2]


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()
