"""Pages in a file that processes share.

It imports no other module of the server, since it is loaded before the contract is read.
"""

import os
import pickle
from collections.abc import Iterator, Mapping
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from server.docs.stored_pages import StoredPage

NUMBER_BYTES: Final = 8

Pages = Mapping[str, "StoredPage"]


class SharedPages:
    """Pages that one process writes for all processes forked from the creator of this object.

    The file begins with two numbers: the offset of its index and the length of the index.
    """

    def __init__(self) -> None:
        with TemporaryFile() as file:  # It has no name, and is deleted with its last user.
            self._file = os.dup(file.fileno())

    def write(self, pages: Pages) -> None:
        """Write the pages for the other processes."""
        places: dict[str, tuple[int, int]] = {}
        end = 2 * NUMBER_BYTES
        for address, page in pages.items():
            places[address] = end, self._put(page, end)
            end += places[address][1]
        length = self._put(places, end)
        numbers = end.to_bytes(NUMBER_BYTES) + length.to_bytes(NUMBER_BYTES)
        os.pwrite(self._file, numbers, 0)  # Now it is complete.

    def _put(self, value: Any, at: int) -> int:
        content = pickle.dumps(value)
        return os.pwrite(self._file, content, at)

    def read(self) -> Pages | None:
        """Return the pages once they are written, else None."""
        numbers = os.pread(self._file, 2 * NUMBER_BYTES, 0)
        at = int.from_bytes(numbers[:NUMBER_BYTES])
        length = int.from_bytes(numbers[NUMBER_BYTES:])
        if length == 0:
            return None
        return PagesInFile(self._file, pickle.loads(os.pread(self._file, length, at)))


class PagesInFile(Pages):
    """Pages read from the file on access; only their offsets are kept in memory."""

    def __init__(self, file: int, places: Mapping[str, tuple[int, int]]) -> None:
        self._file = file
        self._places = places

    def __getitem__(self, address: str) -> "StoredPage":
        at, length = self._places[address]
        page: StoredPage = pickle.loads(os.pread(self._file, length, at))
        return page

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
