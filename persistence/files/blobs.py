"""Contents of stored documents, by key: one small interface over a folder or an object store.

A content is put once, never changed, and is safe on its medium when `put` returns. Whatever keeps
a store from answering is said as Unavailable; the cause stands in the log.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import Final, Protocol, TypeVar
from uuid import UUID

import structlog

from accounting.errors import Unavailable
from accounting.values import dataclass

T = TypeVar("T")

# A writing keeps its locks while its contents are put, and PostgreSQL gives it up after 15 s.
ANSWER_SECONDS: Final = 10.0
UNFINISHED: Final = ".part"
BATCH: Final = 1_000  # Keys: of a bucket, what one request lists.


class StorageUnavailable(Exception):
    """A store does not answer, or refuses; the message says why, to an operator."""


class UnusableFileStore(Exception):
    """Nothing can be kept where files belong; the message says where and why, to an operator."""


class BlobStorage(Protocol):
    """Where contents lie. Its methods block, and raise StorageUnavailable or OSError."""

    @property
    def place(self) -> str:
        """Where that is, in words for an operator."""

    def seems_writable(self) -> bool | None:
        """Tell in no time whether contents can be put; None where only a request would tell."""

    def put(self, key: str, content: bytes) -> None:
        """Keep a content; it is there after a crash that follows the return."""

    def get(self, key: str) -> bytes | None:
        """Return a content; None where there is none."""

    def delete(self, key: str) -> None:
        """Take a content away; one that is not there is no fault."""

    def under(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        """List the keys below a prefix, and when each was put."""


class Blobs:
    """The contents of all businesses, as the other modules reach them."""

    def __init__(self, storage: BlobStorage) -> None:
        self._storage = storage

    async def put(self, contents: Mapping[str, bytes]) -> None:
        """Keep contents by their keys, all or none; raises Unavailable."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                for key, content in contents.items():
                    await asyncio.to_thread(self._storage.put, key, content)
        except TimeoutError as error:
            # Whoever waits holds locks, and a storage that hangs would not take it away either.
            _report_leftover(contents)
            raise _unavailable(error) from error
        except (StorageUnavailable, OSError) as error:
            await self.drop(contents)
            raise _unavailable(error) from error
        except BaseException:
            await self.drop(contents)
            raise

    async def get(self, key: str) -> bytes | None:
        """Return a content, None where there is none; raises Unavailable."""
        return await self._fetch(lambda: self._storage.get(key))

    async def delete(self, key: str) -> None:
        """Take a content away; raises Unavailable."""
        await self._fetch(lambda: self._storage.delete(key))

    async def under(self, prefix: str) -> AsyncIterator[list[tuple[str, datetime]]]:
        """List the keys below a prefix, and when each was put, a batch at a time.

        All of it may take long, so that no request asks for it; whoever has to stop does so after a
        batch. Raises Unavailable.
        """
        left = self._storage.under(prefix)
        try:
            while some := await asyncio.to_thread(lambda: list(islice(left, BATCH))):
                yield some
        except (StorageUnavailable, OSError) as error:
            raise _unavailable(error) from error

    async def seem_writable(self) -> bool | None:
        """Tell whether contents can be put, as far as that is known without a request."""
        return await asyncio.to_thread(self._storage.seems_writable)

    async def drop(self, contents: Mapping[str, bytes]) -> None:
        """Take away what no record names; what cannot be reached is left for the sweep."""
        try:
            for key in contents:
                await self.delete(key)
        except Unavailable:
            _report_leftover(contents)

    async def _fetch(self, fetch: Callable[[], T]) -> T:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await asyncio.to_thread(fetch)
        except (StorageUnavailable, OSError) as error:
            raise _unavailable(error) from error


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of this machine, with one folder for each business in it."""

    root: Path

    @property
    def place(self) -> str:
        """Where it is."""
        return str(self.root)

    def seems_writable(self) -> bool:
        """Ask the system; a folder that has gone away is not writable."""
        return os.access(self.root, os.R_OK | os.W_OK | os.X_OK)

    def put(self, key: str, content: bytes) -> None:
        """Write it beside its place, and move it there when it is safe on the disk.

        What was written is synchronised, and then the folder that names it: a file without its name
        would be as lost as a name without its file.
        """
        place = self.root / key
        make_folder(place.parent)
        draft = place.with_name(place.name + UNFINISHED)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with open(os.open(draft, flags, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            draft.rename(place)
        except BaseException:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise
        synchronise(place.parent)

    def get(self, key: str) -> bytes | None:
        """Read a file."""
        try:
            return (self.root / key).read_bytes()
        except FileNotFoundError:
            return None

    def delete(self, key: str) -> None:
        """Remove a file."""
        (self.root / key).unlink(missing_ok=True)

    def under(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        """List the files of a folder, those that were never finished as well."""
        try:
            files = list(os.scandir(self.root / prefix))
        except FileNotFoundError:
            return
        for file in files:
            with suppress(FileNotFoundError):  # It has just been finished, or taken away.
                yield f"{prefix}/{file.name}", datetime.fromtimestamp(file.stat().st_mtime, UTC)


def refuse_unwritable(storage: BlobStorage) -> None:
    """Put a small content and take it away again; raises UnusableFileStore."""
    storage = copy(storage)  # What it opens meanwhile stays with this one.
    key = f"start-check-{new_key()}"
    try:
        storage.put(key, b"")
        storage.delete(key)
    except (StorageUnavailable, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UnusableFileStore(f"Files cannot be kept in {storage.place}: {reason}.") from error


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, each of them safe on the disk."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    synchronise(folder.parent)


def synchronise(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def new_key() -> str:
    """Make a key that says nothing and that nobody guesses."""
    return token_hex(16)


def key_in(business_id: UUID, storage_key: str) -> str:
    """Say where a content of a business lies."""
    return f"{business_id}/{storage_key}"


def _report_leftover(contents: Mapping[str, bytes]) -> None:
    structlog.get_logger("accounting.documents").warning("left_behind", keys=sorted(contents))


def _unavailable(error: Exception) -> Unavailable:
    structlog.get_logger("accounting.documents").error(
        "storage_out_of_reach", reason=f"{type(error).__name__}: {error}"[:500]
    )
    return Unavailable(
        "service_unavailable",
        "Files cannot be stored or read right now. Repeat the request with its Idempotency-Key.",
        retry_after_seconds=1,
    )
