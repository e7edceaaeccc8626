import re
from copy import deepcopy
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any
from urllib.parse import urldefrag

import pytest

from server.docs.guides import all_guides
from server.docs.profiles import PROFILES
from server.docs.reference import ROOT
from server.docs.reference.operations import METHODS
from server.docs.reference.site import FILES, POLICY, site, static
from server.docs.reference.text import slug
from server.http.errors import PAGES_OF_CODES
from tests.server.docs.small_contract import DOCUMENT

MOST_BYTES = 100_000
CONTRACT_FILES = {
    "/openapi.yaml",
    "/openapi.json",
    *(f"/openapi.{name}.json" for name in PROFILES),
}
WITHOUT_END = {"br", "link", "meta", "input", "wbr", "hr"}


class Elements(HTMLParser):
    """The elements of a page with their places, and its titles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.nested: list[tuple[str, ...]] = []
        self.titles: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.nested.append((*self.open, tag))
        if tag not in WITHOUT_END:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "title":
            self.titles.append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, attributes in self.found if (value := attributes.get(name))]

    def tags(self) -> list[str]:
        return [tag for tag, _ in self.found]


@pytest.fixture(scope="module")
def pages(files: dict[str, str]) -> dict[str, Elements]:
    return {address: Elements(text) for address, text in files.items() if address.endswith("/")}


@pytest.fixture(scope="module")
def small() -> dict[str, str]:
    return site(DOCUMENT)


class TestSite:
    def test_every_operation_code_guide_and_schema_has_a_page(
        self, pages: dict[str, Elements], contract: dict[str, Any]
    ) -> None:
        operations = {
            item[method]["operationId"]
            for item in contract["paths"].values()
            for method in METHODS & item.keys()
        }
        schemas = contract["components"]["schemas"]
        assert below(pages, "operations") == operations
        assert below(pages, "errors") == set(schemas["ErrorCode"]["enum"])
        assert below(pages, "guides") == {guide.name for guide in all_guides("")}
        assert below(pages, "objects") == schemas.keys()
        assert operations

    def test_refusals_lead_to_the_pages_of_codes(self) -> None:
        assert f"{ROOT}errors/" == PAGES_OF_CODES

    def test_no_page_is_large(self, files: dict[str, str], pages: dict[str, Elements]) -> None:
        sizes = {address: len(files[address].encode()) for address in pages}
        assert {address: size for address, size in sizes.items() if size > MOST_BYTES} == {}

    def test_every_link_leads_to_a_place_that_is_there(
        self, files: dict[str, str], pages: dict[str, Elements]
    ) -> None:
        anchors = {address: set(page.values("id")) for address, page in pages.items()}
        for address, page in pages.items():
            for link in [*page.values("href"), *page.values("src"), *page.values("data-index")]:
                target, anchor = urldefrag(link)
                target = target or address
                assert target in files.keys() | CONTRACT_FILES, (address, link)
                assert not anchor or anchor in anchors[target], (address, link)

    def test_every_page_is_reached_by_links(self, pages: dict[str, Elements]) -> None:
        reached, waiting = {ROOT}, [ROOT]
        while waiting:
            links = {urldefrag(link)[0] for link in pages[waiting.pop()].values("href")}
            waiting += (links & pages.keys()) - reached
            reached |= links & pages.keys()
        assert reached == pages.keys()

    def test_nothing_is_loaded_but_its_own_style_and_scripts(
        self, files: dict[str, str], pages: dict[str, Elements]
    ) -> None:
        loading = {"img", "iframe", "object", "embed", "audio", "video", "base", "style"}
        for page in pages.values():
            assert not loading & set(page.tags())
            assert not page.values("style")
            assert not [name for _, found in page.found for name in found if name[:2] == "on"]
            loaded = [*page.values("src")]
            loaded += [found["href"] or "" for tag, found in page.found if tag == "link"]
            assert set(loaded) == {f"{ROOT}{name}" for name in FILES}
        for name in FILES:
            assert "@import" not in files[f"{ROOT}{name}"]
            assert "url(" not in files[f"{ROOT}{name}"]
            assert "//" not in re.sub(r"(^|\s)// .*", "", files[f"{ROOT}{name}"])

    def test_the_policy_allows_nothing_from_other_hosts(self, pages: dict[str, Elements]) -> None:
        directives = dict(part.split(" ", 1) for part in POLICY.split("; "))
        assert directives.pop("default-src") == "'none'"
        assert set(directives.values()) == {"'self'", "'none'"}
        for page in pages.values():
            assert POLICY in page.values("content")

    def test_each_has_a_title_of_its_own(self, pages: dict[str, Elements]) -> None:
        titles = ["".join(page.titles) for page in pages.values()]
        assert all(titles)
        assert len(titles) == len(set(titles))

    def test_headings_are_in_order(self, pages: dict[str, Elements]) -> None:
        for address, page in pages.items():
            levels = [int(tag[1]) for tag in page.tags() if re.fullmatch(r"h[1-6]", tag)]
            assert levels.count(1) == 1, address
            assert levels[0] == 1, address
            assert all(after <= before + 1 for before, after in pairwise(levels)), address

    def test_each_can_be_walked_by_keyboard_and_by_ear(self, pages: dict[str, Elements]) -> None:
        for address, page in pages.items():
            tags = page.tags()
            assert tags.count("main") == tags.count("header") == 1
            first_link = next(found for tag, found in page.found if tag == "a")
            assert first_link["href"] == "#content", address
            labelled = set(page.values("for"))
            inputs = {
                found.get("id")
                for (tag, found), around in zip(page.found, page.nested, strict=True)
                if tag in ("input", "textarea") and "label" not in around
            }
            assert inputs == labelled
            assert all(found.get("aria-label") for tag, found in page.found if tag == "nav")

    def test_anchors_are_given_once_and_links_hold_no_links(
        self, pages: dict[str, Elements]
    ) -> None:
        for address, page in pages.items():
            anchors = page.values("id")
            assert len(anchors) == len(set(anchors)), address
            assert max(place.count("a") for place in page.nested) == 1, address

    def test_operations_of_a_tag_follow_one_another(
        self, files: dict[str, str], contract: dict[str, Any]
    ) -> None:
        of_tag = [
            f"{ROOT}operations/{item[method]['operationId']}/"
            for item in contract["paths"].values()
            for method in item
            if method in METHODS and item[method]["tags"] == ["Customers"]
        ]
        for before, after in pairwise(of_tag):
            assert f'<a rel="next" href="{after}">' in files[before]
            assert f'<a rel="prev" href="{before}">' in files[after]
        assert 'rel="prev"' not in files[of_tag[0]]
        assert 'rel="next"' not in files[of_tag[-1]]


class TestPages:
    def test_the_changelog_has_each_release_and_leads_to_what_it_names(
        self, files: dict[str, str]
    ) -> None:
        page = files["/docs/changelog/"]
        titles = re.findall(r"^## (.+)$", static("changelog.md"), re.MULTILINE)
        assert titles
        for title in titles:
            version = slug(title.split()[0])
            assert f'<h2 id="version-{version}">{title}</h2>' in page
        assert '<a href="/docs/operations/get_integrity/"><code>' in page
        assert '<a href="/docs/errors/idempotency_key_reused/"><code>' in page

    def test_the_downloads_lead_to_each_form_of_the_contract(
        self, pages: dict[str, Elements]
    ) -> None:
        assert set(pages["/docs/downloads/"].values("href")) >= CONTRACT_FILES

    def test_an_operation_tells_its_codes(self, small: dict[str, str]) -> None:
        page = small["/docs/operations/change_thing/"]
        for code in ("thing_not_found", "thing_is_stuck", "thing_is_old", "thing_is_odd"):
            assert f'<td><a href="/docs/errors/{code}/"><code>' in page
        assert '<td><a href="/docs/errors/thing_is_big/">' not in page

    def test_an_error_tells_what_to_do_and_who_answers_it(self, small: dict[str, str]) -> None:
        page = small["/docs/errors/thing_is_stuck/"]
        for told in ("The thing is stuck.", "Wait.", "stuck_since", "When it got stuck.", "409"):
            assert told in page
        assert "It is stuck." in page
        assert '<a href="/docs/operations/change_thing/">' in page
        assert "Any operation may answer it." not in page

    def test_an_error_of_any_operation_says_so(self, small: dict[str, str]) -> None:
        page = small["/docs/errors/thing_is_broken/"]
        assert "Any operation may answer it." in page

    def test_the_event_types_tell_what_they_mean_and_who_makes_them(
        self, small: dict[str, str], pages: dict[str, Elements], contract: dict[str, Any]
    ) -> None:
        assert "No operation makes it." in small["/docs/events/"]
        assert '<a href="/docs/operations/change_thing/">' in small["/docs/events/"]
        assert '<a href="/docs/events/#thing.updated">' in small["/docs/operations/change_thing/"]
        types = contract["components"]["schemas"]["EventType"]["enum"]
        assert {*types} <= {*pages["/docs/events/"].values("id")}

    def test_an_object_tells_where_it_stands(self, small: dict[str, str]) -> None:
        assert '<a href="/docs/operations/change_thing/">' in small["/docs/objects/ThingCreate/"]
        assert '<a href="/docs/objects/ThingCreate/">' in small["/docs/objects/Colour/"]

    def test_a_deprecated_parameter_says_since_when(self) -> None:
        document = deepcopy(DOCUMENT)
        [parameter] = document["paths"]["/v1/things/{thing_id}/"]["post"]["parameters"]
        parameter["deprecated"] = True
        parameter["x-deprecated"] = {"since": "2026-01-31", "until": "2027-01-31"}
        page = site(document)["/docs/operations/change_thing/"]
        assert "deprecated since 2026-01-31, ends on 2027-01-31" in page

    def test_hostile_words_stay_words(self) -> None:
        hostile = '"><script>alert(1)</script>'
        document = deepcopy(DOCUMENT)
        document["info"]["title"] = hostile
        document["info"]["description"] = f"{hostile} [a](javascript:alert(1)) ![b](http://c/d)"
        thing = document["components"]["schemas"]["ThingCreate"]
        thing["properties"][hostile] = {"type": "string", "description": hostile, "enum": [hostile]}
        operation = document["paths"]["/v1/things/{thing_id}/"]["post"]
        operation["summary"] = operation["description"] = hostile
        content = operation["requestBody"]["content"]["application/json"]
        content["examples"] = {hostile: {"value": {hostile: hostile}}, "b": {"value": 1}}
        document["components"]["x-error-codes"]["thing_is_odd"]["do"] = hostile
        for address, text in site(document).items():
            if address.endswith("/"):
                page = Elements(text)
                assert page.tags().count("script") == 4
                assert not [link for link in page.values("href") if "javascript" in link]


def below(pages: dict[str, Elements], kind: str) -> set[str]:
    """Return the names of the pages in a folder."""
    found = (re.fullmatch(rf"{ROOT}{kind}/([^/]+)/", address) for address in pages)
    return {match[1] for match in found if match}
