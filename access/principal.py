"""The authenticated caller, as the server passes it to every layer below."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class CallerKind(StrEnum):
    """The type of credential of a caller, one for each security scheme of the contract."""

    PARTNER_KEY = "partner_key"
    PARTNER_TOKEN = "partner_token"
    BUSINESS_TOKEN = "business_token"


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller: `business_id` of a business token only, `key_id` of an API key only.

    `only_reads` is true of a business token that was issued for reading.
    `issued_at` is the token's `iat` (aware UTC, whole seconds), which is compared with the time of
    a revocation. `token_id` identifies this token when it is revoked alone. Both are None for an
    API key.
    """

    kind: CallerKind
    partner_id: UUID
    business_id: UUID | None = None
    issued_at: datetime | None = None
    key_id: str | None = None
    token_id: UUID | None = None
    only_reads: bool = False
