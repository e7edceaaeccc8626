"""Identifiers: UUIDs of version 7, so that newer rows stand beside one another in an index."""

from functools import lru_cache
from uuid import UUID

import uuid_utils


def new_id() -> UUID:
    """Make an identifier that sorts by the moment it was made."""
    return UUID(int=uuid_utils.uuid7().int)


@lru_cache(maxsize=4096)
def known_id(text: str) -> UUID:
    """Read an id that comes again and again, of an account in each line or of a business."""
    return UUID(text)
