"""Identifiers: UUIDs of version 7, so that newer rows stand beside one another in an index."""

from uuid import UUID

import uuid_utils


def new_id() -> UUID:
    """Make an identifier that sorts by the moment it was made."""
    return UUID(int=uuid_utils.uuid7().int)
