"""Texts and IBANs in the fields of bank files."""

import pytest

from libraries.bank_files.field_values import decoded, iban_in, tidy


class TestFieldValues:
    @pytest.mark.parametrize(
        ("content", "declared", "text"),
        [
            ("Müller €".encode(), "", "Müller €"),
            (b"\xef\xbb\xbfMuller", "", "Muller"),
            ("Müller €".encode("cp1252"), "", "Müller €"),
            ("Müller €".encode("iso-8859-15"), "ISO-8859-15", "Müller €"),
            (b"\x81\x8d", "", "\x81\x8d"),
        ],
    )
    def test_bytes_become_text(self, content: bytes, declared: str, text: str) -> None:
        assert decoded(content, declared) == text

    def test_what_cannot_be_seen_is_left_out(self) -> None:
        assert tidy("  a\x00b\r\n\tc  ") == "a b c"
        assert tidy(" \x00 ") is None

    @pytest.mark.parametrize(
        ("text", "iban"),
        [
            ("NL91ABNA0417164300", "NL91ABNA0417164300"),
            ("nl91 abna 0417 1643 00 EUR", "NL91ABNA0417164300"),
            ("NL92ABNA0417164300", None),
            ("37040044/0532013000", None),
            ("", None),
        ],
    )
    def test_an_iban_is_told_from_other_numbers(self, text: str, iban: str | None) -> None:
        assert iban_in(text) == iban
