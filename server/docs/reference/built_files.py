"""SDKs and collections that `make` has built; with files as arguments, this module adds them.

A server builds none of them, because that needs generators and Node. They are package data, in a
folder that has the digest of the contract that they were built from: a server with another contract
does not serve them.
"""

import hashlib
import shutil
import sys
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Final

from server.contract.document import read_source
from server.docs.reference import ROOT
from server.docs.stored_pages import StoredPage, store, store_file

FOLDER: Final = "downloads"
ADDRESS: Final = f"{ROOT}{FOLDER}/"
MEDIA_TYPES: Final = {
    ".whl": b"application/zip",
    ".tgz": b"application/gzip",
    ".json": b"application/json",
}
INSTALL: Final = {".whl": "pip install", ".tgz": "npm install"}


@dataclass(frozen=True, slots=True)
class BuiltFile:
    """A file that partners download."""

    name: str
    content: bytes

    @property
    def address(self) -> str:
        """The path of its URL."""
        return f"{ADDRESS}{self.name}"

    @property
    def kind(self) -> str:
        """The end of its name: `.whl`, `.tgz`, `.json`."""
        return PurePath(self.name).suffix

    @property
    def digest(self) -> str:
        """The SHA-256 of its content, in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def kilobytes(self) -> int:
        """The size in kilobytes, rounded up."""
        return -(-len(self.content) // 1000)

    def page(self) -> StoredPage:
        """Return it as a page that a browser saves under its name."""
        kept = store if self.kind == ".json" else store_file
        name = f'attachment; filename="{self.name}"'.encode()
        return kept(MEDIA_TYPES[self.kind], self.content, (b"content-disposition", name))


def built_files(source: bytes) -> list[BuiltFile]:
    """Return the files that were built from this contract, by name."""
    folder = files("server.docs.reference") / FOLDER / folder_name(source)
    if not folder.is_dir():
        return []
    found = sorted(folder.iterdir(), key=lambda each: each.name)
    return [
        BuiltFile(each.name, each.read_bytes())
        for each in found
        if PurePath(each.name).suffix in MEDIA_TYPES
    ]


def folder_name(source: bytes) -> str:
    """Return the name of the folder for files that are built from a contract."""
    return hashlib.sha256(source).hexdigest()[:16]


def add(built: list[Path], source: bytes, parent: Path) -> None:
    """Copy files into the folder of this contract, and delete folders of other contracts.

    The version is part of the contract. A server that starts meanwhile reads whole files only.
    """
    folder = parent / folder_name(source)
    folder.mkdir(parents=True, exist_ok=True)
    for other in parent.iterdir():
        if other != folder:
            shutil.rmtree(other)
    for file in built:
        unfinished = folder / f"{file.name}.part"
        shutil.copyfile(file, unfinished)
        unfinished.replace(folder / file.name)


def main(built: list[Path]) -> None:
    """Add files, and write where they are and how to install them."""
    add(built, read_source(), Path(__file__).parent / FOLDER)
    for file in built:
        command = INSTALL.get(file.suffix)
        sys.stdout.write(f"{file}\n")
        if command is not None:
            sys.stdout.write(f"  Install it:   {command} {file}\n")
        sys.stdout.write(
            f"  Served at:    {ADDRESS}{file.name}, after the next start of a server\n"
        )


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]])
