"""The words of all languages: each says what the others say, in letters that the font has."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields

import pytest

from accounting.tax.codes import CHARGED, PURCHASES_ONLY, Treatment
from libraries.pdf_files.letters import shown
from libraries.pdf_files.papers import Style, Term
from libraries.pdf_files.report_words import REPORT_LANGUAGES
from libraries.pdf_files.words import Words, words_of
from tests.contract.document import document

LANGUAGES = document()["components"]["schemas"]["ChartLanguage"]["enum"]


def words_in(language: str, country: str | None = None) -> Words:
    return words_of(Style(language=language, country=country, currency="EUR"))


def said(words: Words) -> Iterator[tuple[str, str]]:
    """Return all words by their place."""
    for each in fields(words):
        value = getattr(words, each.name)
        if isinstance(value, Mapping):
            yield from ((f"{each.name}.{key}", text) for key, text in value.items())
        else:
            yield each.name, value


@pytest.mark.parametrize("language", LANGUAGES)
class TestWordsOf:
    def test_say_the_same_in_each_language(self, language: str) -> None:
        english = {name: filled(text) for name, text in said(words_in("en"))}
        assert {name: filled(text) for name, text in said(words_in(language))} == english

    def test_are_in_letters_that_the_font_has(self, language: str) -> None:
        assert [text for _, text in said(words_in(language)) if shown(text) != text] == []

    def test_name_each_term_of_reports(self, language: str) -> None:
        words = REPORT_LANGUAGES[language]
        assert words.terms.keys() == set(Term)
        named = [*words.terms.values(), words.sum("Rent")]
        assert [text for text in named if not text or shown(text) != text] == []

    def test_name_each_reason_for_which_nothing_is_charged(self, language: str) -> None:
        taxed = CHARGED | PURCHASES_ONLY | {Treatment.WITHHOLDING}
        assert words_in(language).untaxed.keys() == {each.value for each in set(Treatment) - taxed}


@pytest.mark.parametrize(("country", "tax"), [("GB", "VAT"), ("MY", "SST"), ("SG", "GST")])
def test_english_names_the_tax_as_the_country_does(country: str, tax: str) -> None:
    words = words_in("en", country)
    assert (words.tax, words.vat_number) == (tax, f"{tax} number")
    assert words.tax_of == f"{tax} {{rate}} of {{net}}"


def filled(text: str) -> list[str]:
    """Name what is filled in."""
    return sorted(re.findall(r"{(\w+)}", text))
