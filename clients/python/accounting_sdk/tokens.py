"""Which token opens which request, and when it is renewed."""

import re
import threading
import time
from collections.abc import Callable, Generator
from functools import partial
from typing import Final, Protocol

import httpx

from accounting_sdk.errors import said

PARTNER_TOKEN_PATH: Final = "/v1/platform/oauth2/token/"
# What is done to a business itself is the partner's.
BUSINESS: Final = re.compile(r"/v1/platform/businesses/([^/]+)/(?!(un)?archive/$).")
# A token is renewed when this part of its life is over.
RENEWED_AT: Final = 0.9


class Issued(Protocol):
    """A token as it is issued: `expires_in` are seconds."""

    access_token: str
    expires_in: int


class Tokens(httpx.Auth):
    """Opens what lies in a business with a token of its own, and all else with the partner's.

    `issue` asks for a token of the business with this id, or of the partner for None. Threads may
    share it: who finds a token that is old or refused renews it, and the others wait for that.
    """

    def __init__(self, key: httpx.BasicAuth, issue: Callable[[str | None], Issued]) -> None:
        self._key = key
        self._issue = issue
        self._kept: dict[str | None, KeptToken] = {}
        self._lock = threading.Lock()

    def sync_auth_flow(
        self, request: httpx.Request
    ) -> Generator[httpx.Request, httpx.Response, None]:
        """Open a request; one whose token is refused is sent again with a fresh one, once."""
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
    """A token and when it is too old; the first one is asked for when it is needed."""

    def __init__(self, issue: Callable[[], Issued]) -> None:
        self._issue = issue
        self._lock = threading.Lock()
        self._token = ""
        self._old_at = 0.0

    def current(self) -> str:
        """Return the token, a fresh one where it is about to expire."""
        with self._lock:
            if not self._token or time.monotonic() >= self._old_at:
                self._renew()
            return self._token

    def instead_of(self, refused: str) -> str:
        """Return another token than one that was refused; nobody asks for it twice."""
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
    """Return the id of the business that a path leads into; None where it ends at the business."""
    found = BUSINESS.search(path)
    return found and found[1]


def is_refused(response: httpx.Response) -> bool:
    """Whether an answer says that the token is too old, or bad."""
    if response.status_code != 401:
        return False
    response.read()
    return said(response).get("error_code") in ("token_expired", "invalid_token")
