import gzip

import pytest

from server.docs.application import Documentation
from server.docs.rendered_pages import FRONT
from server.docs.stored_pages import StoredPage, store
from server.http.edge import Edge, HttpsRule
from server.http.errors import Answer
from tests.server.docs.small_contract import SOURCE
from tests.server.driver import request

TEXT = b"The same words, over and over. " * 40


@pytest.fixture(scope="module")
def stored() -> StoredPage:
    return store(b"text/plain", TEXT, (b"x-more", b"1"))


def answered(stored: StoredPage, **lines: str) -> Answer:
    asked = [(name.replace("_", "-").encode(), sent.encode()) for name, sent in lines.items()]
    return stored.answer(asked)


def line(answer: Answer, name: bytes) -> str | None:
    found = [value.decode() for key, value in answer.headers if key == name]
    assert len(found) <= 1
    return found[0] if found else None


class TestStoredPage:
    def test_a_page_is_sent_plain_without_accept_encoding(self, stored: StoredPage) -> None:
        answer = answered(stored)
        assert (answer.status, answer.body) == (200, TEXT)
        assert line(answer, b"content-encoding") is None
        assert (line(answer, b"x-more"), line(answer, b"vary")) == ("1", "Accept-Encoding")

    @pytest.mark.parametrize("sent", ["gzip", "br, GZIP;q=0.5", "*"])
    def test_a_page_is_sent_compressed_to_a_client_that_accepts_gzip(
        self, stored: StoredPage, sent: str
    ) -> None:
        answer = answered(stored, accept_encoding=sent)
        assert gzip.decompress(answer.body) == TEXT
        assert line(answer, b"content-encoding") == "gzip"
        assert line(answer, b"content-length") == str(len(answer.body))
        assert len(answer.body) < len(TEXT) / 10

    @pytest.mark.parametrize("sent", ["", "br", "gzip;q=0", "*, gzip;q=0", "gzip;q=none", "§"])
    def test_a_page_is_sent_plain_to_a_client_that_refuses_gzip(
        self, stored: StoredPage, sent: str
    ) -> None:
        assert answered(stored, accept_encoding=sent).body == TEXT

    @pytest.mark.parametrize("accepted", ["", "gzip"])
    def test_a_client_with_the_current_etag_gets_304(
        self, stored: StoredPage, accepted: str
    ) -> None:
        first = answered(stored, accept_encoding=accepted)
        tag = line(first, b"etag")
        assert tag is not None
        for sent in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            answer = answered(stored, accept_encoding=accepted, if_none_match=sent)
            assert (answer.status, answer.body, line(answer, b"etag")) == (304, b"", tag)
            assert line(answer, b"cache-control") == line(first, b"cache-control")
            assert line(answer, b"vary") == "Accept-Encoding"
            assert (line(answer, b"x-more"), line(answer, b"content-type")) == ("1", None)

    def test_an_etag_of_another_encoding_or_page_gets_the_whole_page(
        self, stored: StoredPage
    ) -> None:
        tag = line(answered(stored), b"etag") or ""
        assert answered(stored, accept_encoding="gzip", if_none_match=tag).status == 200
        assert answered(store(b"text/plain", TEXT[1:]), if_none_match=tag).status == 200

    def test_every_worker_comes_to_the_same(self, stored: StoredPage) -> None:
        assert store(b"text/plain", TEXT, (b"x-more", b"1")) == stored


class TestFrontPage:
    def test_the_front_page_leads_to_the_reference_without_a_redirect(self) -> None:
        documentation = Documentation(SOURCE)
        application = Edge(pytest.fail, https=HttpsRule(), find_page=documentation.find)
        reply = request(application, "GET", "/")
        assert (reply.status, reply.header("content-type")) == (200, "text/html; charset=utf-8")
        assert reply.header("location") is None
        assert b'http-equiv="refresh" content="0; url=docs/"' in reply.body
        assert b'<a href="docs/">/docs/</a>' in reply.body
        head = request(application, "HEAD", "/")
        assert (head.status, head.body) == (200, b"")
        assert head.header("content-length") == str(len(FRONT))
