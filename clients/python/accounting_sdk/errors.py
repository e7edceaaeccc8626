"""What is raised where the API refuses, or says nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import httpx

KEY: Final = "Idempotency-Key"


@dataclass(eq=False)
class AccountingError(Exception):
    """A call that did not succeed, in the words of the API.

    Branch on `error_code`, show `message` to people, read facts from `detail`, quote `request_id`.
    `status` is HTTP's, and 0 where no answer came. Of a write `idempotency_key` is what it was
    sent with: give it again to repeat the same write, however much later.
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
    """400: the request alone shows that it is wrong; see `detail["field_errors"]`."""


class NotAuthenticated(AccountingError):
    """401: the partner id and the API key do not fit, or a fresh token was refused, too."""


class Forbidden(AccountingError):
    """403: these credentials do not open this business or this kind of operation."""


class NotFound(AccountingError):
    """404: no such thing in this business."""


class Conflict(AccountingError):
    """409: it clashes with the present state, which `detail` tells."""


class Outdated(AccountingError):
    """412: somebody else has changed the thing since `if_match` was read."""


class UnsupportedMediaType(AccountingError):
    """415: a file is of a kind that the operation does not take."""


class RuleBroken(AccountingError):
    """422: it breaks a rule about money or identity."""


class RateLimited(AccountingError):
    """429: too many requests, also after all repeats."""


class ServerFault(AccountingError):
    """500: a fault of the server; report the request id."""


class Unavailable(AccountingError):
    """502, 503 or 504, also after all repeats: what became of a write is not known."""


class NoAnswer(AccountingError):
    """The connection broke, also after all repeats: what became of a write is not known."""


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
    """Say in an exception what an answer refuses; one that comes from a proxy has no code."""
    body = said(response)
    return BY_STATUS.get(response.status_code, AccountingError)(
        response.status_code,
        body.get("error_code", "unknown"),
        body.get("message", response.reason_phrase),
        body.get("detail", {}),
        body.get("request_id", ""),
        body.get("doc_url"),
        request.headers.get(KEY),
    )


def no_answer(request: httpx.Request, error: httpx.TransportError) -> NoAnswer:
    """Say in an exception that no answer came."""
    told = str(error) or type(error).__name__
    return NoAnswer(0, "no_answer", told, {}, "", None, request.headers.get(KEY))


def said(response: httpx.Response) -> dict[str, Any]:
    """Read the body of a refusal; nothing where it is not the API's."""
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
