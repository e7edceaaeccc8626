"""A zip with one published file, unpacked within limits."""

import zipfile
import zlib
from io import BytesIO
from typing import Final

from libraries.rate_files.day_rates import MOST_BYTES, Unreadable

_MAGIC: Final = b"PK\x03\x04"
_DAMAGES: Final = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, OSError)
# A password, and a compression that Python lacks.
_REFUSALS: Final = (RuntimeError, NotImplementedError)


def is_zip(content: bytes) -> bool:
    """Return whether a file is a zip."""
    return content.startswith(_MAGIC)


def unpacked(content: bytes) -> bytes:
    """Return the only file of a zip; raises Unreadable.

    It reads no more than the limit, whatever size the zip claims, so that a zip of a few kilobytes
    cannot fill the memory.
    """
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            names = archive.namelist()
            if len(names) != 1:
                raise Unreadable(f"is a zip with {len(names)} files in place of one")
            with archive.open(names[0]) as file:
                found = file.read(MOST_BYTES + 1)
    except (*_DAMAGES, *_REFUSALS):
        raise Unreadable("is a damaged zip") from None
    if len(found) > MOST_BYTES:
        raise Unreadable(f"is a zip with more than {MOST_BYTES} bytes")
    return found
