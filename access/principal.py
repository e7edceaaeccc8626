"""Who is calling: the one value that the server hands to every layer below it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class CallerKind(StrEnum):
    """With what the caller proved itself; the contract's security schemes, one to one."""

    PARTNER_KEY = "partner_key"
    PARTNER_TOKEN = "partner_token"
    BUSINESS_TOKEN = "business_token"


@dataclass(frozen=True, slots=True)
class Caller:
    """A proven caller: `business_id` only for a business token, `key_id` only for an API key.

    `issued_at` is the token's `iat` (aware UTC, whole seconds), so that a token older than a
    revocation can be told from a newer one, and `token_id` is what a revocation of this one token
    names. Both are None for an API key.
    """

    kind: CallerKind
    partner_id: UUID
    business_id: UUID | None = None
    issued_at: datetime | None = None
    key_id: str | None = None
    token_id: UUID | None = None
