import json
from typing import Any
from urllib.parse import urldefrag

import pytest

from server.docs.reference import ROOT
from server.docs.reference.search_index import SearchEntry, search_index
from server.docs.reference.site import static
from tests.server.docs import node

MOST_BYTES = 300_000  # A quarter of that when compressed.

PLACES = {
    "telephone": "operations/create_customer/",
    "credit_limit": "objects/Customer/#field-credit_limit",
    "credit limit": "objects/Customer/#field-credit_limit",
    "PERIOD_LOCKED": "errors/period_locked/",
    "coffees one day": "guides/bank-statements/",
    "void inv": "operations/void_invoice/",
}
UNKNOWN = ["qqqq", " ( "]
# Reads questions and the index; writes the results of each.
ASK = """
const { index, questions } = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(questions.map((question) => find(index, question))));
"""


@pytest.fixture(scope="module")
def text(files: dict[str, str]) -> str:
    return files[f"{ROOT}search.json"]


@pytest.fixture(scope="module")
def index(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.fixture(scope="module")
def found(index: dict[str, Any]) -> dict[str, list[dict[str, str]]]:
    questions = [*PLACES, "create invoice", *UNKNOWN]
    answers = node.run(static("find.js") + ASK, {"index": index, "questions": questions})
    return dict(zip(questions, answers, strict=True))


def pages_of(index: dict[str, Any], kind: str, word: str) -> set[str]:
    """Return the addresses of pages that have a word, or a field of that name."""
    return {index["pages"][number][2] for number in index[kind][word]}


class TestSearchIndex:
    def test_the_index_holds_words_of_texts_and_names_of_fields(self) -> None:
        pages = [
            SearchEntry("Guide", "First steps", "/1/", "Go.", "Go, with snake_case.", (), ""),
            SearchEntry("Object", "Thing", "/2/", "A `b`.", "A thing.", ("size",), "field-"),
            SearchEntry("Object", "Other", "/3/", "", "Size matters.", ("size",), "field-"),
        ]
        index = search_index(pages)
        assert index["pages"][1] == ["Object", "Thing", "/2/", "A `b`.", "field-"]
        assert index["words"]["snake_case"] == index["words"]["first"] == [0]
        assert index["fields"] == {"size": [1, 2]}

    def test_words_of_most_pages_are_left_out(self) -> None:
        pages = [SearchEntry("Guide", "A", f"/{n}/", "", f"the word{n}") for n in range(3)]
        assert set(search_index(pages)["words"]) == {"word0", "word1", "word2"}

    def test_a_note_is_short(self) -> None:
        note = "many words " * 40
        [page] = search_index([SearchEntry("Guide", "A", "/a/", note, "")])["pages"]
        assert len(page[3]) < 120
        assert page[3].endswith("many words …")

    def test_the_index_is_small(self, text: str) -> None:
        assert len(text.encode()) < MOST_BYTES

    def test_each_address_of_the_index_exists(
        self, index: dict[str, Any], files: dict[str, str]
    ) -> None:
        assert all(urldefrag(address)[0] in files for _, _, address, _, _ in index["pages"])
        for name, numbers in index["fields"].items():
            for number in numbers:
                _, _, address, _, anchor = index["pages"][number]
                assert f'id="{anchor}{name}"' in files[address]

    def test_the_index_holds_every_kind_of_page(self, index: dict[str, Any]) -> None:
        operations = pages_of(index, "words", "telephone")
        assert f"{ROOT}operations/create_customer/" in operations
        assert f"{ROOT}objects/Customer/" in pages_of(index, "fields", "credit_limit")
        assert f"{ROOT}errors/period_locked/" in pages_of(index, "words", "period_locked")
        assert f"{ROOT}guides/bank-statements/" in pages_of(index, "words", "mt940")
        assert f"{ROOT}changelog/#version-1-3-1" in pages_of(index, "words", "receivables")
        assert f"{ROOT}downloads/" in pages_of(index, "words", "postman")


@node.needs_node
class TestFind:
    @pytest.mark.parametrize("question", PLACES)
    def test_the_search_finds_words_fields_codes_and_beginnings(
        self, found: dict[str, list[dict[str, str]]], question: str
    ) -> None:
        assert f"{ROOT}{PLACES[question]}" in [place["address"] for place in found[question]][:5]

    def test_the_name_of_a_code_comes_first(self, found: dict[str, list[dict[str, str]]]) -> None:
        assert found["PERIOD_LOCKED"][0]["kind"] == "Error code"

    def test_a_title_that_has_the_words_comes_before_longer_ones(
        self, found: dict[str, list[dict[str, str]]]
    ) -> None:
        titles = [place["title"] for place in found["create invoice"]]
        assert titles[:2] == ["Create an invoice", "Create an invoice payment"]

    @pytest.mark.parametrize("question", UNKNOWN)
    def test_the_search_finds_nothing_for_unknown_words(
        self, found: dict[str, list[dict[str, str]]], question: str
    ) -> None:
        assert found[question] == []
