import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from server.contract.document import pack, parse, read_source, unpack
from server.contract.published import published, without_notes
from server.docs import rendered_pages
from server.docs.application import Documentation, at
from server.docs.page_file import Pages
from server.docs.reference import site
from server.docs.reference.built_files import BuiltFile
from server.docs.rendered_pages import RenderedPages
from server.docs.stored_pages import StoredPage, store
from server.http.edge import Edge, HttpsRule, Limits, Page
from tests.server.docs.small_contract import DOCUMENT, SOURCE
from tests.server.driver import request

OPERATION = "/docs/operations/change_thing/"


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The pages that a test renders."""
    contents: list[bytes] = []

    def kept(media_type: bytes, content: bytes, *lines: tuple[bytes, bytes]) -> StoredPage:
        contents.append(content)
        return store(media_type, content, *lines)

    monkeypatch.setattr(rendered_pages, "store", kept)
    return contents


class TestRenderedPages:
    def test_a_page_is_rendered_alone_and_once(self, stored: list[bytes]) -> None:
        pages = RenderedPages(SOURCE)
        assert pages[OPERATION] is pages[OPERATION]
        [content] = stored
        assert b"Change a thing" in content

    @pytest.mark.parametrize("address", ["/", "/app/", "/app/main.js", "/openapi.yaml"])
    def test_what_has_no_part_in_the_parsed_contract_does_not_wait_for_it(
        self, address: str
    ) -> None:
        assert len(RenderedPages(SOURCE, pytest.fail)[address].plain) > 0

    @pytest.mark.parametrize("address", ["/openapi.json", "/openapi.sdk.json"])
    def test_no_form_of_the_contract_waits_for_the_reference(
        self, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(site, "Site", pytest.fail)
        assert len(RenderedPages(SOURCE)[address].plain) > 0

    def test_each_page_is_that_of_the_whole(self) -> None:
        pages = RenderedPages(SOURCE)
        whole = site.site(DOCUMENT)
        assert {address for address in pages if address.startswith("/docs/")} == whole.keys()
        assert {address: bytes(pages[address].plain).decode() for address in whole} == whole
        assert len(pages) == len(set(pages)) > len(whole)

    @pytest.mark.parametrize("address", ["/docs/nothing/", "/app/nothing.js", "/openapi.xml", ""])
    def test_an_unknown_address_has_no_page(self, address: str) -> None:
        assert RenderedPages(SOURCE).get(address) is None

    def test_the_packed_contract_is_the_published_one(self) -> None:
        document = parse(read_source())
        packed = pack(document)
        assert without_notes(unpack(packed)) == parse(published(read_source()))
        assert len(packed) < 300_000  # Every server keeps it.


class TestDocumentation:
    def test_a_page_is_rendered_off_the_loop_and_what_it_loads_is_shared(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        threads: list[threading.Thread] = []

        class ObservedSite(site.Site):
            def __init__(self, document: Mapping[str, Any], built: Sequence[BuiltFile]) -> None:
                threads.append(threading.current_thread())
                super().__init__(document, built)

        monkeypatch.setattr(site, "Site", ObservedSite)

        async def read() -> list[Page | None]:
            find = Documentation(SOURCE).find
            impatient = asyncio.ensure_future(find("/docs", {}))
            await asyncio.sleep(0)
            impatient.cancel()
            paths = ["/docs", "/docs/errors", OPERATION.rstrip("/"), "/docs"]
            return list(await asyncio.gather(*(find(path, {}) for path in paths)))

        assert None not in asyncio.run(read())
        [thread] = threads
        assert thread is not threading.main_thread()

    def test_pages_are_rendered_until_they_are_on_disk(self, stored: list[bytes]) -> None:
        on_disk: list[Pages] = []

        async def read() -> StoredPage | None:
            documentation = Documentation(SOURCE, lambda: on_disk[0] if on_disk else None)
            assert await documentation.at("/docs", at, {}) is not None
            assert len(stored) == 1
            on_disk.append({"/docs/": store(b"text/plain", b"On disk.")})
            page = await documentation.at("/docs", at, {})
            assert documentation.rendered is None  # What rendering has loaded is released.
            return page

        page = asyncio.run(read())
        assert page is not None
        assert bytes(page.plain) == b"On disk."
        assert len(stored) == 1

    def test_a_page_that_takes_longer_than_an_answer_is_still_answered(self) -> None:
        def contract() -> dict[str, Any]:
            time.sleep(0.2)
            return parse(SOURCE)

        documentation = Documentation(SOURCE, contract=contract)
        limits = Limits(answer_seconds=0.05)
        application = Edge(
            pytest.fail, https=HttpsRule(), find_page=documentation.find, limits=limits
        )
        assert request(application, "GET", OPERATION).status == 200

    def test_an_address_of_the_api_renders_nothing(self, stored: list[bytes]) -> None:
        assert asyncio.run(Documentation(SOURCE).find("/v1/docs", {})) is None
        assert stored == []
