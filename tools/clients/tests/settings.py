"""The generators of the downloads page: each command is run as shown, and its types are checked."""

import shlex
import shutil
from pathlib import Path
from typing import Final

from server.contract.document import parse
from server.docs.reference.generators import INPUT, Generator
from server.docs.rendered_pages import json_of
from tools.clients.tests.generators import FOR_GENERATORS, ClientError, run

FOLDER: Final = Path("dist/generators")
PROGRAMS_IN_NODE: Final = Path("tools/clients/node_modules/.bin")
# What a project with a bundler has.
TYPESCRIPT: Final = (
    *("--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "esnext"),
    *("--moduleResolution", "bundler", "--lib", "es2022,dom,dom.iterable"),
)


def hold(generator: Generator, programs: Path) -> int:
    """Run a generator in a folder of its own; return the number of files that it made.

    Raises ClientError where it fails, makes nothing, or makes a file whose types are wrong.
    """
    folder = FOLDER / generator.name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "client").mkdir(parents=True)
    (folder / INPUT).write_bytes(json_of(parse(FOR_GENERATORS.read_bytes())))
    # A module that a generated file imports is found as in the project of a partner.
    (folder / "node_modules").symlink_to(PROGRAMS_IN_NODE.parent.resolve())
    if generator.settings:
        (folder / generator.settings).write_text(generator.text, encoding="utf-8")
    call(folder, programs, *shlex.split(generator.command))
    for file in generator.types.split():
        if file.endswith(".ts"):
            call(folder, programs, "tsc", *TYPESCRIPT, file)
        else:
            call(folder, programs, "mypy", "--config-file=", file)
    made = [file for file in (folder / "client").rglob("*") if file.is_file()]
    if not made:
        raise ClientError(f"{generator.name} made nothing.")
    return len(made)


def call(folder: Path, programs: Path, *words: str) -> None:
    """Run a program of an npm package, or else of a Python package, in a folder."""
    path = PROGRAMS_IN_NODE if (PROGRAMS_IN_NODE / words[0]).exists() else programs
    run(*words, path=path, folder=folder)
