"""Bearer tokens, issued and verified under a ring of master secrets with one derived key per kind.

The claims are exactly those that partners are promised. Everything that hardens a token is outside
them, in its header and in the keys: a key id that names secret and kind, and a key per kind, so
that a token of one kind is never accepted as the other.
"""

import hmac
import json
import re
from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, NoReturn
from uuid import UUID

import jwt

from access.master_secrets import MasterSecret, refuse_unsound_ring
from access.principal import Caller, CallerKind

TOKEN_LIFETIME_SECONDS = 3600
CLOCK_LEEWAY_SECONDS = 5
TOKEN_SIZE_LIMIT_BYTES = 2048
FULL_SCOPE = "business_access"
READ_SCOPE = "business_access_read"

_ALGORITHM = "HS256"
_LIFETIME = timedelta(seconds=TOKEN_LIFETIME_SECONDS)
_TOKEN = re.compile(r"([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_CANONICAL_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class TokenError(Exception):
    """A text that is not a valid token of this server."""


class ExpiredTokenError(TokenError):
    """A valid token that has expired."""


@dataclass(frozen=True, slots=True)
class _TokenKey:
    """The key of one kind of token under one secret, and the header that names it."""

    kind: CallerKind
    key_id: str
    key: bytes = field(repr=False)

    @classmethod
    def derive(cls, secret: MasterSecret, kind: CallerKind) -> "_TokenKey":
        return cls(kind, f"{secret.name}.{kind}", derive(secret, f"token/{kind}/v1"))

    @property
    def header(self) -> str:
        """The header segment of every token under this key, character for character."""
        fields = {"alg": _ALGORITHM, "kid": self.key_id, "typ": "JWT"}
        text = json.dumps(fields, separators=(",", ":"), sort_keys=True)
        return urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


class Keyring:
    """The keys of tokens: the newest secret signs, and every secret of the ring is accepted."""

    def __init__(self, secrets: Sequence[MasterSecret], *, remembered_tokens: int = 4096) -> None:
        """Derive the keys from 1 to 3 secrets, newest first; ValueError if they form no valid
        ring.
        """
        refuse_unsound_ring(secrets)
        self._partner_key = _TokenKey.derive(secrets[0], CallerKind.PARTNER_TOKEN)
        self._business_key = _TokenKey.derive(secrets[0], CallerKind.BUSINESS_TOKEN)
        kinds = (CallerKind.PARTNER_TOKEN, CallerKind.BUSINESS_TOKEN)
        keys = [_TokenKey.derive(secret, kind) for secret in secrets for kind in kinds]
        # A header is accepted only if it is exactly a text that we write ourselves. This fixes the
        # algorithm, type and key id, and excludes `crit`, unknown and repeated fields.
        self._keys = {key.header: key for key in keys}
        self._signer = jwt.PyJWS([_ALGORITHM], {"enforce_minimum_key_length": True})
        self._remembered: OrderedDict[str, tuple[Caller, datetime]] = OrderedDict()
        self._remembered_limit = remembered_tokens

    def issue_partner_token(self, partner_id: UUID, now: datetime) -> str:
        """Create a token with which a partner acts for itself for one hour from `now` (aware)."""
        return self._sign(self._partner_key, {"sub": str(partner_id), "type": "partner"}, now)

    def issue_business_token(
        self, partner_id: UUID, business_id: UUID, now: datetime, scope: str = FULL_SCOPE
    ) -> str:
        """Create a token for one business of the partner, for one hour from `now` (aware)."""
        claims = {"sub": str(partner_id), "business_id": str(business_id), "scope": scope}
        return self._sign(self._business_key, claims, now)

    def read(self, token: str, now: datetime) -> Caller:
        """Verify a token and return its caller.

        Raises TokenError or ExpiredTokenError. A token issued at 12:00:00 is valid through 12:59:59
        and refused from 13:00:00 on.
        """
        known = self._remembered.get(token)
        if known is not None and now < known[1]:
            return known[0]
        caller, expires_at = self._verify(token, now)
        if now >= expires_at:
            raise ExpiredTokenError
        # Verifying a signature costs more than all other checks of a token, so a valid token is
        # cached by its whole text. The cache drops its oldest token, which costs only a check.
        self._remembered[token] = caller, expires_at
        if len(self._remembered) > self._remembered_limit:
            self._remembered.popitem(last=False)
        return caller

    def find(self, token: str, now: datetime) -> Caller | None:
        """Return the caller of a token, or None if the token is invalid or expired."""
        try:
            return self.read(token, now)
        except TokenError:
            return None

    def _sign(self, key: _TokenKey, claims: dict[str, str], now: datetime) -> str:
        issued = int(now.timestamp())
        times = {"iat": issued, "exp": issued + TOKEN_LIFETIME_SECONDS}
        payload = json.dumps({**claims, **times}, separators=(",", ":")).encode()
        return self._signer.encode(payload, key.key, _ALGORITHM, {"kid": key.key_id})

    def _verify(self, token: str, now: datetime) -> tuple[Caller, datetime]:
        shape = _TOKEN.fullmatch(token) if len(token) <= TOKEN_SIZE_LIMIT_BYTES else None
        key = self._keys.get(shape[1]) if shape is not None else None
        if key is None:
            raise TokenError
        try:
            payload = self._signer.decode(token, key.key, [_ALGORITHM])
        except jwt.InvalidTokenError:
            raise TokenError from None
        claims = _claims(payload)
        issued_at = _issued_at(claims, now)
        caller = _caller(key.kind, claims, issued_at)
        return replace(caller, token_id=token_id(token)), issued_at + _LIFETIME


def issued_from(now: datetime, valid_from: datetime) -> tuple[datetime, datetime]:
    """Return the two `iat` times that a new token may have, given the end of a revocation.

    Two tokens issued in one second are the same. The second time is for use if the token with the
    first is revoked by itself. Both may be up to 5 s in the future, which any server accepts.
    """
    first = max(now, valid_from)
    return first, first + timedelta(seconds=1)


def valid_from_after(now: datetime, valid_from: datetime) -> datetime:
    """Return the first `iat` that is valid after all tokens issued until now are revoked.

    At 12:00:00.4 a token may already have 12:00:01 (see `issued_from`), so the result is 12:00:02.
    """
    return max(now.replace(microsecond=0), valid_from) + timedelta(seconds=2)


def token_id(token: str) -> UUID:
    """Return an id of a token that does not reveal it: half of the SHA-256 of its signed text.

    The signature is left out: its last character has unused bits, so that one token can be written
    in several ways.
    """
    return UUID(bytes=sha256(token.rpartition(".")[0].encode()).digest()[:16])


def derive(secret: MasterSecret, info: str) -> bytes:
    """Derive the key for one use of a secret (32 bytes); it reveals nothing of the other keys."""
    # This is HKDF (RFC 5869) with one block. Loading `cryptography` would take 8 MB in each server.
    extracted = hmac.digest(bytes(32), secret.key, "sha256")
    return hmac.digest(extracted, f"accounting-platform/{info}".encode() + b"\x01", "sha256")


def _claims(payload: bytes) -> dict[str, Any]:
    try:
        claims = json.loads(
            payload.decode(), object_pairs_hook=_distinct, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        raise TokenError from None
    if type(claims) is not dict:
        raise TokenError
    return claims


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name is repeated")
    return members


def _refuse_constant(_constant: str) -> NoReturn:
    raise ValueError("JSON has no such number")


def _issued_at(claims: dict[str, Any], now: datetime) -> datetime:
    issued, expires = claims.get("iat"), claims.get("exp")
    # `type` and not `isinstance`: True is an int, but not a time.
    if type(issued) is not int or type(expires) is not int:
        raise TokenError
    if expires - issued != TOKEN_LIFETIME_SECONDS:
        raise TokenError
    # The bounds also exclude numbers that are beyond the calendar.
    if not 0 <= issued <= now.timestamp() + CLOCK_LEEWAY_SECONDS:
        raise TokenError
    return datetime.fromtimestamp(issued, UTC)


def _caller(kind: CallerKind, claims: dict[str, Any], issued_at: datetime) -> Caller:
    if kind is CallerKind.PARTNER_TOKEN:
        if claims.keys() != {"sub", "type", "iat", "exp"} or claims["type"] != "partner":
            raise TokenError
        return Caller(kind, _uuid(claims["sub"]), issued_at=issued_at)
    if claims.keys() != {"sub", "business_id", "scope", "iat", "exp"}:
        raise TokenError
    scope = claims["scope"]
    if scope not in (FULL_SCOPE, READ_SCOPE):
        raise TokenError
    partner_id, business_id = _uuid(claims["sub"]), _uuid(claims["business_id"])
    return Caller(kind, partner_id, business_id, issued_at, only_reads=scope == READ_SCOPE)


def _uuid(claim: object) -> UUID:
    if type(claim) is not str or _CANONICAL_UUID.fullmatch(claim) is None:
        raise TokenError
    return UUID(claim)
