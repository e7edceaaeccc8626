"""API keys of partners: how one is made, recognised without a database, and kept.

A key is kept as HMAC-SHA-256 under a pepper of its own: 32 random bytes that are stored beside
the digest. The pepper is deliberately not derived from the token secrets. Those are rotated, and
a key made under a secret that has left the ring would die without anybody having revoked it. Nor
would such a pepper protect more: what is left of a key when its public id is known is 131 random
bits, which nobody guesses from any digest, and whoever can write rows needs no key at all. A slow
hash would only let strangers spend our time, for the same reason.
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
    """A new key: its text, which is shown once, and the short id that lists show for ever."""

    text: str = field(repr=False)
    key_id: str


def make(environment: Environment) -> ApiKey:
    """Make a key of 178 random bits, as `apk_live_` + 30 characters + 6 of checksum."""
    random = "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_LENGTH))
    body = f"apk_{environment}_{random}"
    return ApiKey(body + _checksum(body), random[:_KEY_ID_LENGTH])


def looks_right(text: str) -> bool:
    """Tell whether the text is a key by its form and checksum, without asking anybody.

    A slip of the pen is found here, and so is a key in a leaked file. It proves nothing else.
    """
    shape = _KEY.fullmatch(text)
    return shape is not None and _checksum(shape[1]) == shape[2]


def digest(text: str, pepper: bytes) -> bytes:
    """Return the 32 bytes of HMAC-SHA-256 of a key under a pepper."""
    return hmac.digest(pepper, text.encode(), "sha256")


def seal(text: str) -> bytes:
    """Return what the store keeps of a key: 64 bytes, a new pepper and the digest under it."""
    pepper = secrets.token_bytes(_PEPPER_SIZE_BYTES)
    return pepper + digest(text, pepper)


def opens(text: str, sealed: bytes | None) -> bool:
    """Tell in constant time whether a key is the sealed one.

    Give None for a partner or key that does not exist: the same work is done, and the answer is
    no, so that time does not tell an unknown partner from a wrong key.
    """
    kept = sealed or _NO_KEY
    pepper, known = kept[:_PEPPER_SIZE_BYTES], kept[_PEPPER_SIZE_BYTES:]
    same = hmac.compare_digest(digest(text, pepper), known)
    return same and sealed is not None


def _checksum(body: str) -> str:
    """Write the CRC-32 of a key's body as 6 characters of base 62, which hold 35 bits."""
    number = crc32(body.encode())
    text = ""
    for _ in range(_CHECK_LENGTH):
        number, rest = divmod(number, len(_ALPHABET))
        text = _ALPHABET[rest] + text
    return text
