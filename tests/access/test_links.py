"""Signed links to documents: each opens one document for a quarter of an hour."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from access.links import ExpiredLinkError, LinkError, Links, LinkSigner
from access.master_secrets import MasterSecret
from access.tokens import Keyring

NOW = datetime(2026, 3, 14, 12, 0, 0, 250_000, tzinfo=UTC)
BUSINESS = UUID("0192f3aa-2222-7000-8000-00000000000b")
DOCUMENT = UUID("0192f3aa-4444-7000-8000-00000000000d")
OLD, MIDDLE, NEW = (
    MasterSecret(name, bytes((place + start) % 256 for place in range(32)))
    for name, start in (("old", 0), ("middle", 40), ("new", 80))
)
OTHER = "0192f3aa-5555-7000-8000-00000000000e"
SIGNER = LinkSigner([NEW])


def parts(url: str) -> tuple[str, str]:
    split = urlsplit(url)
    return split.path, split.query


def signed(signer: LinkSigner = SIGNER) -> tuple[str, str]:
    return parts(signer.sign(BUSINESS, DOCUMENT, NOW))


class TestLink:
    def test_it_opens_what_it_was_signed_for(self) -> None:
        link = SIGNER.read(*signed(), NOW)
        assert (link.business_id, link.document_id) == (BUSINESS, DOCUMENT)
        assert link.signed_at == NOW.replace(microsecond=0)

    def test_it_is_relative_unless_the_address_is_known(self) -> None:
        assert SIGNER.sign(BUSINESS, DOCUMENT, NOW).startswith("/documents/")
        whole = LinkSigner([NEW], "https://api.example.com").sign(BUSINESS, DOCUMENT, NOW)
        assert whole.startswith("https://api.example.com/documents/")
        assert SIGNER.read(*parts(whole), NOW).document_id == DOCUMENT

    def test_it_is_good_for_900_seconds(self) -> None:
        SIGNER.read(*signed(), NOW + timedelta(seconds=899))
        with pytest.raises(ExpiredLinkError):
            SIGNER.read(*signed(), NOW + timedelta(seconds=900))

    def test_changing_any_bit_of_it_breaks_it(self) -> None:
        path, query = signed()
        whole = f"{path}?{query}".encode()
        for place in range(len(whole)):
            for bit in range(8):
                changed = bytearray(whole)
                changed[place] ^= 1 << bit
                named, _, said = changed.decode("latin-1").partition("?")
                with pytest.raises(LinkError):
                    SIGNER.read(named, said, NOW)

    @pytest.mark.parametrize(
        "change",
        [
            lambda _: "",
            lambda query: f"{query}&x=1",
            lambda query: f"x=1&{query}",
            lambda query: f"{query}&{query}",
            lambda query: f"{query}=",
            lambda query: f"{query}\n",
            lambda query: query.replace("expires=", "expires=0"),
            lambda query: query.replace("expires=", "expires=%31").replace("%311", "%31"),
            lambda query: "&".join(reversed(query.split("&"))),
            lambda query: query[:-1],
            lambda query: query.partition("&")[0],
            lambda query: query.partition("&")[2],
        ],
    )
    def test_it_has_one_form_only(self, change) -> None:
        path, query = signed()
        with pytest.raises(LinkError):
            SIGNER.read(path, change(query), NOW)

    def test_its_signature_opens_no_other_document_and_no_other_business(self) -> None:
        path, query = signed()
        others = [path.replace(str(each), OTHER) for each in (DOCUMENT, BUSINESS)]
        swapped = f"/documents/{DOCUMENT}/{BUSINESS}"
        for other in (*others, swapped, path.upper(), path + "//", path.replace("/doc", "//doc")):
            with pytest.raises(LinkError):
                SIGNER.read(other, query, NOW)

    def test_a_later_time_under_the_same_signature_is_refused(self) -> None:
        path, query = signed()
        seconds = int(NOW.timestamp()) + 900
        with pytest.raises(LinkError):
            SIGNER.read(path, query.replace(str(seconds), str(seconds + 1)), NOW)


class TestRing:
    @pytest.mark.parametrize(
        ("signing", "reading"), [([OLD], [NEW, MIDDLE, OLD]), ([NEW, OLD], [NEW])]
    )
    def test_the_newest_secret_signs_and_all_open(self, signing: Any, reading: Any) -> None:
        made = signed(LinkSigner(signing))
        assert LinkSigner(reading).read(*made, NOW).document_id == DOCUMENT

    def test_a_secret_that_was_dropped_opens_nothing(self) -> None:
        with pytest.raises(LinkError):
            LinkSigner([NEW, MIDDLE]).read(*signed(LinkSigner([OLD])), NOW)

    def test_its_key_is_neither_the_secret_nor_that_of_a_token(self) -> None:
        keys = set(LinkSigner([NEW])._keys)
        assert NEW.key not in keys
        assert keys.isdisjoint(key.key for key in Keyring([NEW])._keys.values())


class TestLinks:
    def test_they_are_of_one_business_and_one_moment(self) -> None:
        links = Links(SIGNER, BUSINESS, NOW)
        assert links.to(DOCUMENT) == SIGNER.sign(BUSINESS, DOCUMENT, NOW)
