import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from access.master_secrets import MasterSecret
from access.principal import Caller, CallerKind
from access.tokens import READ_SCOPE, ExpiredTokenError, Keyring, TokenError, token_id

NOW = datetime(2026, 3, 14, 12, 0, 0, tzinfo=UTC)
ISSUED = int(NOW.timestamp())
PARTNER = UUID("0192f3aa-1111-7000-8000-00000000000a")
BUSINESS = UUID("0192f3aa-2222-7000-8000-00000000000b")
SECRET = MasterSecret("b", bytes(range(40)))
OLDER = MasterSecret("a", bytes(range(100, 140)))
UNKNOWN = MasterSecret("b", bytes(range(50, 90)))
PARTNER_CLAIMS = {"sub": str(PARTNER), "type": "partner", "iat": ISSUED, "exp": ISSUED + 3600}
PARTNER_HEADER = {"alg": "HS256", "kid": "b.partner_token", "typ": "JWT"}
BUSINESS_CLAIMS = {
    "sub": str(PARTNER),
    "business_id": str(BUSINESS),
    "scope": "business_access",
    "iat": ISSUED,
    "exp": ISSUED + 3600,
}


def encode(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def decode(segment: str) -> Any:
    return json.loads(urlsafe_b64decode(segment + "=="))


def token_key(kind: CallerKind, secret: MasterSecret = SECRET) -> bytes:
    info = f"accounting-platform/token/{kind}/v1".encode()
    return HKDF(SHA256(), 32, salt=None, info=info).derive(secret.key)


@dataclass(frozen=True)
class Forge:
    """A token signed with the true keys; each field given departs from a valid token."""

    kind: CallerKind = CallerKind.PARTNER_TOKEN
    header: Any = None
    payload: Any = None
    key: bytes | None = None
    hash_name: str = "sha256"
    finish: Callable[[str], str] = str

    def text(self) -> str:
        good = PARTNER_CLAIMS if self.kind is CallerKind.PARTNER_TOKEN else BUSINESS_CLAIMS
        header = {"alg": "HS256", "kid": f"b.{self.kind}", "typ": "JWT"}
        parts = []
        for given, default in ((self.header, header), (self.payload, good)):
            content = default if given is None else given
            if not isinstance(content, bytes):
                content = json.dumps(content, separators=(",", ":")).encode()
            parts.append(encode(content))
        body = ".".join(parts)
        key = token_key(self.kind) if self.key is None else self.key
        signature = hmac.digest(key, body.encode(), self.hash_name)
        return self.finish(f"{body}.{encode(signature)}")


def partner(**claims: Any) -> Forge:
    return Forge(payload={**PARTNER_CLAIMS, **claims})


def business(**claims: Any) -> Forge:
    return Forge(CallerKind.BUSINESS_TOKEN, payload={**BUSINESS_CLAIMS, **claims})


def without(claim: str) -> Forge:
    return Forge(payload={name: v for name, v in PARTNER_CLAIMS.items() if name != claim})


def headed(finish: Callable[[str], str] = str, **fields: Any) -> Forge:
    header = {**PARTNER_HEADER, **fields}
    header = {name: value for name, value in header.items() if value is not None}
    return Forge(header=header, finish=finish)


def with_stray_bits(token: str) -> str:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    stray = token[:-1] + alphabet[alphabet.index(token[-1]) | 1]
    assert stray != token
    assert urlsafe_b64decode(stray.split(".")[2] + "=") == urlsafe_b64decode(
        token.split(".")[2] + "="
    )
    return stray


def with_edited_claims(token: str) -> str:
    header, _, signature = token.split(".")
    edited = {**PARTNER_CLAIMS, "sub": str(BUSINESS)}
    return f"{header}.{encode(json.dumps(edited).encode())}.{signature}"


def with_other_header(token: str) -> str:
    _, payload, signature = token.split(".")
    header = {"alg": "HS256", "kid": "b.business_token", "typ": "JWT"}
    return f"{encode(json.dumps(header, separators=(',', ':')).encode())}.{payload}.{signature}"


def without_signature(token: str) -> str:
    return token.rpartition(".")[0] + "."


FORGED = {
    "alg none, unsigned": headed(without_signature, alg="none"),
    "alg none, signed": headed(alg="none"),
    "alg in another case": headed(alg="hs256"),
    "alg HS512": Forge(header={**PARTNER_HEADER, "alg": "HS512"}, hash_name="sha512"),
    "alg RS256": headed(alg="RS256"),
    "no alg": headed(alg=None),
    "no kid": headed(kid=None),
    "an unknown kid": headed(kid="z.partner_token"),
    "a kid without a kind": headed(kid="b"),
    "a kid that is a path": headed(kid="../../dev/null"),
    "a kid that is no text": headed(kid=["b.partner_token"]),
    "no typ": headed(typ=None),
    "another typ": headed(typ="at+jwt"),
    "crit": headed(crit=["b64"]),
    "unencoded payload": headed(b64=False, crit=["b64"]),
    "a key of its own": headed(jwk={"kty": "oct", "k": encode(bytes(32))}),
    "an address of keys": headed(jku="https://keys.example"),
    "a header with a repeated field": Forge(
        header=b'{"alg":"none","alg":"HS256","kid":"b.partner_token","typ":"JWT"}'
    ),
    "a header that is a list": Forge(header=[]),
    "a header that is not JSON": Forge(header=b"nonsense"),
    "a payload that is not JSON": Forge(payload=b"nonsense"),
    "a payload that is a list": Forge(payload=list(PARTNER_CLAIMS)),
    "a payload that is null": Forge(payload=b"null"),
    "a payload in UTF-16": Forge(payload=json.dumps(PARTNER_CLAIMS).encode("utf-16")),
    "a payload with a BOM": Forge(payload=b"\xef\xbb\xbf" + json.dumps(PARTNER_CLAIMS).encode()),
    "a payload that is not UTF-8": Forge(payload=b'{"sub":"\xff"}'),
    "a payload of two documents": Forge(payload=json.dumps(PARTNER_CLAIMS).encode() + b"{}"),
    "a deep payload": Forge(payload=b"[" * 1400),
    "signed with the business key": Forge(key=token_key(CallerKind.BUSINESS_TOKEN)),
    "signed with the partner key": Forge(
        CallerKind.BUSINESS_TOKEN, key=token_key(CallerKind.PARTNER_TOKEN)
    ),
    "signed with the master secret": Forge(key=SECRET.key),
    "signed with nothing": Forge(key=b""),
    "signed with an unknown secret": Forge(key=token_key(CallerKind.PARTNER_TOKEN, UNKNOWN)),
    "signed with another secret of the ring": Forge(key=token_key(CallerKind.PARTNER_TOKEN, OLDER)),
    "business claims under the partner key": Forge(payload=BUSINESS_CLAIMS),
    "partner claims under the business key": Forge(
        CallerKind.BUSINESS_TOKEN, payload=PARTNER_CLAIMS
    ),
    "the header of the other kind": Forge(finish=with_other_header),
    "edited claims": Forge(finish=with_edited_claims),
    "an edited signature": Forge(finish=lambda t: t[:-2] + ("AA" if t[-2:] != "AA" else "BA")),
    "a short signature": Forge(finish=lambda token: token[:-4]),
    "no signature": Forge(finish=without_signature),
    "two segments": Forge(finish=lambda token: token.rpartition(".")[0]),
    "four segments": Forge(finish=lambda token: token + ".AAAA"),
    "padding": Forge(finish=lambda token: token + "="),
    "padding inside": Forge(finish=lambda token: token.replace(".", "=.", 1)),
    "stray bits": Forge(finish=with_stray_bits),
    "a line break at the end": Forge(finish=lambda token: token + "\n"),
    "a blank in front": Forge(finish=lambda token: " " + token),
    "the other base64 alphabet": Forge(finish=lambda token: token[:-1] + "+"),
    "letters beyond ASCII": Forge(finish=lambda token: token + "é"),
    "nothing": Forge(finish=lambda token: token[:0]),
    "only dots": Forge(finish=lambda token: "." * token.count(".")),
    "5 kB": Forge(finish=lambda token: token + "A" * 5000),
    "5 kB, well signed": Forge(payload=json.dumps(PARTNER_CLAIMS).encode() + b" " * 5000),
    "no exp": without("exp"),
    "no iat": without("iat"),
    "no sub": without("sub"),
    "no type": without("type"),
    "an extra claim": partner(aud="accounting"),
    "an nbf": partner(nbf=ISSUED),
    "a scope beside a type": partner(scope="business_access"),
    "another type": partner(type="partner_portal"),
    "a type that is no text": partner(type=["partner"]),
    "another scope": business(scope="admin"),
    "a list of scopes": business(scope=["business_access"]),
    "two scopes": business(scope="business_access_read business_access"),
    "no business": business(business_id=None),
    "float exp": partner(exp=float(ISSUED + 3600)),
    "float iat": partner(iat=float(ISSUED)),
    "text exp": partner(exp=str(ISSUED + 3600)),
    "exp true": partner(exp=True),
    "iat false": partner(iat=False, exp=3600),
    "exp null": partner(exp=None),
    "huge exp": partner(exp=10**400),
    "huge exp and iat": partner(iat=10**300, exp=10**300 + 3600),
    "huge float exp": Forge(
        payload=json.dumps({**PARTNER_CLAIMS, "exp": 1}).replace(": 1}", ": 1e400}").encode()
    ),
    "exp Infinity": partner(exp=float("inf")),
    "exp NaN": partner(exp=float("nan")),
    "iat before all time": partner(iat=-1, exp=3599),
    "a longer life": partner(exp=ISSUED + 3601),
    "a shorter life": partner(exp=ISSUED + 3599),
    "issued in the future": partner(iat=ISSUED + 6, exp=ISSUED + 3606),
    "an upper-case uuid": partner(sub=str(PARTNER).upper()),
    "a uuid in braces": partner(sub=f"{{{PARTNER}}}"),
    "a uuid without hyphens": partner(sub=PARTNER.hex),
    "a uuid as urn": partner(sub=PARTNER.urn),
    "a uuid with a line break": partner(sub=f"{PARTNER}\n"),
    "a sub that is no text": partner(sub=7),
    "an upper-case business": business(business_id=str(BUSINESS).upper()),
    "a repeated claim": Forge(
        payload=b'{"sub":"x",' + json.dumps(PARTNER_CLAIMS, separators=(",", ":")).encode()[1:]
    ),
    "a repeated claim of the same value": Forge(
        payload=b'{"type":"partner",' + json.dumps(PARTNER_CLAIMS).encode()[1:]
    ),
}


@pytest.fixture
def keyring() -> Keyring:
    return Keyring([SECRET, OLDER])


class TestIssuing:
    def test_a_partner_token_carries_exactly_the_promised_claims(self, keyring: Keyring) -> None:
        header, payload, _ = keyring.issue_partner_token(PARTNER, NOW).split(".")
        assert decode(payload) == PARTNER_CLAIMS
        assert decode(header) == PARTNER_HEADER

    def test_a_business_token_carries_exactly_the_promised_claims(self, keyring: Keyring) -> None:
        header, payload, _ = keyring.issue_business_token(PARTNER, BUSINESS, NOW).split(".")
        assert decode(payload) == BUSINESS_CLAIMS
        assert decode(header) == {"alg": "HS256", "typ": "JWT", "kid": "b.business_token"}

    def test_a_token_for_reading_differs_by_its_scope_only(self, keyring: Keyring) -> None:
        token = keyring.issue_business_token(PARTNER, BUSINESS, NOW, READ_SCOPE)
        assert decode(token.split(".")[1]) == {**BUSINESS_CLAIMS, "scope": "business_access_read"}
        full = keyring.read(keyring.issue_business_token(PARTNER, BUSINESS, NOW), NOW)
        read = keyring.read(token, NOW)
        assert (full.only_reads, read.only_reads) == (False, True)
        assert read.token_id != full.token_id
        assert replace(read, only_reads=False, token_id=full.token_id) == full

    def test_times_are_whole_seconds(self, keyring: Keyring) -> None:
        token = keyring.issue_partner_token(PARTNER, NOW + timedelta(microseconds=999_999))
        assert decode(token.split(".")[1])["iat"] == ISSUED

    def test_an_independent_hmac_agrees_with_the_signature(self, keyring: Keyring) -> None:
        body, _, signature = keyring.issue_partner_token(PARTNER, NOW).rpartition(".")
        key = token_key(CallerKind.PARTNER_TOKEN)
        assert encode(hmac.new(key, body.encode(), hashlib.sha256).digest()) == signature


class TestReading:
    @pytest.mark.parametrize("business_id", [None, BUSINESS])
    def test_a_token_names_its_partner_and_business(
        self, keyring: Keyring, business_id: UUID | None
    ) -> None:
        token, kind = keyring.issue_partner_token(PARTNER, NOW), CallerKind.PARTNER_TOKEN
        if business_id is not None:
            token = keyring.issue_business_token(PARTNER, business_id, NOW)
            kind = CallerKind.BUSINESS_TOKEN
        named = {"issued_at": NOW, "token_id": token_id(token)}
        assert keyring.read(token, NOW) == Caller(kind, PARTNER, business_id, **named)

    def test_each_token_has_an_id_of_its_own_however_its_signature_is_written(
        self, keyring: Keyring
    ) -> None:
        moments = [NOW, NOW + timedelta(seconds=1)]
        tokens = [keyring.issue_partner_token(PARTNER, at) for at in moments]
        tokens += [keyring.issue_business_token(PARTNER, BUSINESS, at) for at in moments]
        assert len({token_id(token) for token in tokens}) == 4
        assert {token_id(f"{tokens[0][:-1]}{last}") for last in "AQgw"} == {token_id(tokens[0])}

    def test_what_proves_nothing_is_nobodys(self, keyring: Keyring) -> None:
        token = keyring.issue_partner_token(PARTNER, NOW)
        assert keyring.find(token, NOW) == keyring.read(token, NOW)
        assert keyring.find(token, NOW + timedelta(hours=1)) is None
        assert keyring.find("nonsense", NOW) is None

    def test_a_caller_cannot_be_changed(self, keyring: Keyring) -> None:
        caller = keyring.read(keyring.issue_partner_token(PARTNER, NOW), NOW)
        with pytest.raises(FrozenInstanceError):
            caller.partner_id = BUSINESS

    @pytest.mark.parametrize("kind", [CallerKind.PARTNER_TOKEN, CallerKind.BUSINESS_TOKEN])
    def test_the_forge_without_a_fault_is_accepted(
        self, keyring: Keyring, kind: CallerKind
    ) -> None:
        assert keyring.read(Forge(kind).text(), NOW).kind is kind

    @pytest.mark.parametrize("read_before", [False, True])
    @pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED.keys())
    def test_a_forged_token_is_refused(
        self, keyring: Keyring, forged: Forge, read_before: bool
    ) -> None:
        if read_before:
            keyring.read(Forge(forged.kind).text(), NOW)
        with pytest.raises(TokenError) as caught:
            keyring.read(forged.text(), NOW)
        assert not isinstance(caught.value, ExpiredTokenError)

    def test_every_single_changed_character_is_refused(self, keyring: Keyring) -> None:
        token = keyring.issue_business_token(PARTNER, BUSINESS, NOW)
        for position, character in enumerate(token):
            changed = token[:position] + ("B" if character == "A" else "A") + token[position + 1 :]
            with pytest.raises(TokenError):
                keyring.read(changed, NOW)

    def test_a_clock_five_seconds_ahead_is_forgiven(self, keyring: Keyring) -> None:
        token = keyring.issue_partner_token(PARTNER, NOW + timedelta(seconds=5))
        assert keyring.read(token, NOW).partner_id == PARTNER

    @pytest.mark.parametrize("read_before", [False, True])
    def test_a_token_ends_with_its_hour(self, keyring: Keyring, read_before: bool) -> None:
        token = keyring.issue_partner_token(PARTNER, NOW)
        if read_before:
            keyring.read(token, NOW)
            keyring.read(token, NOW + timedelta(seconds=3599))
        with pytest.raises(ExpiredTokenError):
            keyring.read(token, NOW + timedelta(seconds=3600))

    def test_an_expired_forgery_is_not_called_expired(self, keyring: Keyring) -> None:
        forged = Forge(key=bytes(32)).text()
        with pytest.raises(TokenError) as caught:
            keyring.read(forged, NOW + timedelta(hours=2))
        assert not isinstance(caught.value, ExpiredTokenError)

    def test_a_second_reading_gives_the_remembered_caller(self, keyring: Keyring) -> None:
        token = keyring.issue_partner_token(PARTNER, NOW)
        assert keyring.read(token, NOW) is keyring.read(token, NOW)

    def test_the_oldest_remembered_token_makes_room(self) -> None:
        keyring = Keyring([SECRET], remembered_tokens=2)
        moments = [NOW - timedelta(seconds=n) for n in range(3)]
        tokens = [keyring.issue_partner_token(PARTNER, at) for at in moments]
        first, second, third = (keyring.read(token, NOW) for token in tokens)
        assert keyring.read(tokens[2], NOW) is third
        assert keyring.read(tokens[1], NOW) is second
        assert keyring.read(tokens[0], NOW) is not first
        assert keyring.read(tokens[0], NOW) == first


class TestRing:
    def test_a_token_outlives_the_rotation_of_its_secret(self) -> None:
        token = Keyring([OLDER]).issue_partner_token(PARTNER, NOW)
        assert Keyring([SECRET, OLDER]).read(token, NOW).partner_id == PARTNER

    def test_a_token_dies_with_its_secret(self) -> None:
        token = Keyring([OLDER]).issue_partner_token(PARTNER, NOW)
        with pytest.raises(TokenError):
            Keyring([SECRET]).read(token, NOW)

    def test_the_newest_secret_signs(self) -> None:
        token = Keyring([SECRET, OLDER]).issue_partner_token(PARTNER, NOW)
        assert Keyring([SECRET]).read(token, NOW).partner_id == PARTNER

    @pytest.mark.parametrize(
        ("secrets", "why"),
        [
            ([], "1 to 3"),
            ([MasterSecret(f"k{n}", bytes(range(n, n + 32))) for n in range(4)], "1 to 3"),
            ([SECRET, replace(OLDER, name="b")], "same name"),
            ([SECRET, replace(SECRET, name="c")], "are the same"),
        ],
    )
    def test_a_ring_holds_one_to_three_distinct_secrets(
        self, secrets: list[MasterSecret], why: str
    ) -> None:
        with pytest.raises(ValueError, match=why):
            Keyring(secrets)


class TestMasterSecret:
    def test_it_never_shows_its_bytes(self) -> None:
        assert repr(SECRET) == "MasterSecret(name='b')"

    @pytest.mark.parametrize(
        ("name", "key", "why"),
        [
            *((name, SECRET.key, "name must be") for name in ("", "a b", "a.b", "ä", "a\n")),
            ("a" * 33, SECRET.key, "name must be"),
            ("a", bytes(range(31)), "at least 32 bytes"),
            ("a", b"changeme" * 8, "random"),
        ],
    )
    def test_a_bad_secret_is_refused(self, name: str, key: bytes, why: str) -> None:
        with pytest.raises(ValueError, match=why):
            MasterSecret(name, key)
