"""The end of a command that fails."""

import sys
from typing import NoReturn


def end_with(error: Exception) -> NoReturn:
    """Print an error that an operator can fix and exit with 2; raise any other error again."""
    told = mendable(error)
    if told is None:
        raise error
    sys.stderr.write(f"accounting: {told}\n")
    sys.exit(2)


def mendable(error: Exception) -> Exception | None:
    """Return an error that an operator can fix; None if the error is a defect of this program.

    The message of the returned error is written for operators. The known error classes are imported
    here, so that a command that succeeds does not load them.
    """
    from accounting.errors import ApiError, Unavailable
    from cli.demo.client import DemoFailed
    from cli.partners import NotConfirmed
    from libraries.embedded.errors import EmbeddedError
    from persistence.archives.atomic_write import CannotWrite
    from persistence.archives.backups import DamagedBackup
    from persistence.archives.exports import CannotExport
    from persistence.archives.imports import CannotImport
    from persistence.archives.package import DamagedPackage
    from persistence.engine.database_errors import UnsafeDatabase, UnusableDatabase, away
    from persistence.files.blobs import StorageUnavailable, UnusableFileStore
    from server.config.settings import SettingsError
    from server.process.master import CannotServe
    from tools.verify.run import CannotVerify

    databases = (EmbeddedError, UnsafeDatabase, UnusableDatabase)
    commands = (CannotServe, CannotVerify, DemoFailed, NotConfirmed)
    files = (UnusableFileStore, StorageUnavailable, CannotWrite)
    moves = (CannotExport, CannotImport, DamagedPackage, DamagedBackup)
    known = (SettingsError, *commands, *databases, *files, *moves, ApiError)
    cause = error.__cause__ if isinstance(error, Unavailable) else error  # Is for partners.
    if isinstance(cause, Exception) and (told := away(cause)):
        return told
    return error if isinstance(error, known) else None
