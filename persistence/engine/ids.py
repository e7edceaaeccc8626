"""Identifiers: UUIDs of version 7, so that newer rows are next to each other in an index."""

from functools import lru_cache
from uuid import UUID

import uuid_utils


def new_id() -> UUID:
    """Create an identifier that sorts by the moment of its creation."""
    return UUID(int=uuid_utils.uuid7().int)


@lru_cache(maxsize=4096)
def known_id(text: str) -> UUID:
    """Parse an id that is frequent, such as that of an account or a business; cached."""
    return UUID(text)
