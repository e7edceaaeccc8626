"""How a command ends that failed."""

import sys
from typing import NoReturn


def end_with(error: Exception) -> NoReturn:
    """Tell what an operator can mend, and leave; raise the error where it is a fault of ours."""
    told = mendable(error)
    if told is None:
        raise error
    sys.stderr.write(f"accounting: {told}\n")
    sys.exit(2)


def mendable(error: Exception) -> Exception | None:
    """Return a failure that an operator can mend, in words for one; None for a fault of ours.

    What it compares with is loaded only when there is a failure.
    """
    from accounting.errors import Refusal, Unavailable
    from cli.demo.client import DemoFailed
    from cli.partners import NotConfirmed
    from embedded.errors import EmbeddedError
    from persistence.archives.backups import DamagedBackup
    from persistence.archives.exports import CannotExport
    from persistence.archives.imports import CannotImport
    from persistence.archives.package import DamagedPackage
    from persistence.archives.writing import CannotWrite
    from persistence.engine.faults import UnsafeDatabase, UnusableDatabase, away
    from persistence.files.blobs import StorageUnavailable, UnusableFileStore
    from server.process.master import CannotServe
    from server.settings import SettingsError
    from verify.run import CannotVerify

    databases = (EmbeddedError, UnsafeDatabase, UnusableDatabase)
    commands = (CannotServe, CannotVerify, DemoFailed, NotConfirmed)
    files = (UnusableFileStore, StorageUnavailable, CannotWrite)
    moves = (CannotExport, CannotImport, DamagedPackage, DamagedBackup)
    known = (SettingsError, *commands, *databases, *files, *moves, Refusal)
    cause = error.__cause__ if isinstance(error, Unavailable) else error  # It speaks to partners.
    if isinstance(cause, Exception) and (told := away(cause)):
        return told
    return error if isinstance(error, known) else None
