"""Conversion of exceptions to error answers: the only table of HTTP statuses.

The body is always `{error_code, message, detail, request_id, doc_url}`. Answers of 401 and 403 also
have `error`, and the endpoints of OAuth 2.0 add the fields that it requires.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import orjson
from starlette.exceptions import HTTPException
from starlette.types import Scope

from accounting import errors
from accounting.errors import ApiError
from server.http import problems

STATUS_OF_KIND: Final[Mapping[type, int]] = MappingProxyType(
    {
        errors.ValidationError: 400,
        problems.BadRequest: 400,
        errors.NotAuthenticated: 401,
        errors.NotAllowed: 403,
        errors.NotFound: 404,
        problems.MethodNotAllowed: 405,
        problems.RequestTimeout: 408,
        errors.Conflict: 409,
        errors.Stale: 412,
        problems.PayloadTooLarge: 413,
        problems.UriTooLong: 414,
        problems.UnsupportedMediaType: 415,
        errors.UnsupportedFile: 415,
        errors.RuleViolation: 422,
        errors.TooMany: 429,
        problems.HeadersTooLarge: 431,
        errors.Unavailable: 503,
        errors.Outage: 503,
    }
)

# Starlette and Connexion may refuse requests themselves; our messages replace theirs.
LEAKED: Final = MappingProxyType(
    {
        400: ("bad_request", "The request cannot be understood."),
        401: ("authentication_required", "The request has no valid credentials."),
        403: ("permission_denied", "These credentials do not allow this operation."),
        404: ("route_not_found", "There is nothing at this address."),
        405: ("method_not_allowed", "This address does not allow this method."),
        408: ("request_timeout", "The request did not arrive in time."),
        413: ("payload_too_large", "The body is larger than this operation accepts."),
        414: ("uri_too_long", "The address is longer than the server accepts."),
        415: ("unsupported_media_type", "This operation does not accept this content type."),
        429: ("rate_limited", "There were too many requests."),
        431: ("headers_too_large", "The headers are larger than the server accepts."),
        503: ("service_unavailable", "The service cannot answer now. Try again in a moment."),
    }
)

PAGES_OF_CODES: Final = "/docs/errors/"
PARTNER_TOKEN_PATH: Final = "/v1/platform/oauth2/token"
REVOCATION_PATH: Final = "/v1/platform/oauth2/revoke"
TOKEN_PATH: Final = re.compile(r"/v1/platform/(?:[^/]+/)?oauth2/(?:token|revoke)/?")
NOT_IN_DESCRIPTION: Final = re.compile(r'[^\x20-\x7e]|["\\]')
CODES_OF_A_REJECTED_TOKEN: Final = frozenset({"invalid_token", "token_expired"})
CODES_TO_ASK_AGAIN: Final = frozenset({"idempotency_in_progress"})
REPEAT: Final = "Repeat the request."
REPEAT_WITH_KEY: Final = "Repeat the request with the same Idempotency-Key."
CHECK_FIRST: Final = "The request may have taken effect. Check this before you repeat it."

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer: status, headers with lower-case names, body.

    A body that is a view is a part of memory that all answers with it share.
    """

    status: int
    headers: Headers
    body: bytes | memoryview
    error_code: str | None = None


def remedy_of(scope: Scope) -> str:
    """Return what the caller of a request is to do after an outage, as a sentence.

    Only a valid request is executed. Without an Idempotency-Key, only a read, a preview, a DELETE
    and a request for tokens may be repeated blindly.
    """
    call = scope.get("call")
    if call is not None and call.idempotency_key is not None:
        return REPEAT_WITH_KEY
    reads = scope["method"] == "GET" or b"preview=true" in scope["query_string"].split(b"&")
    harmless = reads or scope["method"] == "DELETE" or TOKEN_PATH.fullmatch(scope["path"])
    return REPEAT if call is None or harmless else CHECK_FIRST


def answer(error: BaseException, request_id: str, path: str = "", remedy: str = REPEAT) -> Answer:
    """Convert an exception raised while serving a request to the answer of the contract.

    After an outage the message ends with `remedy`.
    """
    status, refusal = refusal_of(error)
    of_tokens = TOKEN_PATH.fullmatch(path) is not None
    message = refusal.message
    if isinstance(refusal, errors.Outage):
        message = f"{message} {remedy}"
    body: dict[str, Any] = {
        "error_code": refusal.code,
        "message": message,
        "detail": refusal.detail,
        "request_id": request_id,
        "doc_url": f"{PAGES_OF_CODES}{refusal.code}/",
    }
    if of_tokens:
        body["error"] = oauth_error(status, refusal, path)
        body["error_description"] = NOT_IN_DESCRIPTION.sub("'", message)
    elif status in (401, 403):
        body["error"] = refusal.message
    content = written(body)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(content)),
        *headers_of(error, status, refusal, path),
    ]
    return Answer(status, headers, content, refusal.code)


def refusal_of(error: BaseException) -> tuple[int, ApiError]:
    """Return the status and API error of an exception; an unforeseen one is an `internal_error`."""
    for kind in type(error).__mro__:
        if kind in STATUS_OF_KIND and isinstance(error, ApiError):
            return STATUS_OF_KIND[kind], error
    if isinstance(error, HTTPException) and error.status_code in LEAKED:
        return error.status_code, ApiError(*LEAKED[error.status_code])
    return 500, ApiError(
        "internal_error", "The server failed. Report the request id to find the reason."
    )


def oauth_error(status: int, refusal: ApiError, path: str) -> str:
    """Return the OAuth 2.0 error code for an API error of a token endpoint."""
    faults = refusal.detail.get("field_errors", {})
    # The contract has one grant type; OAuth has an error of its own for any other.
    if list(faults) == ["grant_type"] and faults["grant_type"] != ["is required"]:
        return "unsupported_grant_type"
    if status == 401:
        return "invalid_client" if asks_for_key(refusal.code, path) else "invalid_token"
    if status == 403:
        return "access_denied"
    return "invalid_request" if status < 500 else "server_error"


def headers_of(error: BaseException, status: int, refusal: ApiError, path: str) -> Headers:
    """Return the headers that HTTP requires with a status."""
    if status == 401:
        return [(b"www-authenticate", challenge(refusal.code, path))]
    if status == 405:
        return [(b"allow", allowed_methods(error))]
    if status in (429, 503) or refusal.code in CODES_TO_ASK_AGAIN:
        seconds = math.ceil(refusal.detail.get("retry_after_seconds", 1))
        return [(b"retry-after", b"%d" % max(seconds, 1))]
    return []


def challenge(code: str, path: str) -> bytes:
    """Return the challenge for authentication (RFC 7617, RFC 6750)."""
    if asks_for_key(code, path):
        return b'Basic realm="accounting", charset="UTF-8"'
    if code in CODES_OF_A_REJECTED_TOKEN:
        return b'Bearer realm="accounting", error="invalid_token"'
    return b'Bearer realm="accounting"'


def allowed_methods(error: BaseException) -> bytes:
    """List the methods that an address accepts, as in `GET, HEAD, POST`."""
    if isinstance(error, problems.MethodNotAllowed):
        return ", ".join(error.allow).encode("ascii")
    headers = (error.headers if isinstance(error, HTTPException) else None) or {}
    given = {name.lower(): value for name, value in headers.items()}
    return given.get("allow", "").encode("latin-1")


def asks_for_key(code: str, path: str) -> bool:
    """Return whether the endpoint takes partner id and API key; the exchange takes a token.

    The endpoint for revocation takes either.
    """
    bare = path.rstrip("/")
    if bare == REVOCATION_PATH:
        return code not in CODES_OF_A_REJECTED_TOKEN
    return bare == PARTNER_TOKEN_PATH


def written(body: dict[str, Any]) -> bytes:
    """Encode a body as JSON, even if it quotes values that orjson refuses."""
    try:
        return orjson.dumps(body, default=str, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        # A lone surrogate or an integer beyond 64 bits, quoted from the request.
        return json.dumps(body, default=str).encode("ascii")
