import errno
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from server.contract import document
from server.contract.document import read_source
from server.docs import app_page
from server.docs.application import Documentation, publish
from server.docs.own_examples import with_own_examples
from server.docs.page_file import SECONDS_PER_DAY, PageFile
from server.docs.profiles import PROFILES
from server.docs.reference.site import POLICY
from server.docs.rendered_pages import RenderedPages
from server.docs.stored_pages import StoredPage
from server.http.edge import Edge, HttpsRule
from tests.server.docs.small_contract import DOCUMENT, SOURCE
from tests.server.driver import request


class TestDocumentation:
    @pytest.fixture
    def application(self) -> Edge:
        return Edge(nothing_there, https=HttpsRule(), find_page=Documentation(SOURCE).find)

    @pytest.mark.parametrize(
        ("path", "policy", "text"),
        [
            ("/docs", POLICY, b"Change a thing"),
            ("/docs/", POLICY, b"Change a thing"),
            ("/docs/operations/change_thing", POLICY, b"Change a thing"),
            ("/app", app_page.POLICY, b"main.js"),
            ("/app/", app_page.POLICY, b"main.js"),
        ],
    )
    def test_pages_have_their_own_policy(
        self, application: Edge, path: str, policy: str, text: bytes
    ) -> None:
        reply = request(application, "GET", path)
        assert (reply.status, reply.header("content-type")) == (200, "text/html; charset=utf-8")
        assert reply.header("content-security-policy") == f"{policy}; frame-ancestors 'none'"
        assert reply.header("referrer-policy") == "no-referrer"
        assert reply.header("x-content-type-options") == "nosniff"
        assert int(reply.header("content-length") or 0) == len(reply.body)
        assert text in reply.body

    def test_a_304_answer_has_the_policy_of_its_page(self, application: Edge) -> None:
        tag = request(application, "GET", "/docs/").header("etag") or ""
        reply = request(application, "GET", "/docs/", ("if-none-match", tag))
        assert reply.status == 304
        assert reply.header("content-security-policy") == f"{POLICY}; frame-ancestors 'none'"

    @pytest.mark.parametrize(
        ("name", "media_type"),
        [
            ("style.css", "text/css; charset=utf-8"),
            ("script.js", "text/javascript; charset=utf-8"),
            ("search.json", "application/json"),
        ],
    )
    def test_a_loaded_file_has_its_type(
        self, application: Edge, name: str, media_type: str
    ) -> None:
        reply = request(application, "GET", f"/docs/{name}")
        assert (reply.status, reply.header("content-type")) == (200, media_type)
        assert reply.header("etag")

    @pytest.mark.parametrize(
        "path",
        [
            *("/docs/nothing/", "/docs/operations/", "/docsy", "/v1/docs/", "/openapi.xml"),
            *("/app/nothing.js", "/app/__init__.py", "/application/"),
        ],
    )
    def test_other_addresses_reach_the_api(self, application: Edge, path: str) -> None:
        assert request(application, "GET", path).status == 418

    def test_the_contract_is_served_as_it_was_written(self, application: Edge) -> None:
        reply = request(application, "GET", "/openapi.yaml")
        assert (reply.header("content-type"), reply.body) == ("application/yaml", SOURCE)

    def test_operations_in_json_have_refusals_of_their_own(self, application: Edge) -> None:
        served = request(application, "GET", "/openapi.json").json()
        assert served == with_own_examples(DOCUMENT)

    @pytest.mark.parametrize("name", PROFILES)
    def test_the_contract_is_served_in_its_other_forms(self, application: Edge, name: str) -> None:
        reply = request(application, "GET", f"/openapi.{name}.json")
        assert (reply.status, reply.header("content-type")) == (200, "application/json")
        paths = {} if name == "events" else DOCUMENT["paths"]
        assert reply.json()["paths"].keys() == paths.keys()

    @pytest.mark.parametrize("path", ["/", "/docs/", "/app/"])
    def test_pages_are_read_only(self, application: Edge, path: str) -> None:
        assert request(application, "POST", path).status == 405


class TestPageFile:
    def test_pages_are_readable_once_all_are_written(self, tmp_path: Path) -> None:
        file = PageFile(tmp_path / "pages")
        assert file.read() is None
        written = RenderedPages(SOURCE)
        file.write(written)
        pages = file.read()
        assert pages is not None
        assert dict(pages) == dict(written)
        assert pages.get("/docs/nothing/") is None
        assert pages["/docs/"] is not pages["/docs/"]  # A reader caches no page.

    def test_pages_are_unreadable_while_they_are_written(self, tmp_path: Path) -> None:
        class ObservedPages(dict[str, StoredPage]):
            def values(self) -> Any:
                for value in super().values():
                    yield value
                    assert file.read() is None

        file = PageFile(tmp_path)
        file.write(ObservedPages(RenderedPages(SOURCE)))
        assert file.read() is not None
        assert [*tmp_path.iterdir()] == [file.path]

    @pytest.mark.parametrize("content", [b"", b"half a li"])
    def test_a_damaged_file_counts_as_none_and_is_replaced(
        self, tmp_path: Path, content: bytes
    ) -> None:
        file = PageFile(tmp_path)
        file.path.write_bytes(content)
        assert file.read() is None
        file.write(RenderedPages(SOURCE))
        assert file.read() is not None

    def test_a_full_disk_leaves_no_part_of_a_file(self, tmp_path: Path) -> None:
        class EndlessPages(dict[str, StoredPage]):
            def values(self) -> Any:
                yield from super().values()
                raise OSError(errno.ENOSPC, "No space left on device")

        file = PageFile(tmp_path)
        with pytest.raises(OSError, match="No space"):
            file.write(EndlessPages(RenderedPages(SOURCE)))
        assert file.read() is None
        assert [*tmp_path.iterdir()] == []

    def test_processes_that_write_at_the_same_time_leave_one_whole_file(
        self, tmp_path: Path
    ) -> None:
        pages = dict(RenderedPages(SOURCE))
        with ThreadPoolExecutor(4) as writers:
            list(writers.map(lambda _: PageFile(tmp_path).write(pages), range(8)))
        read = PageFile(tmp_path).read()
        assert read is not None
        assert dict(read) == pages
        assert [*tmp_path.iterdir()] == [PageFile(tmp_path).path]

    def test_a_changed_contract_has_a_file_of_its_own_and_old_files_go_after_a_day(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        older = PageFile(tmp_path)
        older.write({})
        monkeypatch.setattr(document, "read_source", lambda: SOURCE)
        newer = PageFile(tmp_path)
        assert newer.read() is None
        newer.write({})
        assert {*tmp_path.iterdir()} == {older.path, newer.path}
        yesterday = time.time() - SECONDS_PER_DAY - 1
        os.utime(older.path, (yesterday, yesterday))
        newer.write({})
        assert [*tmp_path.iterdir()] == [newer.path]


class TestPublish:
    def test_all_that_tells_of_the_api_lies_in_the_folder(self, tmp_path: Path) -> None:
        publish(tmp_path)
        pages = RenderedPages(read_source())
        described = [address for address in pages if not address.startswith(app_page.ROOT)]
        files = {file for file in tmp_path.rglob("*") if file.is_file()}
        assert len(files) == len(described)
        assert (tmp_path / "index.html").read_bytes() == pages["/"].plain
        assert (tmp_path / "docs" / "index.html").read_bytes() == pages["/docs/"].plain
        assert (tmp_path / "docs" / "style.css").read_bytes() == pages["/docs/style.css"].plain
        assert (tmp_path / "openapi.yaml").read_bytes() == pages["/openapi.yaml"].plain


async def nothing_there(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Send 418, which only this application does."""
    await send({"type": "http.response.start", "status": 418, "headers": []})
    await send({"type": "http.response.body", "body": b""})
