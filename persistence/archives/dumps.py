"""Dumps of a database, written and restored by the client programs of PostgreSQL."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from libraries.embedded.binaries import Programs
from persistence.archives.roles import Sight
from persistence.database import rights
from persistence.engine.database_errors import UnusableDatabase

# pg_restore from 17 on sets this first; a server before 17 does not know it.
_UNKNOWN_BEFORE_17: Final = b"SET transaction_timeout = 0;\n"
_OPENING_LINES: Final = 40  # The setting is among these.


def write_dump(programs: Programs, url: str, target: Path, snapshot: str, sight: Sight) -> None:
    """Write a dump of all rows of a snapshot to the target file.

    Raises UnusableDatabase with the message of pg_dump.
    """
    arguments = ["--format=custom", f"--snapshot={snapshot}", f"--file={target}"]
    if sight.role is not None:
        arguments.append(f"--role={sight.role}")
    if sight.all_meant:  # Otherwise pg_dump refuses tables whose policies may hide rows.
        arguments.append("--enable-row-security")
        options = str(conninfo_to_dict(url).get("options", ""))
        url = make_conninfo(url, options=f"{options} -c {rights.SETTING}=on")
    command, environment = _command(programs, "pg_dump", url, *arguments)
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    _refuse_failure("pg_dump", done.returncode, done.stderr)


def read_dump(programs: Programs, url: str, source: Path) -> None:
    """Restore a dump in one transaction; this login owns everything in it.

    Raises UnusableDatabase with the message of psql or pg_restore.
    """
    reader = [str(programs.folder / "pg_restore"), "--no-owner", "--file=-", str(source)]
    arguments = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]
    writer, environment = _command(programs, "psql", url, *arguments)
    with (
        TemporaryFile() as complaints,
        TemporaryFile() as said,
        subprocess.Popen(
            reader, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints
        ) as reading,
        subprocess.Popen(
            writer,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
        ) as writing,
    ):
        assert reading.stdout is not None
        assert writing.stdin is not None
        with suppress(BrokenPipeError):  # psql has ended, and its error output gives the reason.
            _hand_on(reading.stdout, writing.stdin)
            if reading.wait() == 0:  # Otherwise psql ends without COMMIT, which rolls back.
                writing.stdin.write(b"COMMIT;\n")
            writing.stdin.close()
        reading.stdout.close()
        _refuse_failure("psql", writing.wait(), _told(said))
        _refuse_failure("pg_restore", reading.wait(), _told(complaints))


def _hand_on(script: IO[bytes], into: IO[bytes]) -> None:
    """Copy a script to psql after BEGIN, without the setting that servers before 17 refuse."""
    into.write(b"BEGIN;\n")
    for _ in range(_OPENING_LINES):
        line = script.readline()
        if line != _UNKNOWN_BEFORE_17:
            into.write(line)
    shutil.copyfileobj(script, into)


def _told(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _command(
    programs: Programs, program: str, url: str, *arguments: str
) -> tuple[list[str], Mapping[str, str]]:
    """Return the command line and the environment of a program.

    The password is in the environment: other users can read command lines.
    """
    told = conninfo_to_dict(url)
    password = told.pop("password", None)
    environment = {**os.environ, **({"PGPASSWORD": str(password)} if password else {})}
    address = make_conninfo("", **told)
    return [
        str(programs.folder / program),
        *arguments,
        "--no-password",
        f"--dbname={address}",
    ], environment


def _refuse_failure(program: str, code: int, said: bytes) -> None:
    if code != 0:
        text = said.decode(errors="replace").strip() or f"it ended with {code}"
        raise UnusableDatabase(f"{program} failed: {text[-1000:]}")
