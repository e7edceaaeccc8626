import gzip
import hashlib
import html
from pathlib import Path
from typing import Any

import pytest

from server.docs.application import Documentation
from server.docs.reference import built_files
from server.docs.reference.built_files import FOLDER, add, folder_name
from server.docs.reference.generators import Generator, generators
from server.http.edge import Edge, HttpsRule
from tests.server.docs.small_contract import SOURCE
from tests.server.driver import Reply, request

CONTENT = b"The same words, over and over. " * 40
WHEEL = "accounting_sdk-1.0.0-py3-none-any.whl"
PACKAGE = "accounting-sdk-1.0.0.tgz"
COLLECTION = "accounting.postman.json"
PAGE = "/docs/downloads/"
NONE = "This server was installed without the SDKs."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of all built files, empty at first."""
    monkeypatch.setattr(built_files, "files", lambda _: tmp_path)
    (tmp_path / FOLDER).mkdir()
    return tmp_path / FOLDER


@pytest.fixture
def built(tmp_path: Path) -> list[Path]:
    made = [tmp_path / name for name in (WHEEL, PACKAGE, COLLECTION)]
    for file in made:
        file.write_bytes(CONTENT)
    return made


def get(path: str, *headers: tuple[str, str]) -> Reply:
    """Request a page of a server that starts now."""

    async def no_api(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 418, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    server = Edge(no_api, https=HttpsRule(), find_page=Documentation(SOURCE).find)
    return request(server, "GET", path, *headers)


class TestBuiltFiles:
    def test_a_server_without_them_says_so_and_how_to_add_them(self, folder: Path) -> None:
        page = get(PAGE).body.decode()
        assert NONE in page
        assert "make sdk sdk-typescript" in page
        assert ".whl" not in page

    @pytest.mark.parametrize(
        ("name", "media_type"),
        [
            (WHEEL, "application/zip"),
            (PACKAGE, "application/gzip"),
            (COLLECTION, "application/json"),
        ],
    )
    def test_each_is_saved_under_its_name_with_its_type(
        self, folder: Path, built: list[Path], name: str, media_type: str
    ) -> None:
        add(built, SOURCE, folder)
        reply = get(f"{PAGE}{name}")
        assert (reply.status, reply.body) == (200, CONTENT)
        assert reply.header("content-type") == media_type
        assert reply.header("content-disposition") == f'attachment; filename="{name}"'

    def test_the_page_has_name_digest_and_command_of_each_sdk(
        self, folder: Path, built: list[Path]
    ) -> None:
        add(built, SOURCE, folder)
        page = get(PAGE).body.decode()
        digest = hashlib.sha256(CONTENT).hexdigest()
        assert page.count(f"<code>{digest}</code>") == 2
        host = "https://api.accounting.example"
        assert f"pip install {host}{PAGE}{WHEEL}#sha256={digest}\n" in page
        assert f"npm install {host}{PAGE}{PACKAGE}\n" in page
        assert f'<a href="{PAGE}{COLLECTION}">' in page
        assert NONE not in page

    def test_an_archive_is_never_compressed_again(self, folder: Path, built: list[Path]) -> None:
        add(built, SOURCE, folder)
        accepted = ("accept-encoding", "gzip")
        archive, collection = get(f"{PAGE}{WHEEL}", accepted), get(f"{PAGE}{COLLECTION}", accepted)
        assert (archive.header("content-encoding"), archive.body) == (None, CONTENT)
        assert gzip.decompress(collection.body) == CONTENT
        tag = ("if-none-match", archive.header("etag") or "")
        assert get(f"{PAGE}{WHEEL}", accepted, tag).status == 304

    def test_what_was_built_from_another_contract_is_not_served(
        self, folder: Path, built: list[Path]
    ) -> None:
        add(built, SOURCE + b"# Changed\n", folder)
        assert NONE in get(PAGE).body.decode()
        assert get(f"{PAGE}{WHEEL}").status == 418


class TestGenerators:
    @pytest.mark.parametrize("generator", generators(), ids=lambda each: each.name)
    def test_the_page_has_the_command_of_each_and_leads_to_its_settings(
        self, folder: Path, generator: Generator
    ) -> None:
        page = html.unescape(get(PAGE).body.decode())
        assert f"{generator.install}\n" in page
        assert f"{generator.command}\n" in page
        if generator.settings:
            assert f'<a href="{PAGE}{generator.settings}">' in page
            reply = get(f"{PAGE}{generator.settings}")
            assert (reply.status, reply.body.decode()) == (200, generator.text)
            assert reply.header("content-type") != "text/html; charset=utf-8"


class TestAdd:
    def test_the_files_of_a_contract_are_added_one_by_one(
        self, folder: Path, built: list[Path]
    ) -> None:
        for file in built:
            add([file], SOURCE, folder)
        kept = folder / folder_name(SOURCE)
        assert {each.name for each in kept.iterdir()} == {WHEEL, PACKAGE, COLLECTION}

    def test_files_of_another_contract_are_deleted(self, folder: Path, built: list[Path]) -> None:
        add(built, b"old", folder)
        add(built[:1], SOURCE, folder)
        assert [each.name for each in folder.iterdir()] == [folder_name(SOURCE)]
        assert [each.name for each in (folder / folder_name(SOURCE)).iterdir()] == [WHEEL]

    def test_a_file_that_is_still_copied_is_not_served(
        self, folder: Path, built: list[Path]
    ) -> None:
        add(built, SOURCE, folder)
        (folder / folder_name(SOURCE) / f"{WHEEL}.part").write_bytes(b"half")
        assert ".part" not in get(PAGE).body.decode()
        assert get(f"{PAGE}{WHEEL}.part").status == 418
