"""The file format of an exported business: a zip with a text for each table and the documents.

`manifest.json`, written last, lists the members with their digests. Members are streamed; only the
directory of the zip is in memory, half a kB per document.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self
from uuid import UUID

FORMAT: Final = "accounting-business"
FORMAT_VERSION: Final = 1
MANIFEST: Final = "manifest.json"
CHUNK: Final = 1 << 16
MOST_MANIFEST: Final = 1 << 20
MOST_ROW: Final = 16 << 20
MOST_SEAL: Final = 512 << 20  # A row of `audit_seal` grows with the records that it binds.
MOST_CONTENT: Final = 10 << 20
MOST_EXPANSION: Final = 200  # Rows are compressed to a twentieth; each has an id of its own.
EXPANSION_FROM: Final = 1 << 20
STORAGE_KEY: Final = re.compile(r"[0-9a-f]{32}")
_NO_TIME: Final = (1980, 1, 1, 0, 0, 0)  # So that the same books have the same members.


class DamagedPackage(Exception):
    """A file is no export of a business, or was changed; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Member:
    """A text in the file: the rows of one table, one per line."""

    table: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Documents:
    """The contents of stored documents; `sha256` is over their lines as `sha256sum` writes them."""

    files: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The manifest of an export. `sha256` is the digest of all members by `whole_digest`."""

    business_id: UUID
    business_name: str
    partner_id: UUID
    partner_name: str
    revision: str
    product_version: str
    exported_at: str
    newest_seal: Mapping[str, Any] | None
    tables: tuple[Member, ...]
    documents: Documents
    sha256: str

    @property
    def rows(self) -> int:
        """The number of rows of all tables."""
        return sum(each.rows for each in self.tables)


def member_name(table: str) -> str:
    """Return the name of the member with the rows of a table."""
    return f"tables/{table}.ndjson"


def content_name(storage_key: str) -> str:
    """Return the name of the member with the content of a document."""
    return f"documents/{storage_key}"


def whole_digest(tables: tuple[Member, ...], documents: Documents) -> str:
    """Return the digest over the lines of `sha256sum` for all tables, and one for the documents.

    The same books have the same digest in every deployment.
    """
    lines = [f"{each.sha256}  {member_name(each.table)}\n" for each in tables]
    return sha256("".join([*lines, f"{documents.sha256}  documents\n"]).encode()).hexdigest()


class Packer:
    """A writer of such a file, member by member."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        self._tables: list[Member] = []
        self._digest = sha256()
        self._files = self._bytes = 0

    @contextmanager
    def table(self, name: str) -> Iterator["Lines"]:
        """Open the member of a table for writing; yield its lines."""
        with self._zip.open(_info(member_name(name)), "w", force_zip64=True) as member:
            lines = Lines(member)
            yield lines
        self._tables.append(Member(name, lines.count, lines.bytes, lines.digest.hexdigest()))

    def content(self, storage_key: str, content: bytes) -> None:
        """Add the content of a document."""
        name = content_name(storage_key)
        self._zip.writestr(_info(name), content)
        self._digest.update(f"{sha256(content).hexdigest()}  {name}\n".encode())
        self._files += 1
        self._bytes += len(content)

    def finish(self, **facts: Any) -> Manifest:
        """Write the manifest, close the file and return the manifest."""
        tables = tuple(self._tables)
        documents = Documents(self._files, self._bytes, self._digest.hexdigest())
        whole = whole_digest(tables, documents)
        manifest = Manifest(tables=tables, documents=documents, sha256=whole, **facts)
        said = {"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(manifest)}
        self._zip.writestr(_info(MANIFEST), json.dumps(said, default=str, indent=2) + "\n")
        self._zip.close()
        return manifest


class Lines:
    """The lines of one table, counted and digested as they are written."""

    def __init__(self, member: IO[bytes]) -> None:
        self._member = member
        self.count = self.bytes = 0
        self.digest = sha256()

    def write(self, line: bytes) -> None:
        """Write a line, which includes its newline."""
        self._member.write(line)
        self.digest.update(line)
        self.count += 1
        self.bytes += len(line)


class Package:
    """A reader of such a file; any difference from what was written raises DamagedPackage."""

    def __init__(self, path: Path) -> None:
        with _telling_damage():
            self._zip = zipfile.ZipFile(path)
            self.manifest = _manifest(self._read(MANIFEST, MOST_MANIFEST))
            self._contents = self._named_contents()
            for member in self.manifest.tables:
                self._refuse_other_size(member)
        self._digest = sha256()
        self._files = self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._zip.close()

    def lines(self, member: Member) -> Iterator[bytes]:
        """Yield the rows of a table in chunks; the last one only after the digest was verified.

        Raises DamagedPackage before it yields more rows than the manifest names, or a row that is
        too long.
        """
        most = MOST_SEAL if member.table == "audit_seal" else MOST_ROW
        digest, count, size, open_row, held = sha256(), 0, 0, 0, b""
        with _telling_damage(), self._zip.open(member_name(member.table)) as file:
            while chunk := file.read(CHUNK):
                yield held
                digest.update(chunk)
                count, size, held = count + chunk.count(b"\n"), size + len(chunk), chunk
                ended, last = chunk.find(b"\n"), chunk.rfind(b"\n")
                longest = open_row + (len(chunk) if ended < 0 else ended)
                open_row = longest if ended < 0 else len(chunk) - last - 1
                if count > member.rows or longest > most:
                    raise _other_rows(member)
        found = Member(member.table, count, size, digest.hexdigest())
        if found != member:
            raise _other_rows(member)
        yield held

    def content(self, storage_key: str, size: int, digest: str) -> bytes:
        """Read the content of a document and verify its size in bytes and its digest."""
        name = content_name(storage_key)
        if name not in self._contents:
            raise DamagedPackage(f"{name} is not there, or has two records.")
        self._contents.remove(name)
        with _telling_damage():
            content = self._read(name, min(size, MOST_CONTENT))
        if sha256(content).hexdigest() != digest:
            raise DamagedPackage(f"{name} is not what its record says.")
        self._digest.update(f"{digest}  {name}\n".encode())
        self._files += 1
        self._bytes += len(content)
        return content

    def refuse_more(self) -> None:
        """Raise DamagedPackage unless exactly the documents of the manifest were read."""
        read = Documents(self._files, self._bytes, self._digest.hexdigest())
        if read != self.manifest.documents:
            raise DamagedPackage("Its documents are not those that were exported.")

    def _named_contents(self) -> set[str]:
        """Return the names of the documents; raise DamagedPackage for any other member."""
        tables = {member_name(each.table) for each in self.manifest.tables}
        members = [each for each in self._zip.infolist() if each.filename not in tables]
        if len(self._zip.namelist()) - len(members) != len(tables):
            raise DamagedPackage("The file does not have each table of its manifest once.")
        contents = [each for each in members if each.filename != MANIFEST]
        for each in contents:
            folder, _, key = each.filename.partition("/")
            if folder != "documents" or not STORAGE_KEY.fullmatch(key):
                raise DamagedPackage(f"Its manifest does not name {each.filename[:100]!r}.")
        names = {each.filename for each in contents}
        counted = len(contents), sum(each.file_size for each in contents)
        named = self.manifest.documents.files, self.manifest.documents.bytes
        if counted != named or len(names) < len(contents) or len(members) - len(contents) != 1:
            raise DamagedPackage("Its documents are not those that its manifest counts.")
        return names

    def _refuse_other_size(self, member: Member) -> None:
        """Raise DamagedPackage for a table whose size is not named, or that expands too much."""
        info = self._zip.getinfo(member_name(member.table))
        expands = info.file_size > MOST_EXPANSION * info.compress_size + EXPANSION_FROM
        if info.file_size != member.bytes or expands:
            raise _other_rows(member)

    def _read(self, name: str, most: int) -> bytes:
        with self._zip.open(name) as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise DamagedPackage(f"{name} is longer than it should be.")
        return content


def _other_rows(member: Member) -> DamagedPackage:
    return DamagedPackage(f"The rows of {member.table} are not those that were exported.")


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _NO_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


def _manifest(text: bytes) -> Manifest:
    said = json.loads(text)
    if said.pop("format") != FORMAT:
        raise DamagedPackage("This is no export of a business.")
    if (version := said.pop("format_version")) != FORMAT_VERSION:
        raise DamagedPackage(f"The file has format {version}, and this version reads 1.")
    ids: dict[str, Any] = {name: UUID(said.pop(name)) for name in ("business_id", "partner_id")}
    tables = tuple(Member(**each) for each in said.pop("tables"))
    documents = Documents(**said.pop("documents"))
    counts = [
        documents.files,
        documents.bytes,
        *(n for each in tables for n in (each.rows, each.bytes)),
    ]
    if any(type(count) is not int or count < 0 for count in counts):
        raise DamagedPackage("The manifest has a count that is no whole number.")
    manifest = Manifest(**ids, tables=tables, documents=documents, **said)
    if manifest.newest_seal is not None and not manifest.newest_seal.keys() >= {"number", "digest"}:
        raise DamagedPackage("The manifest has a seal without its number and digest.")
    if manifest.sha256 != whole_digest(tables, documents):
        raise DamagedPackage("The digests of the file do not make its digest.")
    return manifest


@contextmanager
def _telling_damage() -> Iterator[None]:
    """Translate the errors of zip, zlib and JSON for a damaged file into DamagedPackage."""
    damages = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, TypeError)
    try:
        yield
    except (*damages, AttributeError, NotImplementedError, RuntimeError) as error:
        raise DamagedPackage(f"The file is damaged or no export of a business: {error}") from error
