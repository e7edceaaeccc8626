"""Contents of stored documents by key: one interface for a folder and an object store.

A content is written once, never changed, and durable when `put` returns. Every failure of the
storage is raised as Unavailable; its cause is in the log.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import Final, Protocol, TypeVar
from uuid import UUID

import structlog

from accounting.errors import Outage, Unavailable

T = TypeVar("T")

# A write keeps its locks while its contents are stored, and PostgreSQL aborts it after 15 s.
ANSWER_SECONDS: Final = 10.0
UNFINISHED: Final = ".part"
BATCH: Final = 1_000  # Keys; a bucket lists as many per request.


class StorageUnavailable(Exception):
    """A storage does not answer, or refuses; the message gives an operator the reason."""


class UnusableFileStore(Exception):
    """Files cannot be stored; the message gives an operator the place and the reason."""


class BlobStorage(Protocol):
    """A storage of contents. Its methods block, and raise StorageUnavailable or OSError."""

    @property
    def place(self) -> str:
        """The location of the storage, in words for an operator."""

    def seems_writable(self) -> bool | None:
        """Return whether contents can be stored; None if only a request could show it."""

    def put(self, key: str, content: bytes) -> None:
        """Store a content; it survives a crash after the return."""

    def get(self, key: str) -> bytes | None:
        """Return a content; None if there is none."""

    def delete(self, key: str) -> None:
        """Delete a content; a missing one is no error."""

    def under(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        """List the keys below a prefix with the time of each."""


class Blobs:
    """The asynchronous interface to the contents of all businesses."""

    def __init__(self, storage: BlobStorage) -> None:
        self._storage = storage

    async def put(self, contents: Mapping[str, bytes]) -> None:
        """Store contents by their keys, all or none; raises Unavailable."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                for key, content in contents.items():
                    await asyncio.to_thread(self._storage.put, key, content)
        except TimeoutError as error:
            # No clean-up here: the transaction holds locks, and a hanging storage would not delete.
            _report_leftover(contents)
            raise _unavailable(error) from error
        except (StorageUnavailable, OSError) as error:
            await self.drop(contents)
            raise _unavailable(error) from error
        except BaseException:
            await self.drop(contents)
            raise

    async def get(self, key: str) -> bytes | None:
        """Return a content, or None if there is none; raises Unavailable."""
        return await self._fetch(lambda: self._storage.get(key))

    async def delete(self, key: str) -> None:
        """Delete a content; raises Unavailable."""
        await self._fetch(lambda: self._storage.delete(key))

    async def under(self, prefix: str) -> AsyncIterator[list[tuple[str, datetime]]]:
        """Yield the keys below a prefix with the time of each, in batches.

        The whole list may take long, so no request reads it; the caller may stop after any batch.
        Raises Unavailable.
        """
        left = self._storage.under(prefix)
        try:
            while some := await asyncio.to_thread(lambda: list(islice(left, BATCH))):
                yield some
        except (StorageUnavailable, OSError) as error:
            raise _unavailable(error) from error

    async def seem_writable(self) -> bool | None:
        """Return whether contents can be stored; None if only a request could show it."""
        return await asyncio.to_thread(self._storage.seems_writable)

    async def drop(self, contents: Mapping[str, bytes]) -> None:
        """Delete contents without a record; if the storage is unavailable, the sweep does later."""
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
    """A local folder, with one subfolder for each business."""

    root: Path

    @property
    def place(self) -> str:
        """The path of the folder."""
        return str(self.root)

    def seems_writable(self) -> bool:
        """Return whether this process may write to the folder; False if it does not exist."""
        return os.access(self.root, os.R_OK | os.W_OK | os.X_OK)

    def put(self, key: str, content: bytes) -> None:
        """Write the content to a draft file, sync it, and rename it to its key.

        The folder is synced as well, since a file without its directory entry would be lost.
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
        """Read a file; None if it does not exist."""
        try:
            return (self.root / key).read_bytes()
        except FileNotFoundError:
            return None

    def delete(self, key: str) -> None:
        """Remove a file."""
        (self.root / key).unlink(missing_ok=True)

    def under(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        """List the files of a folder with their times, unfinished drafts included."""
        try:
            files = list(os.scandir(self.root / prefix))
        except FileNotFoundError:
            return
        for file in files:
            with suppress(FileNotFoundError):  # It was just finished or deleted.
                yield f"{prefix}/{file.name}", datetime.fromtimestamp(file.stat().st_mtime, UTC)


def refuse_unwritable(storage: BlobStorage) -> None:
    """Store an empty content and delete it again; raises UnusableFileStore."""
    storage = copy(storage)  # Connections that it opens stay with the copy.
    key = f"start-check-{new_key()}"
    try:
        storage.put(key, b"")
        storage.delete(key)
    except (StorageUnavailable, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UnusableFileStore(f"Files cannot be kept in {storage.place}: {reason}.") from error


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, and sync each of them to the disk."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    synchronise(folder.parent)


def synchronise(folder: Path) -> None:
    """Sync the directory entries of a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def new_key() -> str:
    """Create a random key that cannot be guessed."""
    return token_hex(16)


def key_in(business_id: UUID, storage_key: str) -> str:
    """Return the full key of a content of a business."""
    return f"{business_id}/{storage_key}"


def _report_leftover(contents: Mapping[str, bytes]) -> None:
    structlog.get_logger("accounting.documents").warning("left_behind", keys=sorted(contents))


def _unavailable(error: Exception) -> Outage:
    structlog.get_logger("accounting.documents").error(
        "storage_out_of_reach", reason=f"{type(error).__name__}: {error}"[:500]
    )
    return Outage(
        "service_unavailable", "Files cannot be stored or read now.", retry_after_seconds=1
    )
