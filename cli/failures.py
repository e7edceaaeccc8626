"""The end of a command that fails."""

import sys
from typing import Any, Final, NoReturn

# The errors whose messages are written for operators. They are named and not imported: an error
# that was raised has its module loaded, and to load all of them would take seconds.
MENDABLE: Final = frozenset(
    {
        "accounting.errors.ApiError",
        "cli.demo.client.DemoFailed",
        "cli.databases.NoBooks",
        "cli.named_records.UnknownRecord",
        "cli.partners.NotConfirmed",
        "cli.rate_import.CannotReadRates",
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
        "tools.mcp.client.CannotStart",
        "tools.verify.run.CannotVerify",
    }
)


MOST_SHOWN = 80  # The most characters of a wrong value that are repeated.


def end_with(error: Exception) -> NoReturn:
    """Print an error that an operator can fix and exit with 2; raise any other error again."""
    names = names_of(error)
    if "typer.exceptions.Abort" in names:
        sys.stderr.write("Aborted.\n")
        sys.exit(1)
    if type(error).__name__ == "NoArgsIsHelpError":  # The help is printed already.
        sys.exit(2)
    wrong_use = "typer.exceptions.TyperException" in names
    told = misuse(error) if wrong_use else mendable(error)
    if told is None:
        raise error
    sys.stderr.write(f"accounting: {told}\n")
    sys.exit(2)


def misuse(error: Any) -> str:
    """Return a wrong use of the command line as a sentence: parameter, value, reason, and help."""
    param, context = getattr(error, "param", None), getattr(error, "ctx", None)
    if param is None:
        told = " ".join(error.format_message().split())
    else:
        is_option = param.opts[0].startswith("-")
        name = param.opts[0] if is_option else param.name.upper()
        reason = error.message.removeprefix("Value error, ").replace("Input ", "it ", 1)
        told = f"{name}{_refused_value(error)}: {reason}" if reason else f"{name} is missing"
    where = f" (see {context.command_path} --help)" if context else ""
    return f"{told.rstrip('.')}{where}."


def _refused_value(error: Exception) -> str:
    """Return the value that pydantic refused, as text to follow the name of the parameter."""
    faults = getattr(error.__cause__, "errors", None)
    if faults is None:
        return ""
    value = repr(faults()[0]["input"])
    shown = value if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]}..."
    return f" {shown} is refused"


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
