"""Texts in the letters that the font has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.chart import STARTING_CHART, TRANSLATIONS
from libraries.pdf_files.letters import BOX, shown, width, wrapped

ANY_TEXT = st.text(st.characters(codec="utf-8"))


class TestShown:
    @pytest.mark.parametrize(
        "text",
        [
            "Blue Door Bakery",
            "Bäckerei Grüß, Œuvre & Ñandú “1 200 €” … £ zł ₺ ₽ №",
            "Ζαχαροπλαστείο Αθήνα",
            "Кондитерская «Ёж»",
            "Երևան ლარი",
            "10\u202f000,50\xa0€",
            "first\nsecond",
        ],
    )
    def test_is_what_was_given_where_the_font_has_it(self, text: str) -> None:
        assert shown(text) == text

    @pytest.mark.parametrize(
        ("text", "boxed"),
        [
            ("Bon Café 店", f"Bon Café {BOX}"),
            ("שלום", BOX * 4),
            ("مقهى", BOX * 4),
            ("🎂 cake", f"{BOX} cake"),
            ("👩\u200d🍳", BOX * 2),  # A joiner stands between both, and is nothing to be seen.
            ("\u202eevil", "evil"),
            ("cafe\u0301", "café"),
            ("a\tb\u3000c\x07", "a b c "),
            ("first\u2028second\r\nthird", "first\nsecond\nthird"),
            ("\ue000\U0010ffff", BOX * 2),
        ],
    )
    def test_is_a_box_for_each_letter_that_it_lacks(self, text: str, boxed: str) -> None:
        assert shown(text) == boxed

    @pytest.mark.parametrize("names", [STARTING_CHART, *TRANSLATIONS.values()])
    def test_is_every_name_of_an_account_as_it_is(self, names: object) -> None:
        known = (
            names.values() if isinstance(names, dict) else [each.name for each in STARTING_CHART]
        )
        assert [name for name in known if shown(name) != name] == []

    @given(ANY_TEXT)
    def test_can_be_measured_whatever_it_was(self, text: str) -> None:
        known = shown(text)
        assert shown(known) == known
        assert all(width(line, 8.5) >= 0 for line in known.split("\n"))
        assert all(width(line, 8.5, bold=True) >= 0 for line in known.split("\n"))


class TestWrapped:
    def test_breaks_between_words(self) -> None:
        assert wrapped("House blend of July", 22, 8.5) == ["House blend", "of July"]

    def test_keeps_breaks_that_were_given(self) -> None:
        assert wrapped("one\n\ntwo", 100, 8.5) == ["one", "", "two"]

    def test_breaks_a_word_that_is_too_long(self) -> None:
        lines = wrapped("a " + "x" * 60, 20, 8.5)
        assert "".join(lines) == "a" + "x" * 60
        assert all(width(line, 8.5) <= 20 for line in lines)

    @given(ANY_TEXT, st.floats(5, 100))
    def test_loses_no_letter_and_fits(self, text: str, room: float) -> None:
        known = shown(text)
        lines = wrapped(known, room, 8.5)
        assert "".join("".join(lines).split()) == "".join(known.split())
        assert all(width(line, 8.5) <= room + 0.001 for line in lines)
