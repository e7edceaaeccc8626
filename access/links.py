"""Signed links to stored documents: each is valid for one document and for 15 minutes.

A link works without any other credential. Its signature therefore covers all of its values, under a
key of its own derived from the ring of master secrets. The server accepts a link only in the exact
form in which it writes links.
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
from access.tokens import Keyring, derive
from access.webhook_secrets import SecretVault

LINK_LIFETIME_SECONDS = 900
LINKS_PATH = "/documents/"

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_PATH = re.compile(rf"{LINKS_PATH}({_UUID})/({_UUID})/?")
_QUERY = re.compile(r"expires=([1-9][0-9]{9})&signature=([A-Za-z0-9_-]{43})")


class LinkError(Exception):
    """An address that is not a valid link of this server."""


class ExpiredLinkError(LinkError):
    """A valid link that has expired."""


@dataclass(frozen=True, slots=True)
class SignedLink:
    """The business and document of a link, and when it was signed (aware UTC, whole seconds)."""

    business_id: UUID
    document_id: UUID
    signed_at: datetime


class LinkSigner:
    """A signer of links: it signs with the newest secret, and accepts every secret of the ring."""

    def __init__(self, secrets: Sequence[MasterSecret], base_url: str = "") -> None:
        """Derive the keys, newest first; `base_url` begins every link (empty: relative links)."""
        self._keys = [derive(secret, "link/v1") for secret in secrets]
        self._base_url = base_url

    def sign(self, business_id: UUID, document_id: UUID, now: datetime) -> str:
        """Return the address of a document, valid for 900 s from `now` (aware)."""
        expires = int(now.timestamp()) + LINK_LIFETIME_SECONDS
        signature = _signature(self._keys[0], business_id, document_id, expires)
        path = f"{LINKS_PATH}{business_id}/{document_id}"
        return f"{self._base_url}{path}?expires={expires}&signature={signature}"

    def read(self, path: str, query: str, now: datetime) -> SignedLink:
        """Verify a link and return its contents.

        Raises LinkError or ExpiredLinkError. A link signed at 12:00:00 is valid through 12:14:59
        and refused from 12:15:00 on.
        """
        named, said = _PATH.fullmatch(path), _QUERY.fullmatch(query)
        if named is None or said is None:
            raise LinkError
        business_id, document_id, expires = UUID(named[1]), UUID(named[2]), int(said[1])
        # Every key is tried, so that the time reveals nothing. The text is compared and not the
        # decoded bytes: the last character has unused bits.
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
    """The links in one response about one business."""

    signer: LinkSigner
    business_id: UUID
    now: datetime

    def to(self, document_id: UUID) -> str:
        """Return the address of a document's content."""
        return self.signer.sign(self.business_id, document_id, self.now)


def _signature(key: bytes, business_id: UUID, document_id: UUID, expires: int) -> str:
    said = f"{business_id}/{document_id}/{expires}".encode()
    return urlsafe_b64encode(hmac.digest(key, said, sha256)).rstrip(b"=").decode()


# The keys under which the server issues tokens and links to documents, and seals secrets.


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys for tokens, links and stored secrets, derived separately from one ring."""

    keyring: Keyring
    signer: LinkSigner
    vault: SecretVault
