import gzip
import json
import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

import pytest

from server.docs.reference import ROOT
from server.docs.reference.search_index import SearchEntry, search_index
from server.docs.reference.site import static
from tests.server.docs import node

MOST_BYTES = 90_000  # Compressed, as nearly every browser gets it.

PLACES = {
    "telephone": "operations/create_customer/",
    "credit_limit": "objects/Customer/#field-credit_limit",
    "credit limit": "objects/Customer/#field-credit_limit",
    "PERIOD_LOCKED": "errors/period_locked/",
    "coffees one day": "guides/bank-statements/",
    "void inv": "operations/void_invoice/",
}
SEARCHES: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parent / "searches.toml").read_text(encoding="utf-8")
)
# Each with the word that it is for, and the beginning of an address that is found first.
MISTYPED = {
    "idempotancy": ("idempotency", "guides/idempotency/"),
    "invioce": ("invoice", "guides/invoices/"),
    "recieve bill": ("receive bill", "operations/receive_bill/"),
    "pyout": ("payout", "guides/payouts/"),
    "subscrption": ("subscription", "operations/create_invoice/"),
    "authentification": ("authentication", "guides/authentication/"),
}
# Words that are at first sight like known ones, but too short to be mistyped.
OTHER = ["qqqq", "zzzzzzz", "xyl"]
SINGLE = [" ( ", "void qqqq", "payout", "create invoice"]
SAME = {
    "refunded invoice": "operations/create_invoice_refund/",
    "invoices voided": "operations/void_invoice/",
    "deleting invoices": "operations/delete_invoice/",
    "reconcile": "guides/bank-reconciliation/",
    "reconciling": "guides/bank-reconciliation/",
    "allocate payment": "guides/payments-and-partial-payments/",
    "categorizing": "operations/categorize_bank_transaction/",
}
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
def found(index: dict[str, Any]) -> dict[str, dict[str, Any]]:
    questions = [*PLACES, *SEARCHES, *MISTYPED, *OTHER, *SAME, *SINGLE]
    answers = node.run(static("find.js") + ASK, {"index": index, "questions": questions})
    return dict(zip(questions, answers, strict=True))


def addresses(answer: dict[str, Any]) -> list[str]:
    """Return the addresses that were found, without the folder of the reference."""
    return [place["address"].removeprefix(ROOT) for place in answer["places"]]


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
        assert len(gzip.compress(text.encode())) < MOST_BYTES

    def test_each_synonym_is_a_phrase_and_leads_to_a_page(self, index: dict[str, Any]) -> None:
        meanings = {meaning for each in index["synonyms"].values() for meaning in each}
        assert all(re.fullmatch(r"[a-z0-9_]+( [a-z0-9_]+)*", each) for each in index["synonyms"])
        answers = node.run(static("find.js") + ASK, {"index": index, "questions": sorted(meanings)})
        assert {
            m for m, answer in zip(sorted(meanings), answers, strict=True) if not answer["places"]
        } == set()

    def test_each_beginning_and_word_of_a_synonym_leads_to_a_page(
        self, index: dict[str, Any]
    ) -> None:
        words = {word for phrase in index["synonyms"] for word in phrase.split()}
        begun = sorted({word[:length] for word in words for length in range(1, len(word) + 1)})
        answers = node.run(static("find.js") + ASK, {"index": index, "questions": begun})
        empty = {w for w, answer in zip(begun, answers, strict=True) if not answer["places"]}
        assert empty == set()

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
        self, found: dict[str, dict[str, Any]], question: str
    ) -> None:
        assert PLACES[question] in addresses(found[question])[:5]

    @pytest.mark.parametrize("question", SEARCHES)
    def test_what_partners_type_leads_to_its_page(
        self, found: dict[str, dict[str, Any]], question: str
    ) -> None:
        first = addresses(found[question])[:3]
        assert set(first) & set(SEARCHES[question]), first

    @pytest.mark.parametrize("question", MISTYPED)
    def test_a_mistyped_word_is_corrected_and_the_reader_learns_so(
        self, found: dict[str, dict[str, Any]], question: str
    ) -> None:
        meant, address = MISTYPED[question]
        assert addresses(found[question])[0] == address
        assert found[question]["told"].startswith(f"Results for “{meant}”: ")

    @pytest.mark.parametrize("question", OTHER)
    def test_an_unknown_word_is_named_and_pages_are_shown_all_the_same(
        self, found: dict[str, dict[str, Any]], question: str
    ) -> None:
        assert found[question]["told"] == f"Nothing found for “{question}”. The nearest:"
        assert addresses(found[question])

    def test_an_unknown_word_does_not_hide_what_others_find(
        self, found: dict[str, dict[str, Any]]
    ) -> None:
        assert addresses(found["void qqqq"]) == addresses(found["void"])
        assert found["void qqqq"]["told"].startswith("Nothing found for “qqqq”. Without it: ")

    @pytest.mark.parametrize("question", SAME)
    def test_other_forms_of_a_word_find_the_same_page_first(
        self, found: dict[str, dict[str, Any]], question: str
    ) -> None:
        assert addresses(found[question])[0] == SAME[question]

    def test_a_query_without_words_finds_nothing_and_says_nothing(
        self, found: dict[str, dict[str, Any]]
    ) -> None:
        assert found[" ( "] == {"places": [], "told": ""}

    def test_the_name_of_a_code_comes_first(self, found: dict[str, dict[str, Any]]) -> None:
        assert found["PERIOD_LOCKED"]["places"][0]["kind"] == "Error code"

    def test_guides_and_operations_come_before_objects_and_objects_before_codes(
        self, found: dict[str, dict[str, Any]]
    ) -> None:
        kinds = [place["kind"] for place in found["payout"]["places"]]
        assert kinds[0] == "Guide"
        assert kinds.index("Guide") < kinds.index("Operation") < kinds.index("Object")
        assert "Changelog" not in kinds[:10]

    def test_a_title_that_has_the_words_comes_before_longer_ones(
        self, found: dict[str, dict[str, Any]]
    ) -> None:
        titles = [place["title"] for place in found["create invoice"]["places"]]
        assert titles[:2] == ["Create an invoice", "Create an invoice payment"]

    def test_pages_with_all_words_come_before_pages_with_some(
        self, found: dict[str, dict[str, Any]], index: dict[str, Any]
    ) -> None:
        first = found["coffees one day"]["places"][0]["address"]
        assert first in pages_of(index, "words", "coffees")

    def test_a_field_of_many_pages_does_not_fill_the_list(
        self, found: dict[str, dict[str, Any]]
    ) -> None:
        titles = [place["title"] for place in found["external id"]["places"]]
        assert titles.count("external_id") == 2
