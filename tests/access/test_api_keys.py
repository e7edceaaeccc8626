import hashlib
import hmac
import re
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from access import api_keys

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class TestMake:
    @pytest.mark.parametrize("environment", ["live", "test"])
    def test_a_key_has_the_promised_form(self, environment: api_keys.Environment) -> None:
        key = api_keys.make_key(environment)
        assert re.fullmatch(rf"apk_{environment}_[0-9A-Za-z]{{36}}", key.text)
        assert key.key_id == key.text[9:17]

    def test_the_last_six_characters_are_the_crc_of_the_rest(self) -> None:
        text = api_keys.make_key("live").text
        number = 0
        for character in text[-6:]:
            number = number * 62 + ALPHABET.index(character)
        assert number == crc32(text[:-6].encode())

    def test_keys_differ_and_are_not_in_their_repr(self) -> None:
        keys = [api_keys.make_key("live") for _ in range(500)]
        assert len({key.text for key in keys}) == 500
        assert keys[0].text not in repr(keys[0])


class TestLooksRight:
    def test_a_made_key_looks_right(self) -> None:
        assert all(api_keys.looks_like_a_key(api_keys.make_key("test").text) for _ in range(200))

    def test_any_single_slip_is_seen(self) -> None:
        text = api_keys.make_key("live").text
        for position, character in enumerate(text):
            slipped = text[:position] + ("b" if character == "a" else "a") + text[position + 1 :]
            assert not api_keys.looks_like_a_key(slipped)

    def test_a_live_key_is_not_passed_off_as_a_test_key(self) -> None:
        assert not api_keys.looks_like_a_key(api_keys.make_key("live").text.replace("live", "test"))

    @pytest.mark.parametrize("end", ["\n", " ", "0", "\0"])
    def test_nothing_may_follow(self, end: str) -> None:
        assert not api_keys.looks_like_a_key(api_keys.make_key("live").text + end)

    @given(st.text())
    def test_other_text_never_looks_right(self, text: str) -> None:
        assert not api_keys.looks_like_a_key(text)


class TestSeal:
    def test_a_key_opens_its_own_seals_only(self) -> None:
        text = api_keys.make_key("live").text
        sealed, again = api_keys.seal_key(text), api_keys.seal_key(text)
        assert sealed != again
        assert api_keys.opens(text, sealed)
        assert api_keys.opens(text, again)
        for other in (api_keys.seal_key(api_keys.make_key("live").text), None, b""):
            assert not api_keys.opens(text, other)

    def test_the_digest_is_hmac_sha_256(self) -> None:
        text = api_keys.make_key("live").text
        sealed = api_keys.seal_key(text)
        assert len(sealed) == 64
        expected = hmac.new(sealed[:32], text.encode(), hashlib.sha256).digest()
        assert sealed[32:] == expected == api_keys.digest(text, sealed[:32])
