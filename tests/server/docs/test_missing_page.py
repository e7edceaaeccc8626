"""The page for an address of the reference that is not there."""

import re

import pytest

from server.docs.application import Documentation
from server.docs.missing_page import ADDRESS
from server.docs.reference.site import POLICY
from server.docs.rendered_pages import RenderedPages
from server.http.edge import Edge, HttpsRule
from tests.server.docs.reference.test_site import Elements
from tests.server.docs.small_contract import SOURCE
from tests.server.docs.test_application import nothing_there
from tests.server.driver import Reply, request

BROWSER = ("accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")


@pytest.fixture(scope="module")
def application() -> Edge:
    return Edge(nothing_there, https=HttpsRule(), find_page=Documentation(SOURCE).find)


def read(application: Edge, path: str) -> tuple[Reply, Elements]:
    reply = request(application, "GET", path, BROWSER)
    return reply, Elements(reply.body.decode())


def query(page: Elements) -> str | None:
    """Return what is filled into the search."""
    [field] = [found for tag, found in page.found if found.get("id") == "query"]
    return field.get("value")


def listed(reply: Reply) -> list[str]:
    """Return the addresses in the list of pages, which the script replaces by search results."""
    [inside] = re.findall(r'<ul id="nearest">(.*?)</ul>', reply.body.decode(), re.S)
    return re.findall(r'href="([^"]+)"', inside)


class TestMissingPage:
    def test_a_browser_gets_a_page_of_the_site(self, application: Edge) -> None:
        reply, page = read(application, "/docs/nowhere/")
        assert (reply.status, reply.header("content-type")) == (404, "text/html; charset=utf-8")
        assert reply.header("content-security-policy") == f"{POLICY}; frame-ancestors 'none'"
        assert reply.header("cache-control") == "no-store"
        assert int(reply.header("content-length") or 0) == len(reply.body)
        assert {"header", "nav", "main"} <= set(page.tags())
        assert "Page not found · Test API" in page.titles
        assert query(page) == "nowhere"

    @pytest.mark.parametrize(
        ("path", "words"),
        [
            ("/docs/operations/changething/", "changething"),
            ("/docs/change-thing", "change thing"),
            ("/docs/errors/thing_is_stcuk", "thing is stcuk"),
            ("/docs/objects/thing.html", "thing"),
            ("/docs/operations/", "operations"),
        ],
    )
    def test_it_has_the_words_of_the_address_and_leads_to_guides(
        self, application: Edge, path: str, words: str
    ) -> None:
        reply, page = read(application, path)
        assert (reply.status, query(page)) == (404, words)
        assert listed(reply)[:2] == [
            "/docs/guides/start-here/",
            "/docs/guides/quickstart-in-python/",
        ]
        assert all(request(application, "GET", each).status == 200 for each in listed(reply))

    def test_words_of_an_address_stay_words(self, application: Edge) -> None:
        hostile = '/docs/"><script>alert(1)</script>\\1' + "x" * 3000
        reply, page = read(application, hostile)
        assert reply.status == 404
        _, plain = read(application, "/docs/nowhere/")
        assert page.tags().count("script") == plain.tags().count("script")
        assert len(query(page) or "") < 150

    @pytest.mark.parametrize("accept", ["*/*", "application/json", "text/html;q=0, */*", ""])
    def test_other_clients_get_the_error_of_the_api(self, application: Edge, accept: str) -> None:
        assert request(application, "GET", "/docs/nowhere/", ("accept", accept)).status == 418

    @pytest.mark.parametrize("method", ["POST", "DELETE"])
    def test_other_methods_get_the_error_of_the_api(self, application: Edge, method: str) -> None:
        assert request(application, method, "/docs/nowhere/", BROWSER).status == 418

    @pytest.mark.parametrize("path", ["/app/nothing.js", "/nothing", "/docsy", "/v1/docs/nothing"])
    def test_addresses_beyond_the_reference_have_no_such_page(
        self, application: Edge, path: str
    ) -> None:
        assert request(application, "GET", path, BROWSER).status == 418

    def test_hosts_of_static_files_find_it_by_its_name(self) -> None:
        assert ADDRESS == "/docs/404.html"
        assert ADDRESS in RenderedPages(SOURCE)
