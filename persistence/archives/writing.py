"""What is kept gets its name last: half of it is never taken for all of it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from persistence.files.blobs import synchronise

UNFINISHED = ".unfinished"


class CannotWrite(Exception):
    """What is kept cannot be written there; the message says why."""


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Lend a name to make a file or folder under; at the end of the block it becomes `target`.

    What fails leaves nothing behind, and what another run has left is taken away first.
    Raises CannotWrite where there is something already, or the disk takes no more.
    """
    draft = target.with_name(target.name + UNFINISHED)
    if target.exists():
        raise CannotWrite(f"{target} is there already: nothing is written over it.")
    if not target.absolute().parent.is_dir():
        raise CannotWrite(f"There is no folder {target.absolute().parent}.")
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
