"""`make release VERSION=1.4.0`: cut the changelog, keep the released contract, commit and tag.

All checks come before the first change. Publication is a separate step: push the commit and its
tag.
"""

import re
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from server.contract.document import parse
from server.contract.published import published
from tests.contract.compatibility import differences
from tests.contract.released import newest, number_of, refused, told

ROOT: Final = Path(__file__).parents[1]
CONTRACT: Final = "openapi/accounting.yaml"
RELEASED: Final = "openapi/released"
CHANGELOG: Final = "CHANGELOG.md"
# Each file with the version, and the pattern of the line.
VERSIONS: Final = {
    CONTRACT: re.compile(r"^(  version: ).*$", re.M),
    "pyproject.toml": re.compile(r'^(version = ").*(?=")', re.M),
    "tools/clients/typescript/package.json": re.compile(r'^(  "version": ").*(?=")', re.M),
}
UNRELEASED: Final = re.compile(r"^## Unreleased\n(.*?)(?=^## |\Z)", re.M | re.S)


class ReleaseError(Exception):
    """A refused release; the message is a sentence."""


def release(folder: Path, version: str, day: date) -> None:
    """Release a version of the project in a folder; ReleaseError leaves it unchanged."""
    refuse_unfinished_work(folder)
    refuse_number(folder, version)
    texts = {name: numbered(folder, name, version) for name in VERSIONS}
    texts[CHANGELOG] = cut(read(folder, CHANGELOG), version, day)
    texts[f"{RELEASED}/{version}.yaml"] = published(texts[CONTRACT].encode()).decode()
    refuse_breaking(folder, texts[CONTRACT], version)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", *texts)
    git(folder, "commit", "--quiet", "--message", f"Release {version}")
    git(folder, "tag", "--annotate", f"v{version}", "--message", f"Version {version}")


def refuse_unfinished_work(folder: Path) -> None:
    """Raise ReleaseError if there are uncommitted changes."""
    if changed := git(folder, "status", "--porcelain"):
        raise ReleaseError(f"Commit or put away first:\n{changed}")


def refuse_number(folder: Path, version: str) -> None:
    """Raise ReleaseError unless the version is well formed and above the last one."""
    last = newest(folder / RELEASED).stem
    if not re.fullmatch(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", version):
        raise ReleaseError(f"Say which: make release VERSION=..., above {last}.")
    if number_of(version) <= number_of(last):
        raise ReleaseError(f"{version} is not above {last}, which is released.")
    if git(folder, "tag", "--list", f"v{version}"):
        raise ReleaseError(f"There is a tag v{version} already.")


def refuse_breaking(folder: Path, contract: str, version: str) -> None:
    """Raise ReleaseError for a change that breaks clients, unless the major version is new."""
    last = newest(folder / RELEASED)
    found = differences(parse(last.read_bytes()), parse(published(contract.encode())))
    if breaking := refused(found, last.stem, version):
        raise ReleaseError(f"{told(breaking, last.stem)}\nThat needs a new major version.")


def cut(changelog: str, version: str, day: date) -> str:
    """Move the unreleased changes to the section of a version."""
    section = UNRELEASED.search(changelog)
    if section is None or not section[1].strip():
        raise ReleaseError(f"{CHANGELOG} has nothing under Unreleased.")
    return changelog.replace("## Unreleased\n", f"## {version} - {day}\n", 1)


def numbered(folder: Path, name: str, version: str) -> str:
    """Return a file with its version replaced."""
    return VERSIONS[name].sub(rf"\g<1>{version}", read(folder, name), count=1)


def read(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def git(folder: Path, *words: str) -> str:
    """Return the output of git; ReleaseError has its error message."""
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReleaseError(done.stderr.strip() or f"git {words[0]} failed.")
    return done.stdout.rstrip()


def main() -> int:
    """Release the given version; return 2 with a message if it is refused."""
    version = "".join(sys.argv[1:])
    try:
        release(ROOT, version, datetime.now(UTC).date())
    except ReleaseError as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 2
    sys.stdout.write(f"Released {version}. To publish it: git push --follow-tags\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
