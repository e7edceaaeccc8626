"""The guides: their files, their place in the pages, and what they state of the contract."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files as resources

import pytest

from server.contract.document import Contract
from server.docs import guides
from server.docs.guides import GROUPS, Guide, all_guides
from server.docs.reference import ROOT
from server.docs.reference.site import site
from server.docs.reference.text import slug
from server.http.schemas import SchemaCompiler
from tests.contract.document import document, named, operations, walk
from tools.mcp.definitions import TOOLS

ALL = list(all_guides(document()["info"]["description"]))
FILES = ALL[1:]
MOST_WORDS = 650  # Two to three minutes, with tables.
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Words in backticks that no schema has: a check of the books, a part of a header, links of `/app/`.
OTHERS = {
    *("stored_answers", "info", "version", "r", "t", "said", "null"),
    *("view", "overview", "receivables", "payables", "bank", "entries", "integrity"),
    *("own", "from", "to", "period", "language"),
}

NAME = re.compile(r"\??([a-z][a-z_]*(?:\.[a-z][a-z_]*)*)(?:[=:].*)?")

each_guide = pytest.mark.parametrize("guide", ALL, ids=lambda guide: guide.name)
each_file = pytest.mark.parametrize("guide", FILES, ids=lambda guide: guide.name)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return site(document())


@pytest.fixture(scope="module")
def names() -> set[str]:
    """The names of operations, codes, fields, parameters, credentials, values and tools."""
    found = {operation.name for operation in operations()} | OTHERS | TOOLS.keys()
    for _, node in walk(document()):
        for key in ("properties", "detail", "securitySchemes"):
            found |= node[key].keys() if isinstance(node.get(key), dict) else set()
        if isinstance(node.get("name"), str):
            found.add(node["name"])
        if isinstance(node.get("enum"), list):
            found |= {part for value in node["enum"] for part in str(value).split(".")}
    return found


def prose(guide: Guide) -> str:
    """Return a guide without its samples."""
    return FENCE.sub("", guide.text)


class TestFiles:
    def test_the_list_has_each_file_once(self) -> None:
        listed = [name for names in GROUPS.values() for name in names.split()]
        here = {file.name for file in resources(guides).iterdir() if file.name.endswith(".md")}
        assert len(listed) == len(set(listed))
        assert {f"{name}.md" for name in listed} == here

    @each_file
    def test_a_file_is_named_after_its_title(self, guide: Guide) -> None:
        assert guide.name == slug(guide.title)

    @each_file
    def test_a_guide_begins_with_a_sentence_and_has_second_level_headings(
        self, guide: Guide
    ) -> None:
        assert re.match(r"\n[A-Z`*][^\n|]", guide.text)
        assert set(re.findall(r"^(#+) ", prose(guide), re.MULTILINE)) <= {"##"}

    @each_file
    def test_a_guide_is_read_in_some_minutes(self, guide: Guide) -> None:
        assert len(prose(guide).split()) <= MOST_WORDS

    def test_the_text_of_the_contract_lists_them_in_their_order(self) -> None:
        listed = " ".join(ALL[0].text.partition("\n## Guides\n")[2].split())
        links = re.findall(r"\[([^]]+)\]\(/docs/guides/([^)]+)/\)", listed)
        assert links == [(guide.title, guide.name) for guide in FILES]
        assert re.findall(r"\*\*(.+?)\*\*", listed) == [*GROUPS]


class TestPages:
    @each_guide
    def test_each_is_on_the_start_page_in_the_navigation_and_in_the_search(
        self, guide: Guide, pages: dict[str, str]
    ) -> None:
        address = f"{ROOT}guides/{guide.name}/"
        assert f'<a href="{address}">' in pages[ROOT].partition('<nav id="contents"')[0]
        contents = pages[f"{ROOT}guides/start-here/"].partition('<nav id="contents"')[2]
        assert f'<a href="{address}"' in contents
        index = json.loads(pages[f"{ROOT}search.json"])
        assert ("Guide", guide.title, address) in [tuple(page[:3]) for page in index["pages"]]

    def test_the_first_page_shows_what_the_api_is(self, pages: dict[str, str]) -> None:
        assert "Accounting for many businesses" in pages[ROOT]
        assert "First calls" in pages[f"{ROOT}guides/start-here/"]


class TestStatements:
    @each_guide
    def test_each_name_exists_in_the_contract(self, guide: Guide, names: set[str]) -> None:
        quoted = re.findall(r"`([^`\n]+)`", prose(guide))
        found = (NAME.fullmatch(text) for text in quoted)
        parts = {part for match in found if match for part in match[1].split(".")}
        assert parts - names == set()

    def test_the_guide_for_agents_has_all_tools(self) -> None:
        [guide] = [each for each in FILES if each.name == "agents-mcp"]
        assert TOOLS.keys() - {*re.findall(r"`(\w+)`", prose(guide))} == set()

    def test_an_unknown_name_is_noticed(self, names: set[str]) -> None:
        assert {"create_webhook", "no_such_code", "amount_pence"} & names == set()
        assert {"create_invoice", "period_locked", "BusinessToken", "page_size", "cash"} <= names

    def test_each_sample_is_a_valid_request(self) -> None:
        compiler = SchemaCompiler(Contract.load())
        found = [sample for guide in FILES for sample in requests(guide)]
        assert len(found) >= 20
        for method, address, body in found:
            operation = addressed(method, address)
            for name in re.findall(r"[?&](\w+)=", address):
                assert named(operation).takes(name), address
            if body is not None:
                schema = named(operation).node["requestBody"]["content"]["application/json"]
                errors = compiler.validator(schema["schema"]).iter_errors(json.loads(body))
                assert [error.message for error in errors] == [], body


def requests(guide: Guide) -> Iterator[tuple[str, str, str | None]]:
    """Yield the requests in the samples of a guide: method, address and JSON body."""
    for language, text in FENCE.findall(guide.text):
        if language == "http":
            line, _, body = text.partition("\n\n")
            method, _, address = line.partition(" ")
            yield method, address, body
        if language == "sh":
            for command in re.split(r"^curl ", text.replace("\\\n", ""), flags=re.MULTILINE)[1:]:
                yield curl(command)


def curl(command: str) -> tuple[str, str, str | None]:
    """Return the request of a curl command."""
    method = re.search(r"-X (\w+)", command)
    body = re.search(r"-d '(\{.*?\})'", command, re.DOTALL)
    sends = re.search(r" -(d|F) ", command)
    address = re.search(r'"\$API(/[^"]*)"', command)
    assert address, command
    default = "POST" if sends else "GET"
    return method[1] if method else default, f"/v1/platform{address[1]}", body and body[1]


def addressed(method: str, address: str) -> str:
    """Return the operation that a request calls."""
    path = re.sub(r"\$\w+", "{}", address.partition("?")[0])
    path = re.sub(r"\{\w+\}", "{}", path)
    [found] = [
        operation.name
        for operation in operations()
        if (operation.method, re.sub(r"\{\w+\}", "{}", operation.path)) == (method.lower(), path)
    ]
    return found
