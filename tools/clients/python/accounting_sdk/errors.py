"""Exceptions for error responses of the API and for missing responses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import httpx

KEY: Final = "Idempotency-Key"


@dataclass(eq=False)
class AccountingError(Exception):
    """A call that did not succeed, with the error code and message of the API.

    Branch on `error_code`, show `message` to people, read facts from `detail`, and quote
    `request_id` to support. `status` is the HTTP status, or 0 if there was no response.
    `idempotency_key` is the key of a write: send it again to repeat the same write safely.
    """

    status: int
    error_code: str
    message: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    request_id: str = ""
    doc_url: str | None = None
    idempotency_key: str | None = None

    def __str__(self) -> str:
        return f"{self.error_code}: {self.message} (status {self.status}, {self.request_id})"


class BadRequest(AccountingError):
    """400: the request is invalid; see `detail["field_errors"]`."""


class NotAuthenticated(AccountingError):
    """401: the partner id and API key do not match, or a new token was also rejected."""


class Forbidden(AccountingError):
    """403: these credentials do not give access to this business or operation."""


class NotFound(AccountingError):
    """404: there is no such record in this business."""


class Conflict(AccountingError):
    """409: the request conflicts with the current state, which `detail` describes."""


class Outdated(AccountingError):
    """412: the record was changed after the `ETag` sent as `if_match` was read."""


class UnsupportedMediaType(AccountingError):
    """415: the operation does not accept files of this type."""


class RuleBroken(AccountingError):
    """422: the request violates a rule about money or identity."""


class RateLimited(AccountingError):
    """429: too many requests, and all retries failed."""


class ServerFault(AccountingError):
    """500: a defect of the server; report the request id."""


class Unavailable(AccountingError):
    """502, 503 or 504, and all retries failed: a write may have been executed or not."""


class NoAnswer(AccountingError):
    """The connection broke, and all retries failed: a write may have been executed or not."""


BY_STATUS: Final[Mapping[int, type[AccountingError]]] = MappingProxyType(
    {
        400: BadRequest,
        401: NotAuthenticated,
        403: Forbidden,
        404: NotFound,
        409: Conflict,
        412: Outdated,
        415: UnsupportedMediaType,
        422: RuleBroken,
        429: RateLimited,
        500: ServerFault,
        502: Unavailable,
        503: Unavailable,
        504: Unavailable,
    }
)


def refusal(request: httpx.Request, response: httpx.Response) -> AccountingError:
    """Return the exception for an error response; one from a proxy has the code "unknown"."""
    key = request.headers.get(KEY)
    return error_of(response.status_code, said(response), response.reason_phrase, key)


def error_of(
    status: int, body: Mapping[str, Any], reason: str = "", key: str | None = None
) -> AccountingError:
    """Return the exception for an error as the API writes it; `reason` if it has no message."""
    return BY_STATUS.get(status, AccountingError)(
        status,
        body.get("error_code", "unknown"),
        body.get("message", reason),
        body.get("detail", {}),
        body.get("request_id", ""),
        body.get("doc_url"),
        key,
    )


def no_answer(request: httpx.Request, error: httpx.TransportError) -> NoAnswer:
    """Return the exception for a request without a response."""
    told = str(error) or type(error).__name__
    return NoAnswer(0, "no_answer", told, {}, "", None, request.headers.get(KEY))


def said(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON body of an error response; an empty dict if it is not from the API."""
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
