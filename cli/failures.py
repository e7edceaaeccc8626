"""The end of a command that fails."""

import sys
from typing import Final, NoReturn

# The errors whose messages are written for operators. They are named and not imported: an error
# that was raised has its module loaded, and to load all of them would take seconds.
MENDABLE: Final = frozenset(
    {
        "accounting.errors.ApiError",
        "cli.demo.client.DemoFailed",
        "cli.partners.NotConfirmed",
        "libraries.embedded.errors.EmbeddedError",
        "persistence.archives.atomic_write.CannotWrite",
        "persistence.archives.backups.DamagedBackup",
        "persistence.archives.exports.CannotExport",
        "persistence.archives.imports.CannotImport",
        "persistence.archives.package.DamagedPackage",
        "persistence.engine.database_errors.UnsafeDatabase",
        "persistence.engine.database_errors.UnusableDatabase",
        "persistence.files.blobs.StorageUnavailable",
        "persistence.files.blobs.UnusableFileStore",
        "server.config.settings.SettingsError",
        "server.process.master.CannotServe",
        "tools.verify.run.CannotVerify",
    }
)


def end_with(error: Exception) -> NoReturn:
    """Print an error that an operator can fix and exit with 2; raise any other error again."""
    told = mendable(error)
    if told is None:
        raise error
    sys.stderr.write(f"accounting: {told}\n")
    sys.exit(2)


def mendable(error: Exception) -> Exception | None:
    """Return an error that an operator can fix; None if the error is a defect of this program."""
    # An API error for a database that is away is written for partners; its cause is not.
    cause = error.__cause__ if "accounting.errors.Unavailable" in names_of(error) else error
    if isinstance(cause, Exception) and "psycopg" in sys.modules:
        from persistence.engine.database_errors import away

        if told := away(cause):
            return told
    return None if MENDABLE.isdisjoint(names_of(error)) else error


def names_of(error: Exception) -> set[str]:
    """Return the full names of the classes of an error."""
    return {f"{each.__module__}.{each.__qualname__}" for each in type(error).__mro__}
