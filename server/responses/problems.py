"""What HTTP itself can refuse, before any rule of accounting is asked.

Each is a kind of refusal beside those of `accounting/errors.py`; `server/responses/errors.py` gives
every kind its status. They live here because no other package may know HTTP.
"""

from collections.abc import Iterable

from accounting.errors import Refusal


class BadRequest(Refusal):
    """Not HTTP, or HTTP that means nothing here (400)."""


class MethodNotAllowed(Refusal):
    """The path exists, the method does not (405); `allow` holds the methods that do."""

    def __init__(self, code: str, message: str, *, allow: Iterable[str]) -> None:
        self.allow = tuple(allow)
        super().__init__(code, message, allowed_methods=list(self.allow))


class RequestTimeout(Refusal):
    """The request did not arrive in time (408)."""


class PayloadTooLarge(Refusal):
    """The body is larger than the operation takes (413)."""


class UriTooLong(Refusal):
    """The address is longer than the server reads (414)."""


class UnsupportedMediaType(Refusal):
    """The body is of a type, charset or encoding the operation does not take (415)."""


class HeadersTooLarge(Refusal):
    """The headers are more or longer than the server reads (431)."""
