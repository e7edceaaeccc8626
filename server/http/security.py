"""Authentication and authorization by the contract's security, compiled.

Connexion resolves the alternatives of every operation through `SECURITY_MAP`. The caller is
identified once per request, apart from these, for two reasons. There is one Authorization header,
and Connexion's own check suppresses exceptions of an alternative: an unavailable database would be
reported as a wrong password. So an alternative only states which kind of caller it allows.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn
from uuid import UUID

from connexion.security import AbstractSecurityHandler
from starlette.types import ASGIApp, Receive, Scope, Send

from access import api_keys
from access.principal import Caller, CallerKind
from access.tokens import ExpiredTokenError, Keyring, TokenError
from accounting.errors import NotAllowed, NotAuthenticated, NotFound
from persistence.engine.admission import Admission
from persistence.engine.observer import observer
from server.clock import Clock, utc_now
from server.config.client_addresses import Network, caller_address, network_of
from server.contract.document import Contract, ContractError, Operation
from server.http.connexion_adapter import (
    Alternatives,
    LoadedOperation,
    MakeOperation,
    OperationLayer,
)
from server.http.limiter import FailedLogins, RequestLimits

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
SEND_KEY = (
    "Send the partner id and the API key as HTTP Basic in the Authorization header, as in curl -u"
    " PARTNER_ID:API_KEY. They are not read from the body or the address."
)
SEND_EITHER = "Send an Authorization header with a Bearer token or a partner's Basic credentials."
_CREDENTIALS = {
    CallerKind.PARTNER_KEY: "a partner's API key",
    CallerKind.PARTNER_TOKEN: "a partner token",
    CallerKind.BUSINESS_TOKEN: "a business token",
}
_TOKEN_KINDS = {"partner": CallerKind.PARTNER_TOKEN, "business": CallerKind.BUSINESS_TOKEN}


class Authenticator:
    """Identification of callers by the Authorization header alone."""

    def __init__(
        self,
        keyring: Keyring,
        admission: Admission,
        failed_logins: FailedLogins,
        limits: RequestLimits,
        *,
        proxies: Sequence[Network] = (),
        clock: Clock = utc_now,
    ) -> None:
        """Store the services; `proxies` are the networks whose X-Forwarded-For is trusted."""
        self.admission = admission
        self.limits = limits
        self._keyring = keyring
        self._failed_logins = failed_logins
        self._proxies = proxies
        self._clock = clock

    async def identify(self, scope: Scope, *, by_key_only: bool = False) -> Caller:
        """Return the caller of a request; NotAuthenticated, or TooMany after many bad keys.

        `by_key_only`: the operation accepts only API keys, and the error explains how to send one.
        """
        kind, credentials = _authorization(scope)
        if kind == b"bearer":
            token = credentials.decode("latin-1")
            if api_keys.looks_like_a_key(token):
                raise NotAuthenticated(
                    "invalid_token",
                    "This is an API key, not a token. Send it with the partner id as Basic"
                    " credentials to /v1/platform/oauth2/token/ to get a token.",
                )
            return self._read_token(token)
        if kind == b"basic":
            return await self._check_key(credentials, scope)
        raise NotAuthenticated("authentication_required", SEND_KEY if by_key_only else SEND_EITHER)

    def _read_token(self, token: str) -> Caller:
        try:
            return self._keyring.read(token, self._clock())
        except ExpiredTokenError:
            raise NotAuthenticated(
                "token_expired", "The token has expired. Get a new one."
            ) from None
        except TokenError:
            raise NotAuthenticated(
                "invalid_token",
                "The token is not valid. Send the whole access_token of a token endpoint.",
            ) from None

    async def _check_key(self, credentials: bytes, scope: Scope) -> Caller:
        address = caller_address(scope, self._proxies)
        partner_id, key = _user_and_password(credentials)
        # Text without the form of a key needs no query. The quicker answer reveals nothing,
        # since the form of keys is public.
        if partner_id is not None and api_keys.looks_like_a_key(key):
            try:
                return await self.admission.check_key(partner_id, key)
            except NotAuthenticated:
                pass
        names = [f"partner {partner_id}"] if partner_id else []
        names += [f"address {network_of(address)}"] if address else []
        await self._failed_logins.note(names)
        raise NotAuthenticated("invalid_credentials", "The partner id or the API key is wrong.")


def _authorization(scope: Scope) -> tuple[bytes, bytes]:
    """Return the lower-case scheme and the credentials; two empty values if there are none."""
    found = [value for name, value in scope["headers"] if name == b"authorization"]
    # Two headers are ambiguous, so they count as none.
    if len(found) != 1:
        return b"", b""
    kind, _, credentials = found[0].strip(b" \t").partition(b" ")
    return kind.lower(), credentials.strip(b" ")


def _user_and_password(credentials: bytes) -> tuple[UUID | None, str]:
    """Split Basic credentials; the user is None if they are malformed or it is not a UUID."""
    try:
        text = base64.b64decode(credentials, validate=True).decode()
    except ValueError:
        return None, ""
    user, _, password = text.partition(":")
    user = user.lower()
    return (UUID(user) if _UUID.fullmatch(user) else None), password


class KeyHandler(AbstractSecurityHandler):
    """Security scheme `http`, `basic`: a partner's id and API key."""

    def get_fn(self, _scheme: dict[str, Any], _scopes: list[str]) -> CallerKind:
        """Accept callers with an API key."""
        return CallerKind.PARTNER_KEY


class TokenHandler(AbstractSecurityHandler):
    """Security scheme `http`, `bearer`: a token of the kind in `x-token-kind`."""

    def get_fn(self, scheme: dict[str, Any], _scopes: list[str]) -> CallerKind:
        """Accept callers with a token of the scheme's kind; ContractError if it names none."""
        named = scheme.get("x-token-kind")
        if named not in _TOKEN_KINDS:
            raise ContractError(
                f"x-token-kind must be one of {sorted(_TOKEN_KINDS)}, not {named!r}"
            )
        return _TOKEN_KINDS[named]


SECURITY_MAP: dict[str, type[KeyHandler] | type[TokenHandler]] = {
    "basic": KeyHandler,
    "bearer": TokenHandler,
}


@dataclass(frozen=True, slots=True)
class Check:
    """The check of a caller by the kinds of credentials that an operation accepts."""

    kinds: frozenset[CallerKind]

    @property
    def by_key_only(self) -> bool:
        """Return whether only API keys are accepted."""
        return self.kinds == {CallerKind.PARTNER_KEY}

    def __call__(self, caller: Caller) -> None:
        """Raise NotAllowed for a caller of another kind."""
        if caller.kind not in self.kinds:
            taken = " or ".join(_CREDENTIALS[kind] for kind in _CREDENTIALS if kind in self.kinds)
            raise NotAllowed(
                "permission_denied",
                f"This operation requires {taken}, but the request was sent with"
                f" {_CREDENTIALS[caller.kind]}.",
            )


def check_of_kinds(alternatives: Sequence[Any]) -> Check:
    """Compile alternatives to a check of a caller; ContractError for unsupported security.

    Optional security and two schemes together have no meaning with a single required header, and
    Connexion silently drops unknown schemes.
    """
    if not alternatives or not all(isinstance(each, CallerKind) for each in alternatives):
        raise ContractError("security must list our schemes, each as an alternative of its own")
    return Check(frozenset(alternatives))


def check_of(operation: Operation, contract: Contract) -> Check:
    """Return the check of the callers of an operation that is an item of a batch."""
    schemes = contract.components["securitySchemes"]
    named = [schemes[name] for each in operation.document["security"] for name in each]
    return check_of_kinds([SECURITY_MAP[each["scheme"]]().get_fn(each, []) for each in named])


class GuardedOperation:
    """An operation behind the authenticator, which stores the caller in the scope.

    Without a `check` it is open to everybody.
    """

    def __init__(
        self,
        next_app: ASGIApp,
        check: Check | None,
        *,
        in_business: bool,
        is_business: bool,
        writes: bool,
    ) -> None:
        self._next_app = next_app
        self._check = check
        self._in_business = in_business
        self._is_business = is_business
        self._writes = writes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the caller, its kind, its business, its access and the limits, in this order."""
        if self._check is not None:
            with observer.get().in_package("security"):
                await self._admit_caller(scope, self._check)
        await self._next_app(scope, receive, send)

    async def _admit_caller(self, scope: Scope, check: Check) -> None:
        authenticator: Authenticator = scope["authenticator"]
        caller = await authenticator.identify(scope, by_key_only=check.by_key_only)
        check(caller)
        business_id: str | None = None
        if self._in_business:
            business_id = scope["path_params"]["business_id"].lower()
            await self._admit_to_business(authenticator.admission, caller, business_id)
        else:
            await authenticator.admission.admit_partner(caller)
        if caller.only_reads and self._writes:
            raise NotAllowed(
                "permission_denied",
                "This token only reads. Request one without `access` `read` for this operation,"
                " which writes.",
            )
        scope["caller"] = caller
        scope["limits"], refusal = await authenticator.limits.take(caller.partner_id, business_id)
        if refusal is not None:
            raise refusal

    async def _admit_to_business(
        self, admission: Admission, caller: Caller, business_id: str
    ) -> None:
        bound_to = caller.business_id
        if _UUID.fullmatch(business_id) is None:
            self._refuse_business(caller)
        if bound_to is not None and business_id != str(bound_to):
            self._refuse_business(caller)
        try:
            await admission.admit_to_business(caller, business_id)
        except NotAllowed:
            self._refuse_business(caller)

    def _refuse_business(self, caller: Caller) -> NoReturn:
        """Raise the same error for malformed, unknown and foreign ids, to reveal none of them.

        For operations on the business itself, a partner gets NotFound `business_not_found`.
        """
        if self._is_business and caller.kind is not CallerKind.BUSINESS_TOKEN:
            raise NotFound("business_not_found", "There is no such business.") from None
        raise NotAllowed(
            "permission_denied", "These credentials do not open this business."
        ) from None


class Security(OperationLayer):
    """The security layer; each request has its Authenticator as `scope["authenticator"]`."""

    def maker(self, document: Mapping[str, Any], options: Mapping[str, Any]) -> MakeOperation:
        """Return a builder of guarded operations; ContractError if one opens a business to all."""
        alternatives = Alternatives(options["security_map"], check_of_kinds)

        def make(operation: LoadedOperation) -> GuardedOperation:
            in_business = "{business_id}" in operation.path
            if in_business and not operation.security:
                raise ContractError(f"{operation.operation_id} does not say who may call it")
            described = document["paths"][operation.path][operation.method]
            return GuardedOperation(
                self.app,
                alternatives.check_of(operation),
                in_business=in_business,
                is_business=in_business and "Businesses" in described.get("tags", ()),
                writes=operation.method != "get",
            )

        return make
