"""Links to stored documents: signed for one document and a quarter of an hour.

A link needs no other credential, so it stands in for one: the signature covers everything it says,
under a key of its own derived from the ring of master secrets, and its only accepted form is the
one that is written here, character for character.
"""

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from uuid import UUID

from access.master_secrets import MasterSecret
from access.tokens import derive

LINK_LIFETIME_SECONDS = 900
LINKS_PATH = "/documents/"

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_PATH = re.compile(rf"{LINKS_PATH}({_UUID})/({_UUID})/?")
_QUERY = re.compile(r"expires=([1-9][0-9]{9})&signature=([A-Za-z0-9_-]{43})")


class LinkError(Exception):
    """The address is no link of ours."""


class ExpiredLinkError(LinkError):
    """The link was ours and its time is over."""


@dataclass(frozen=True, slots=True)
class SignedLink:
    """What a link opens, and when it was signed (aware UTC, whole seconds)."""

    business_id: UUID
    document_id: UUID
    signed_at: datetime


class LinkSigner:
    """Signs links under the newest secret and reads those signed under any secret of the ring."""

    def __init__(self, secrets: Sequence[MasterSecret], base_url: str = "") -> None:
        """Take the ring, newest first, and the address that links begin with; none: relative."""
        self._keys = [derive(secret, "link/v1") for secret in secrets]
        self._base_url = base_url

    def sign(self, business_id: UUID, document_id: UUID, now: datetime) -> str:
        """Return the address of a document for 900 s from `now` (aware)."""
        expires = int(now.timestamp()) + LINK_LIFETIME_SECONDS
        signature = _signature(self._keys[0], business_id, document_id, expires)
        path = f"{LINKS_PATH}{business_id}/{document_id}"
        return f"{self._base_url}{path}?expires={expires}&signature={signature}"

    def read(self, path: str, query: str, now: datetime) -> SignedLink:
        """Tell what a link opens; LinkError or ExpiredLinkError when it opens nothing.

        A link signed at 12:00:00 is good through 12:14:59 and refused from 12:15:00 on.
        """
        named, said = _PATH.fullmatch(path), _QUERY.fullmatch(query)
        if named is None or said is None:
            raise LinkError
        business_id, document_id, expires = UUID(named[1]), UUID(named[2]), int(said[1])
        # Every key is tried, so that time tells nothing. The text is compared and not what it
        # stands for: the last character has bits to spare.
        matches = [
            hmac.compare_digest(_signature(key, business_id, document_id, expires), said[2])
            for key in self._keys
        ]
        if not any(matches):
            raise LinkError
        if now.timestamp() >= expires:
            raise ExpiredLinkError
        signed_at = datetime.fromtimestamp(expires - LINK_LIFETIME_SECONDS, UTC)
        return SignedLink(business_id, document_id, signed_at)


@dataclass(frozen=True, slots=True)
class Links:
    """The links that one answer about one business shows."""

    signer: LinkSigner
    business_id: UUID
    now: datetime

    def to(self, document_id: UUID) -> str:
        """Return the address of a document's content."""
        return self.signer.sign(self.business_id, document_id, self.now)


def _signature(key: bytes, business_id: UUID, document_id: UUID, expires: int) -> str:
    said = f"{business_id}/{document_id}/{expires}".encode()
    return urlsafe_b64encode(hmac.digest(key, said, sha256)).rstrip(b"=").decode()
