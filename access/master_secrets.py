"""The master secrets under which tokens and links are signed, and the checks of a ring of them.

A server checks them before it starts, without loading the code that signs.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

RING_SIZE_LIMIT = 3
SECRET_SIZE_MINIMUM_BYTES = 32

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
_DISTINCT_BYTES_MINIMUM = 12  # 32 random bytes have fewer distinct values about once in 10^20.


@dataclass(frozen=True, slots=True)
class MasterSecret:
    """A secret of the ring: a name that tokens may show, and key bytes that are never shown."""

    name: str
    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if _NAME.fullmatch(self.name) is None:
            raise ValueError("its name must be 1 to 32 letters, digits, hyphens or underscores")
        if len(self.key) < SECRET_SIZE_MINIMUM_BYTES:
            raise ValueError(f"it must be at least {SECRET_SIZE_MINIMUM_BYTES} bytes long")
        if len(set(self.key)) < _DISTINCT_BYTES_MINIMUM:
            raise ValueError("it does not look random")


def refuse_unsound_ring(secrets: Sequence[MasterSecret]) -> None:
    """Raise ValueError unless there are 1 to 3 secrets, with distinct names and distinct bytes."""
    if not 1 <= len(secrets) <= RING_SIZE_LIMIT:
        raise ValueError(f"a ring holds 1 to {RING_SIZE_LIMIT} secrets")
    if len({secret.name for secret in secrets}) < len(secrets):
        raise ValueError("two secrets of the ring have the same name")
    if len({secret.key for secret in secrets}) < len(secrets):
        raise ValueError("two secrets of the ring are the same")
