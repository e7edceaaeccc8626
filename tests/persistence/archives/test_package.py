"""Refusals of the file of a business, before any of it is read."""

import json
import warnings
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from persistence.archives import package as packages
from persistence.archives.package import (
    MOST_ROW,
    DamagedPackage,
    Package,
    Packer,
    content_name,
    member_name,
    whole_digest,
)

ROWS = b'{"id":1}\n{"id":2}\n'
KEY, OTHER_KEY = "0" * 32, "1" * 32


def packed(path: Path, rows: bytes = ROWS) -> Path:
    with path.open("wb") as file:
        packer = Packer(file)
        for table in ("business", "invoice"):
            with packer.table(table) as lines:
                for line in rows.splitlines(keepends=True):
                    lines.write(line)
        packer.content(KEY, b"%PDF-")
        packer.finish(
            business_id=uuid4(),
            business_name="Crumb",
            partner_id=uuid4(),
            partner_name="Owner",
            revision="1",
            product_version="1",
            exported_at="",
            newest_seal=None,
        )
    return path


def added(path: Path, name: str, content: bytes) -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        warnings.simplefilter("ignore", UserWarning)  # A name that is there already.
        file.writestr(name, content)
    return path


def changed(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Change the manifest, with digests that fit."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    change(manifest)
    tables = tuple(packages.Member(**each) for each in manifest["tables"])
    documents = packages.Documents(**manifest["documents"])
    manifest["sha256"] = whole_digest(tables, documents)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in {**members, "manifest.json": json.dumps(manifest).encode()}.items():
            new.writestr(name, content)
    return path


def opening(path: Path) -> str:
    with pytest.raises(DamagedPackage) as refused:
        Package(path)
    return str(refused.value)


class TestMembers:
    def test_those_that_are_named_are_read(self, tmp_path: Path) -> None:
        with Package(packed(tmp_path / "a.zip")) as package:
            assert b"".join(package.lines(package.manifest.tables[1])) == ROWS
            assert package.content(KEY, 5, sha256(b"%PDF-").hexdigest()) == b"%PDF-"
            package.refuse_more()

    @pytest.mark.parametrize(
        "name",
        ["tables/reply.ndjson", "notes.txt", "documents/../x", "documents/x", "a/manifest.json"],
    )
    def test_another_one_is_refused(self, tmp_path: Path, name: str) -> None:
        said = opening(added(packed(tmp_path / "a.zip"), name, b""))
        assert said == f"Its manifest does not name {name!r}."

    @pytest.mark.parametrize(
        "name",
        [
            member_name("invoice"),
            content_name(KEY),
            content_name(OTHER_KEY),
        ],
    )
    def test_one_that_is_there_twice_or_not_counted_is_refused(
        self, tmp_path: Path, name: str
    ) -> None:
        said = opening(added(packed(tmp_path / "a.zip"), name, ROWS))
        assert said in (
            "The file does not have each table of its manifest once.",
            "Its documents are not those that its manifest counts.",
        )

    def test_a_second_manifest_is_refused(self, tmp_path: Path) -> None:
        file = packed(tmp_path / "a.zip")
        with zipfile.ZipFile(file) as opened:
            manifest = opened.read("manifest.json")
        said = opening(added(file, "manifest.json", manifest))
        assert said == "Its documents are not those that its manifest counts."

    def test_a_content_is_read_once(self, tmp_path: Path) -> None:
        with Package(packed(tmp_path / "a.zip")) as package:
            package.content(KEY, 5, sha256(b"%PDF-").hexdigest())
            for key in (KEY, OTHER_KEY):
                with pytest.raises(DamagedPackage, match="is not there, or has two records"):
                    package.content(key, 5, sha256(b"%PDF-").hexdigest())


class TestCounts:
    @pytest.mark.parametrize("wrong", [-1, "2", 2.0, None, True])
    def test_one_that_is_no_count_is_refused(self, tmp_path: Path, wrong: Any) -> None:
        def miscount(manifest: dict[str, Any]) -> None:
            manifest["tables"][1]["rows"] = wrong

        assert "no whole number" in opening(changed(packed(tmp_path / "a.zip"), miscount))

    def test_a_table_of_another_size_is_refused_unread(self, tmp_path: Path) -> None:
        def misname(manifest: dict[str, Any]) -> None:
            manifest["tables"][1]["bytes"] += 1

        said = opening(changed(packed(tmp_path / "a.zip"), misname))
        assert said == "The rows of invoice are not those that were exported."

    def test_a_table_that_expands_without_end_is_refused_unread(self, tmp_path: Path) -> None:
        said = opening(packed(tmp_path / "a.zip", b" " * 3_000_000 + b"\n"))
        assert said == "The rows of business are not those that were exported."

    def test_more_rows_than_are_named_are_not_yielded(self, tmp_path: Path) -> None:
        line = b'{"id":"%032x"}\n'
        rows = b"".join(line % number for number in range(20_000))

        def miscount(manifest: dict[str, Any]) -> None:
            manifest["tables"][1]["rows"] = 10

        file = changed(packed(tmp_path / "a.zip", rows), miscount)
        with Package(file) as package:
            lines = package.lines(package.manifest.tables[1])
            assert next(lines) == b""
            with pytest.raises(DamagedPackage):
                next(lines)

    def test_a_row_that_is_too_long_is_not_yielded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(packages, "MOST_ROW", 100_000)
        rows = b"".join(b"%032x" % (number * 7919**8) for number in range(5_000))
        with Package(packed(tmp_path / "a.zip", b"{}\n" + rows + b"\n")) as package:
            chunks = list[bytes]()
            with pytest.raises(DamagedPackage):
                chunks.extend(package.lines(package.manifest.tables[1]))
        assert sum(map(len, chunks)) <= 100_000
        assert MOST_ROW > 100_000
