"""The page for people: how it is served, and what its files may contain."""

import gzip
import hashlib
import json
import re
from importlib.resources import files

import pytest

from persistence.integrity.checks import NAMES
from persistence.integrity.seals import KEPT_SEAL
from server.docs.app_page import POLICY, ROOT, page_files
from server.docs.application import Documentation
from server.http.edge import Edge, HttpsRule
from tests.contract.document import document
from tests.server.docs.reference.test_site import Elements
from tests.server.docs.small_contract import SOURCE
from tests.server.docs.test_application import nothing_there
from tests.server.driver import request

FILES = page_files()
PAGE = Elements(FILES[ROOT])
OURS = {name: text for name, text in FILES.items() if "/vendor/" not in name}
SCRIPTS = {name: text for name, text in OURS.items() if name.endswith(".js")}
WORDS = {
    name.removeprefix(f"{ROOT}words/").removesuffix(".json"): json.loads(text)
    for name, text in FILES.items()
    if name.startswith(f"{ROOT}words/")
}
# Enums that the page translates, by the section of its words.
ENUMS = {
    "source": ["JournalSourceType"],
    "status": [
        "InvoiceStatus",
        "PaymentStatus",
        "PayoutStatus",
        "InvoiceRefundStatus",
        "InvoiceRefundPaymentStatus",
        "CustomerCreditStatus",
        "BillStatus",
        "VendorPaymentStatus",
        "VendorCreditStatus",
        "VendorRefundStatus",
        "JournalEntryStatus",
        "OpeningBalanceStatus",
        "TaxReturnStatus",
        "BankReconciliationStatus",
        "CustomerStatus",
        "VendorStatus",
    ],
    "method": ["PaymentMethod", "BillPaymentMethod", "VendorRefundMethod"],
    "light": ["IntegrityStatus"],
    "rule": ["PostingRule"],
}
LANGUAGES = ["de", "en", "es", "fr", "nl"]
# All files that are loaded before the page appears, in one language, compressed.
MOST_BYTES = 53_000


@pytest.fixture(scope="module")
def application() -> Edge:
    return Edge(nothing_there, https=HttpsRule(), find_page=Documentation(SOURCE).find)


class TestServing:
    def test_the_policy_allows_nothing_inline(self) -> None:
        assert "unsafe" not in POLICY
        assert POLICY.startswith("default-src 'none'; script-src 'self'; style-src 'self'; ")

    @pytest.mark.parametrize(
        ("name", "media_type"),
        [
            ("style.css", "text/css; charset=utf-8"),
            ("main.js", "text/javascript; charset=utf-8"),
            ("views/overview.js", "text/javascript; charset=utf-8"),
            ("vendor/preact.mjs", "text/javascript; charset=utf-8"),
            ("words/de.json", "application/json"),
            ("icon.svg", "image/svg+xml"),
        ],
    )
    def test_a_loaded_file_has_its_type_and_is_sent_again_only_if_it_changed(
        self, application: Edge, name: str, media_type: str
    ) -> None:
        reply = request(application, "GET", f"{ROOT}{name}", ("accept-encoding", "gzip"))
        assert (reply.status, reply.header("content-type")) == (200, media_type)
        assert reply.header("content-encoding") == "gzip"
        assert gzip.decompress(reply.body).decode() == FILES[f"{ROOT}{name}"]
        tag = ("if-none-match", reply.header("etag") or "")
        again = request(application, "GET", f"{ROOT}{name}", ("accept-encoding", "gzip"), tag)
        assert (again.status, again.body) == (304, b"")


class TestFiles:
    def test_a_phone_loads_few_kilobytes(self) -> None:
        loaded = [
            text
            for name, text in FILES.items()
            if not name.startswith(f"{ROOT}words/") or name == f"{ROOT}words/en.json"
        ]
        assert sum(len(gzip.compress(text.encode(), mtime=0)) for text in loaded) < MOST_BYTES

    def test_nothing_is_inline(self) -> None:
        scripts = [attributes for tag, attributes in PAGE.found if tag == "script"]
        assert [script.get("src") for script in scripts] == [f"{ROOT}main.js"]
        assert "style" not in PAGE.tags()
        names = {name for _, attributes in PAGE.found for name in attributes}
        assert not {name for name in names if name == "style" or name.startswith("on")}

    def test_each_file_that_is_named_is_there_and_none_is_fetched_late(self) -> None:
        named = {*PAGE.values("href"), *PAGE.values("src")}
        assert named <= FILES.keys()
        modules = {name for name in FILES if name.endswith((".js", ".mjs"))}
        assert (
            modules <= named
        )  # Otherwise the browser would find it only after it has loaded another.

    def test_all_is_loaded_from_here(self) -> None:
        for name, text in OURS.items():
            addresses = set(re.findall(r"https?://[^\s\"'`)]+", text))
            assert addresses <= {"http://www.w3.org/2000/svg"}, name

    def test_a_token_is_kept_in_memory_only(self) -> None:
        storage = re.compile(r"localStorage|sessionStorage|indexedDB|cookie|caches\b")
        assert [name for name, text in SCRIPTS.items() if storage.search(text)] == []

    def test_the_page_only_reads(self) -> None:
        changed = re.compile(r"method:|\bPOST\b|\bPUT\b|\bPATCH\b|\bDELETE\b|sendBeacon")
        assert [name for name, text in SCRIPTS.items() if changed.search(text)] == []
        named = [name for name, text in OURS.items() if re.search("partner", text, re.IGNORECASE)]
        assert named == []

    def test_text_never_becomes_markup(self) -> None:
        markup = re.compile(r"innerHTML|outerHTML|insertAdjacent|\beval\b|Function\(")
        assert [name for name, text in SCRIPTS.items() if markup.search(text)] == []

    def test_a_vendored_file_is_unchanged_and_has_its_licence(self) -> None:
        vendor = files("server.docs.app_page") / "vendor"
        told = (vendor / "README.md").read_text("utf-8")
        rows = re.findall(r"^\| `(\S+)` \| (\S+) (\S+) .*\| `([0-9a-f]{64})` \|$", told, re.M)
        there = {each.name for each in vendor.iterdir() if each.name.endswith(".mjs")}
        assert {row[0] for row in rows} == there
        for name, library, _, digest in rows:
            assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == digest
            assert "Permission is hereby granted" in (vendor / f"{library}.LICENSE").read_text()


class TestWords:
    def test_every_language_says_everything(self) -> None:
        assert sorted(WORDS) == LANGUAGES
        for language, words in WORDS.items():
            assert words.keys() == WORDS["en"].keys(), language
            for name, text in words.items():
                assert text.strip(), (language, name)
                assert re.findall(r"\{\w+\}", text) == re.findall(r"\{\w+\}", WORDS["en"][name])

    def test_each_text_of_the_page_has_words(self) -> None:
        said = {
            name for text in SCRIPTS.values() for name in re.findall(r'\bsay\("([\w.]+)"', text)
        }
        assert len(said) > 50
        counted = {name.removesuffix(".other") for name in WORDS["en"]}  # Some have plurals.
        assert said <= WORDS["en"].keys() | counted

    def test_each_check_of_the_books_is_a_sentence(self) -> None:
        for words in WORDS.values():
            sentences = [words[f"check.{name}"] for name in (*NAMES, KEPT_SEAL)]
            assert all(text[0].isupper() and text.endswith(".") for text in sentences)
            assert len(set(sentences)) == len(sentences)
            assert not [text for text in sentences if "_" in text]

    @pytest.mark.parametrize("prefix", ENUMS)
    def test_each_enum_value_of_the_contract_has_words(self, prefix: str) -> None:
        schemas = document()["components"]["schemas"]
        words = {word.lower() for name in ENUMS[prefix] for word in schemas[name]["enum"]}
        named = {f"{prefix}.{word}" for word in words}
        assert named <= WORDS["en"].keys()
