"""Parsing of If-Match into the versions that the client accepts."""

import re

from persistence.engine.scope import Precondition

_TAG = re.compile(r'"([0-9]{1,19})"')


def read(if_match: str | None) -> Precondition | None:
    """Parse the header: `*` accepts any version, a list of tags those versions, anything else none.

    A weak tag never matches (RFC 9110, section 13.1.1).
    """
    if if_match is None:
        return None
    if if_match.strip() == "*":
        return Precondition(None)
    tags = (_TAG.fullmatch(part.strip()) for part in if_match.split(","))
    return Precondition(frozenset(int(tag[1]) for tag in tags if tag))
