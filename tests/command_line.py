"""The command line under test, in an environment of its own."""

import json
import multiprocessing
import os
import sys
from dataclasses import dataclass
from multiprocessing.reduction import DupFd
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from cli.main import main

ACCOUNTING = str(Path(sys.executable).with_name("accounting"))
# Loading the product takes longer than most commands, so each is a fork of a loaded process.
FORKS = multiprocessing.get_context("forkserver")
# Typer loads its adapters, and pydantic with them, with the first argument.
LOADED = ["server.app", "persistence.database.migrate", "typer._adapters", __name__]
FORKS.set_forkserver_preload(LOADED)


@dataclass(frozen=True)
class CommandResult:
    """The output and the exit code of a command."""

    code: int
    out: str
    err: str

    @property
    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.out)
        return facts


@dataclass(frozen=True)
class CommandLine:
    """The command `accounting` on a data folder and, if one is given, a database."""

    folder: Path
    database_url: str | None = None

    def environment(self, **more: str) -> dict[str, str]:
        named = {"DATABASE_URL": self.database_url} if self.database_url else {}
        # PYTHONPATH has the folder of a tree other than the installed one.
        handed_on = ("PATH", "HOME", "PYTHONPATH")
        kept = {name: os.environ[name] for name in handed_on if name in os.environ}
        return {**kept, "ACCOUNTING_DATA_DIR": str(self.folder), **named, **more}

    def run(self, *arguments: str, **environment: str) -> CommandResult:
        """Run a command to its end, in a process with loaded modules."""
        with TemporaryFile() as out, TemporaryFile() as err:
            streams = (DupFd(out.fileno()), DupFd(err.fileno()))
            told = (arguments, self.environment(**environment), *streams)
            process = FORKS.Process(target=run_command, args=told)
            process.start()
            process.join(600)  # Filling the demo takes ten seconds on an idle machine.
            assert process.exitcode is not None, "it does not end"
            return CommandResult(process.exitcode, *(written(each) for each in (out, err)))

    def did(self, *arguments: str, **environment: str) -> CommandResult:
        """Run a command that must succeed."""
        told = self.run(*arguments, **environment)
        assert told.code == 0, told.err
        return told


def run_command(arguments: tuple[str, ...], environment: dict[str, str], *streams: Any) -> None:
    """Execute the command in this process."""
    for number, stream in enumerate(streams, 1):
        os.dup2(stream.detach(), number)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [ACCOUNTING, *arguments]
    main()


def written(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
