"""API keys of partners: their creation, their check without a database, and their storage.

A key is stored as HMAC-SHA-256 under a pepper of its own: 32 random bytes that are stored beside
the digest. The pepper is deliberately not derived from the token secrets. Those are rotated, and a
key made under a secret that has left the ring would stop working although nobody revoked it. Nor
would such a pepper protect more: if its public id is known, a key still has 131 random bits, which
nobody can guess from a digest, and an attacker who can write rows needs no key at all. For the same
reason a slow hash would only let strangers use up the server's time.
"""

import hmac
import re
import secrets
from dataclasses import dataclass, field
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Literal
from zlib import crc32

Environment = Literal["live", "test"]

_ALPHABET = digits + ascii_uppercase + ascii_lowercase
_RANDOM_LENGTH = 30
_CHECK_LENGTH = 6
_KEY_ID_LENGTH = 8
_PEPPER_SIZE_BYTES = 32
_KEY = re.compile(r"(apk_(?:live|test)_[0-9A-Za-z]{30})([0-9A-Za-z]{6})")
_NO_KEY = bytes(2 * _PEPPER_SIZE_BYTES)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A new key: its text, which is shown once, and the short id that lists always show."""

    text: str = field(repr=False)
    key_id: str


def make_key(environment: Environment) -> ApiKey:
    """Make a key of 178 random bits, as `apk_live_` + 30 characters + 6 of checksum."""
    random = "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_LENGTH))
    body = f"apk_{environment}_{random}"
    return ApiKey(body + _checksum(body), random[:_KEY_ID_LENGTH])


def looks_like_a_key(text: str) -> bool:
    """Return whether a text has the form and the checksum of a key, without looking it up.

    This detects typing errors, and keys in leaked files. It proves nothing else.
    """
    shape = _KEY.fullmatch(text)
    return shape is not None and _checksum(shape[1]) == shape[2]


def digest(text: str, pepper: bytes) -> bytes:
    """Return the 32 bytes of HMAC-SHA-256 of a key under a pepper."""
    return hmac.digest(pepper, text.encode(), "sha256")


def seal_key(text: str) -> bytes:
    """Return the stored form of a key: 64 bytes, a new pepper and the digest under it."""
    pepper = secrets.token_bytes(_PEPPER_SIZE_BYTES)
    return pepper + digest(text, pepper)


def opens(text: str, sealed: bytes | None) -> bool:
    """Return whether a key is the sealed one, in constant time.

    Pass None for a partner or key that does not exist: the same work is done and the result is
    False, so that the time does not distinguish an unknown partner from a wrong key.
    """
    kept = sealed or _NO_KEY
    pepper, known = kept[:_PEPPER_SIZE_BYTES], kept[_PEPPER_SIZE_BYTES:]
    same = hmac.compare_digest(digest(text, pepper), known)
    return same and sealed is not None


def _checksum(body: str) -> str:
    """Encode the CRC-32 of a key's body as 6 characters of base 62, which hold 35 bits."""
    number = crc32(body.encode())
    text = ""
    for _ in range(_CHECK_LENGTH):
        number, rest = divmod(number, len(_ALPHABET))
        text = _ALPHABET[rest] + text
    return text
