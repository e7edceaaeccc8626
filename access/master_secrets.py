"""The master secrets that tokens and links are signed under, and what makes a ring of them sound.

A server looks at them before it starts, and loads nothing of what signs.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

RING_SIZE_LIMIT = 3
SECRET_SIZE_MINIMUM_BYTES = 32

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
_DISTINCT_BYTES_MINIMUM = 12  # Of 32 random bytes fewer are distinct about once in 10^20.


@dataclass(frozen=True, slots=True)
class MasterSecret:
    """One secret of the ring: a name that tokens may show, and bytes that nobody may see."""

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
    """Raise ValueError unless there are 1 to 3 secrets, each with a name and bytes of its own."""
    if not 1 <= len(secrets) <= RING_SIZE_LIMIT:
        raise ValueError(f"a ring holds 1 to {RING_SIZE_LIMIT} secrets")
    if len({secret.name for secret in secrets}) < len(secrets):
        raise ValueError("two secrets of the ring have the same name")
    if len({secret.key for secret in secrets}) < len(secrets):
        raise ValueError("two secrets of the ring are the same")
