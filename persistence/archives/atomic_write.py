"""Atomic creation of files and folders: an incomplete one never has the final name."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from persistence.files.blobs import synchronise

UNFINISHED = ".unfinished"


class CannotWrite(Exception):
    """An archive cannot be written there; the message gives the reason."""


def refuse_taken(target: Path) -> None:
    """Raise CannotWrite if a file or folder exists at `target`, or has no parent folder."""
    if target.exists():
        raise CannotWrite(f"{target} is there already: nothing is written over it.")
    if not target.absolute().parent.is_dir():
        raise CannotWrite(f"There is no folder {target.absolute().parent}.")


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Yield a draft path for a file or folder, which is renamed to `target` after the block.

    An error deletes the draft, and the draft of an interrupted run is deleted first. Raises
    CannotWrite if `target` exists, has no parent folder, or cannot be written.
    """
    draft = target.with_name(target.name + UNFINISHED)
    refuse_taken(target)
    _remove(draft)
    try:
        yield draft
        draft.rename(target)
    except BaseException as error:
        _remove(draft)
        if isinstance(error, OSError):
            raise CannotWrite(f"{target} cannot be written: {error}") from error
        raise
    synchronise(target.absolute().parent)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
        return
    with suppress(FileNotFoundError):
        path.unlink()
