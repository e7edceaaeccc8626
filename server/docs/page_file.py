"""The file that holds the documentation pages: all workers, and later starts, read it.

Rendering takes seconds of processor time; until the file is there, workers render single pages.
The file's name is a digest of what the pages are rendered from, so a changed contract or a new
version of the server gets a file of its own.
"""

import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO, Final

import orjson

from server.contract import document
from server.docs.stored_pages import StoredPage

Pages = Mapping[str, StoredPage]

SERVER: Final = Path(__file__).parents[1]
SECONDS_PER_DAY: Final = 86_400


class PageFile:
    """The file of the current contract and server version in a folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / source_digest()

    @property
    def exists(self) -> bool:
        """Return whether the pages are written."""
        return self.read() is not None

    def write(self, pages: Pages) -> None:
        """Write the pages for all processes, and delete files of other versions after a day.

        Several processes may write the same file; one of them replaces that of the other. The file
        begins with a line of JSON that says where each page is; raises OSError.
        """
        places: dict[str, Any] = {}
        end = 0
        for address, page in pages.items():
            headers = [(name.decode(), value.decode()) for name, value in page.headers]
            sizes = len(page.plain), len(page.packed)
            places[address] = page.media_type.decode(), headers, page.tag, end, *sizes
            end += sum(sizes)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=self.path.parent, delete=False) as file:
            unfinished = Path(file.name)
            try:
                file.write(orjson.dumps(places) + b"\n")
                for page in pages.values():
                    file.write(page.plain)
                    file.write(page.packed)
                file.flush()
                os.fsync(file.fileno())  # After a power cut there is the whole file or none.
                unfinished.replace(self.path)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
        self._delete_others()

    def _delete_others(self) -> None:
        """Delete files that no server has written for a day: another version may run beside."""
        for file in self.path.parent.iterdir():
            with suppress(FileNotFoundError):  # Another server may have deleted it.
                if file != self.path and file.stat().st_mtime < time.time() - SECONDS_PER_DAY:
                    file.unlink()

    def read(self) -> Pages | None:
        """Return the pages once they are written, else None; so for a file that is damaged."""
        try:
            with self.path.open("rb") as file:
                return PagesInFile(file)
        except (OSError, ValueError):
            return None


class PagesInFile(Pages):
    """Pages in the file, which is mapped: all answers of all workers share its bytes.

    Only the offsets of the pages are kept in memory. A file never changes once it is written, and
    remains mapped when it is deleted.
    """

    def __init__(self, file: BinaryIO) -> None:
        line = file.readline()
        self._places = orjson.loads(line)
        self._contents = memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))[len(line) :]

    def __getitem__(self, address: str) -> StoredPage:
        media_type, headers, tag, at, plain, packed = self._places[address]
        content = self._contents[at : at + plain + packed]
        lines = [(name.encode(), value.encode()) for name, value in headers]
        return StoredPage(media_type.encode(), lines, content[:plain], content[plain:], tag)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def source_digest() -> str:
    """Return a digest of the contract and of the server's own files, in hexadecimal."""
    digest = hashlib.sha256(document.read_source())
    for file in sorted(SERVER.rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            digest.update(str(file.relative_to(SERVER)).encode() + file.read_bytes())
    return digest.hexdigest()
