"""Calls to hosts of strangers during a request, made while it holds no database connection.

A handler asks for the result of a call. If the call was not made yet, it raises: the request
releases its connection, makes the call, and runs the handler again, which then finds the result.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from accounting.errors import RuleViolation, Unavailable
from libraries.outbound.client import Client, OwnFault
from libraries.outbound.targets import RefusedUrl
from persistence.engine.tenants import StartsOver

T = TypeVar("T")


class CallNeeded(StartsOver):
    """A call that a handler needs the result of."""

    def __init__(self, key: str, call: Callable[[], Awaitable[Any]]) -> None:
        super().__init__(key)
        self.key = key
        self.call = call


class Outside:
    """The calls of one request and their results, by the keys of the handler."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._results: dict[str, Any] = {}

    def result(self, key: str, call: Callable[[], Awaitable[T]]) -> T:
        """Return the result of a call; raises CallNeeded where it was not made yet."""
        if key not in self._results:
            raise CallNeeded(key, call)
        return cast(T, self._results[key])

    async def make(self, needed: CallNeeded) -> None:
        """Make a call and keep its result; raises its API errors, and Unavailable."""
        try:
            self._results[needed.key] = await needed.call()
        except OwnFault as fault:
            raise Unavailable(
                "service_unavailable", "The service cannot answer now. Try again in a moment."
            ) from fault

    def refuse_url(self, url: str) -> None:
        """Raise RuleViolation `webhook_url_refused` if no request may be sent to a URL now."""
        refused = self.result(url, lambda: self._refusal_of(url))
        if refused is not None:
            raise url_refused(refused)

    async def _refusal_of(self, url: str) -> RefusedUrl | None:
        try:
            await self.client.check(url)
        except RefusedUrl as refused:
            return refused
        return None


def url_refused(refused: RefusedUrl) -> RuleViolation:
    """Return the API error for a refused URL."""
    return RuleViolation(
        "webhook_url_refused", str(refused), reason=refused.reason, address_kind=refused.kind
    )
