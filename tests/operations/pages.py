"""A page for operators as a script: its blocks of `sh`, run in turn in one shell."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from libraries.embedded.binaries import find_programs

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
MINUTES = 5


@dataclass(frozen=True)
class Block:
    """Commands and their heading."""

    heading: str
    commands: str


def blocks_of(page: str) -> list[Block]:
    """Return the blocks of commands in a page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [
        Block(HEADING.findall(text[: found.start()])[-1], found[1])
        for found in BLOCK.finditer(text)
    ]


def script_of(blocks: list[Block]) -> str:
    """Return the blocks as one script, which stops at the first failing command and names it."""
    told = [
        f"echo '## block {number} of {len(blocks)}: {block.heading}' >&2\n{block.commands}"
        for number, block in enumerate(blocks, 1)
    ]
    return "\n".join(["set -euo pipefail", *told])


def run(page: str, folder: Path, **settings: str) -> None:
    """Run all commands of a page in a folder; AssertionError has their output.

    Programs in its folder `bin` take precedence.
    """
    folders = [
        folder / "bin",
        Path(sys.executable).parent,
        find_programs().folder,
        os.environ["PATH"],
    ]
    environment = {"PATH": os.pathsep.join(map(str, folders)), "HOME": str(folder), **settings}
    if "PYTHONPATH" in os.environ:  # A tree other than the installed one.
        environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
    script = script_of(blocks_of(page))
    log = folder / "said.txt"
    with log.open("wb") as said:
        ended = subprocess.run(
            ["bash", "-c", script],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            timeout=MINUTES * 60,
            check=False,
            start_new_session=True,
        )
    assert ended.returncode == 0, log.read_text(encoding="utf-8", errors="replace")[-8_000:]
