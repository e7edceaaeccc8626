"""Access tokens: selection of the token for each request, and renewal."""

import re
import threading
import time
from collections.abc import Callable, Generator
from functools import partial
from typing import Final, Protocol

import httpx

from accounting_sdk.errors import said

PARTNER_TOKEN_PATH: Final = "/v1/platform/oauth2/token/"
# Operations on a business itself use the partner's token.
BUSINESS: Final = re.compile(r"/v1/platform/businesses/([^/]+)/(?!(un)?archive/$).")
# A token is renewed after this fraction of its lifetime.
RENEWED_AT: Final = 0.9


class IssuedToken(Protocol):
    """A token as it is issued; `expires_in` is in seconds."""

    access_token: str
    expires_in: int


class Tokens(httpx.Auth):
    """Authentication with a separate token for each business, and the partner's for other requests.

    `issue` requests a token of the business with this id, or the partner's token for None. Threads
    can share it: the first thread that finds a token expired or rejected renews it, and the others
    wait.
    """

    def __init__(self, key: httpx.BasicAuth, issue: Callable[[str | None], IssuedToken]) -> None:
        self._key = key
        self._issue = issue
        self._kept: dict[str | None, KeptToken] = {}
        self._lock = threading.Lock()

    def sync_auth_flow(
        self, request: httpx.Request
    ) -> Generator[httpx.Request, httpx.Response, None]:
        """Authenticate a request; if its token is rejected, send it once more with a new token."""
        if request.url.path.endswith(PARTNER_TOKEN_PATH):
            yield from self._key.sync_auth_flow(request)
            return
        kept = self._of(business_in(request.url.path))
        token = kept.current()
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if is_refused(response):
            request.headers["Authorization"] = f"Bearer {kept.instead_of(token)}"
            yield request

    def _of(self, business_id: str | None) -> "KeptToken":
        with self._lock:
            if business_id not in self._kept:
                self._kept[business_id] = KeptToken(partial(self._issue, business_id))
            return self._kept[business_id]


class KeptToken:
    """A cached token and the time to renew it; the first token is requested on first use."""

    def __init__(self, issue: Callable[[], IssuedToken]) -> None:
        self._issue = issue
        self._lock = threading.Lock()
        self._token = ""
        self._old_at = 0.0

    def current(self) -> str:
        """Return the token; renew it if it expires soon."""
        with self._lock:
            if not self._token or time.monotonic() >= self._old_at:
                self._renew()
            return self._token

    def instead_of(self, refused: str) -> str:
        """Return a token other than the rejected one; only one of several threads renews it."""
        with self._lock:
            if self._token == refused:
                self._renew()
            return self._token

    def _renew(self) -> None:
        asked_at = time.monotonic()
        issued = self._issue()
        self._token = issued.access_token
        self._old_at = asked_at + RENEWED_AT * issued.expires_in


def business_in(path: str) -> str | None:
    """Return the id of the business whose books a path is in, or None.

    Operations on the business itself, such as `archive`, return None: they use the partner's token.
    """
    found = BUSINESS.search(path)
    return found and found[1]


def is_refused(response: httpx.Response) -> bool:
    """Return whether a response reports an expired or invalid token."""
    if response.status_code != 401:
        return False
    response.read()
    return said(response).get("error_code") in ("token_expired", "invalid_token")
