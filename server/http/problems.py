"""Errors of HTTP itself, raised before any accounting rule is checked.

Each is a kind of API error in addition to those of `accounting/errors.py`;
`server/http/errors.py` maps every kind to its status. They are here because no other package
may know HTTP.
"""

from collections.abc import Iterable

from accounting.errors import ApiError


class BadRequest(ApiError):
    """A request that is not HTTP, or is HTTP without a meaning here (400)."""


class MethodNotAllowed(ApiError):
    """A known path with an unsupported method (405); `allow` has the supported methods."""

    def __init__(self, code: str, message: str, *, allow: Iterable[str]) -> None:
        self.allow = tuple(allow)
        super().__init__(code, message, allowed_methods=list(self.allow))


class RequestTimeout(ApiError):
    """A request that did not arrive in time (408)."""


class PayloadTooLarge(ApiError):
    """A body larger than the operation accepts (413)."""


class UriTooLong(ApiError):
    """An address longer than the server reads (414)."""


class UnsupportedMediaType(ApiError):
    """A body of a type, charset or encoding that the operation does not accept (415)."""


class HeadersTooLarge(ApiError):
    """Headers more or longer than the server reads (431)."""
