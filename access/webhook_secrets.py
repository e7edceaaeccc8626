"""Secrets of webhook endpoints: their creation, encryption at rest, and the signatures under them.

A secret is stored encrypted (AES-256-GCM), under a key that is derived from the newest master
secret and named by it. It is bound to its endpoint: a row that is moved to another one opens
nothing. Every secret of the ring opens what was sealed under it.
"""

import os
import secrets
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from access.master_secrets import MasterSecret
from access.tokens import derive

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_SECRET_BYTES = 32
_NONCE_BYTES = 12


class UnreadableSecret(Exception):
    """A stored secret that no master secret of the ring opens."""


@dataclass(frozen=True, slots=True)
class SealedSecret:
    """A secret as it is stored: the name of the master secret, and a nonce with the ciphertext."""

    key_name: str
    sealed: bytes = field(repr=False)


class SecretVault:
    """The keys that seal and open secrets of endpoints, from a ring of master secrets."""

    def __init__(self, ring: Sequence[MasterSecret]) -> None:
        """Derive the keys, newest first."""
        self._keys = {each.name: derive(each, "webhook-secret/v1") for each in ring}
        self.newest = next(iter(self._keys))

    def seal(self, secret: str, endpoint_id: UUID) -> SealedSecret:
        """Encrypt a secret for its endpoint under the newest key."""
        nonce = os.urandom(_NONCE_BYTES)
        cipher = _cipher(self._keys[self.newest])
        return SealedSecret(
            self.newest, nonce + cipher.encrypt(nonce, secret.encode(), endpoint_id.bytes)
        )

    def open(self, stored: SealedSecret, endpoint_id: UUID) -> str:
        """Decrypt a secret of an endpoint; raises UnreadableSecret."""
        from cryptography.exceptions import InvalidTag

        key = self._keys.get(stored.key_name)
        if key is None:
            raise UnreadableSecret(f"the ring has no secret named {stored.key_name}")
        nonce, text = stored.sealed[:_NONCE_BYTES], stored.sealed[_NONCE_BYTES:]
        try:
            return _cipher(key).decrypt(nonce, text, endpoint_id.bytes).decode()
        except InvalidTag:
            raise UnreadableSecret("the stored secret was changed") from None

    def open_valid(self, stored: Sequence[SealedSecret], endpoint_id: UUID) -> list[str]:
        """Decrypt the valid secrets of an endpoint; raises UnreadableSecret for the newest.

        An older secret that cannot be decrypted is left out. So a partner can replace an unreadable
        secret: after a rotation it is an older one.
        """
        newest, *older = stored
        opened = [self.open(newest, endpoint_id)]
        for each in older:
            try:
                opened.append(self.open(each, endpoint_id))
            except UnreadableSecret:
                continue
        return opened


def make_webhook_secret() -> str:
    """Make a secret of 256 random bits, as `whsec_` and base64."""
    return f"whsec_{b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()}"


def signature(valid: Sequence[str], message_id: str, at: datetime, body: str) -> str:
    """Return the value of `webhook-signature`: one signature for each valid secret.

    `at` is aware, and `webhook-timestamp` has its whole seconds.
    """
    from standardwebhooks import Webhook

    moment = at.astimezone(UTC)  # The library reads every time as UTC, whatever its zone.
    return " ".join(Webhook(secret).sign(message_id, moment, body) for secret in valid)


def _cipher(key: bytes) -> "AESGCM":
    # Loading `cryptography` takes 8 MB, which most workers never need.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key)
