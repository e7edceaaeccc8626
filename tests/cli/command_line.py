"""The operator's desk under test: the real command, with an environment of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ACCOUNTING = str(Path(sys.executable).with_name("accounting"))


@dataclass(frozen=True)
class Told:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.out)
        return facts


@dataclass(frozen=True)
class CommandLine:
    """Runs `accounting` on one data folder and, where it is named, one database."""

    folder: Path
    database_url: str | None = None

    def environment(self, **more: str) -> dict[str, str]:
        named = {"DATABASE_URL": self.database_url} if self.database_url else {}
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return {**kept, "ACCOUNTING_DATA_DIR": str(self.folder), **named, **more}

    def run(self, *arguments: str, **environment: str) -> Told:
        """Run a command to its end."""
        done = subprocess.run(
            [ACCOUNTING, *arguments],
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,  # Filling the demo takes ten seconds where nobody else is at work.
        )
        return Told(done.returncode, done.stdout, done.stderr)

    def did(self, *arguments: str, **environment: str) -> Told:
        """Run a command that has to succeed."""
        told = self.run(*arguments, **environment)
        assert told.code == 0, told.err
        return told
