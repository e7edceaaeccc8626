"""`python -m tests.upgrade.run`: the server of the previous release on the schema of this one.

The previous release is checked out beside this tree and gets the migrations of this tree; then its
own tests of handlers run. A failure would affect partners during a rolling upgrade.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
MIGRATIONS = Path("persistence") / "migrations"
# The driver of Alembic belongs to the server; the migrations belong to the schema.
DRIVER = "env.py"
TESTS = ("tests/handlers",)


def main(arguments: Sequence[str] | None = None) -> int:
    asked = parsed(arguments)
    before = asked.before or release_before()
    with checked_out(before) as tree:
        migrate_by(tree, asked.after)
        sys.stdout.write(f"The server of {before} on the schema of {asked.after}:\n")
        sys.stdout.flush()
        command = [sys.executable, "-m", "pytest", "-q", "-n", str(asked.workers), *asked.tests]
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        return subprocess.call(command, cwd=tree, env=environment)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, prog="tests.upgrade.run")
    parser.add_argument("--before", help="tag or commit; the newest release, else one commit back")
    parser.add_argument("--after", type=Path, default=ROOT, help="folder of the tree to come")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("tests", nargs="*", default=TESTS)
    return parser.parse_args(arguments)


def release_before() -> str:
    """Return the newest release before this tree, else the previous commit."""
    newest = ["git", "describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^"]
    found = subprocess.run(newest, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "HEAD^"


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Check out a commit in a temporary folder during a block."""
    with tempfile.TemporaryDirectory(prefix="upgrade-") as folder:
        tree = Path(folder) / "before"
        worktree = ["git", "worktree"]
        add = [*worktree, "add", "--quiet", "--detach", str(tree), commit]
        subprocess.run(add, cwd=ROOT, check=True)
        try:
            yield tree
        finally:
            subprocess.run([*worktree, "remove", "--force", str(tree)], cwd=ROOT, check=True)


def migrate_by(tree: Path, after: Path) -> None:
    """Replace the migrations of a tree by those of another one."""
    driver = (tree / MIGRATIONS / DRIVER).read_bytes()
    shutil.rmtree(tree / MIGRATIONS)
    shutil.copytree(after / MIGRATIONS, tree / MIGRATIONS)
    (tree / MIGRATIONS / DRIVER).write_bytes(driver)


if __name__ == "__main__":
    sys.exit(main())
