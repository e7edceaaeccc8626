"""Forged tokens, made with and without our own keys."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from access.master_secrets import MasterSecret
from access.principal import CallerKind
from access.tokens import _TokenKey
from tests import clock
from tests.api_server import SECRET

LIFETIME = 3600
Claims = dict[str, Any]


def encoded(value: bytes | Claims) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(
    claims: Claims | bytes,
    kind: CallerKind,
    secret: MasterSecret = SECRET,
    header: str | None = None,
) -> str:
    """Return a token with any claims, signed with the true key of a kind."""
    key = _TokenKey.derive(secret, kind)
    unsigned = f"{header or key.header}.{encoded(claims)}"
    return f"{unsigned}.{encoded(hmac.digest(key.key, unsigned.encode(), hashlib.sha256))}"


def claims_of(partner_id: str, business_id: str | None = None, *, age: int = 0) -> Claims:
    """Return the claims of a true token that is `age` seconds old."""
    issued = int(clock.now().timestamp()) - age
    times = {"iat": issued, "exp": issued + LIFETIME}
    if business_id is None:
        return {"sub": partner_id, "type": "partner", **times}
    return {"sub": partner_id, "business_id": business_id, "scope": "business_access", **times}


def forgeries(partner_id: str, business_id: str | None, other: str) -> Iterator[tuple[str, str]]:
    """Yield forged tokens of a kind, each with its fault; `other` is the owner that they claim."""
    kinds = (CallerKind.PARTNER_TOKEN, CallerKind.BUSINESS_TOKEN)
    kind, wrong_kind = kinds if business_id is None else kinds[::-1]
    claims = claims_of(partner_id, business_id)
    true = signed(claims, kind)
    header, payload, signature = true.split(".")
    yield "a word", "token"
    yield "three words", "a.b.c"
    yield "no signature", f"{header}.{payload}."
    yield "two parts", f"{header}.{payload}"
    yield "four parts", f"{true}.{signature}"
    yield "padded", f"{true}="
    yield "padded in the middle", f"{header}=.{payload}.{signature}"
    yield "stray bits", true[:-1] + chr(ord(true[-1]) + 1)
    yield "upper case", true.upper()
    yield "too long", f"{header}.{payload}{'A' * 4000}.{signature}"
    yield "not ASCII", f"{true}\u00e9"
    for algorithm in ("none", "None", "HS384", "HS512", "RS256"):
        other_header = encoded({"alg": algorithm, "kid": f"test.{kind}", "typ": "JWT"})
        yield f"alg {algorithm}", f"{other_header}.{payload}."
        yield f"alg {algorithm}, signed", signed(claims, kind, header=other_header)
    for name, fields in {
        "no kid": {"alg": "HS256", "typ": "JWT"},
        "unknown kid": {"alg": "HS256", "kid": "other.partner", "typ": "JWT"},
        "crit": {"alg": "HS256", "crit": ["exp"], "kid": f"test.{kind}", "typ": "JWT"},
        "jwk": {"alg": "HS256", "jwk": {}, "kid": f"test.{kind}", "typ": "JWT"},
    }.items():
        yield name, signed(claims, kind, header=encoded(fields))
    yield "another secret", signed(claims, kind, MasterSecret("test", bytes(range(1, 33))))
    yield "signed as the other kind", signed(claims, wrong_kind)
    for field in claims:
        edited = {**claims, field: claims[field] + 1 if field in ("iat", "exp") else other}
        yield f"edited {field}", f"{header}.{encoded(edited)}.{signature}"
        yield f"missing {field}", signed({k: v for k, v in claims.items() if k != field}, kind)
        yield f"{field} is null", signed({**claims, field: None}, kind)
        yield f"{field} is a list", signed({**claims, field: [claims[field]]}, kind)
    yield from badly_claimed(claims, kind)


def badly_claimed(claims: Claims, kind: CallerKind) -> Iterator[tuple[str, str]]:
    """Yield correctly signed tokens with claims that the server never writes."""
    issued = claims["iat"]
    for name, changes in {
        "two hours": {"exp": issued + 2 * LIFETIME},
        "for ever": {"exp": 2**53},
        "made tomorrow": {"iat": issued + 86_400, "exp": issued + 86_400 + LIFETIME},
        "one claim more": {"admin": True},
        "fractions": {"iat": issued + 0.5, "exp": issued + 0.5 + LIFETIME},
        "times as text": {"iat": str(issued), "exp": str(issued + LIFETIME)},
        "the other spelling": {"sub": claims["sub"].upper()},
        "an unknown partner": {"sub": str(uuid4())},
        "not a partner": {"sub": "partner"},
        "other kind of claims": {"type": "business"},
    }.items():
        yield name, signed({**claims, **changes}, kind)
    doubled = json.dumps(claims)[:-1] + f', "sub": "{claims["sub"]}"}}'
    yield "a claim twice", signed(doubled.encode(), kind)
    yield "claims that are a list", signed(b"[]", kind)
    yield "claims that are no JSON", signed(b"{", kind)
