"""Counts failed logins, so that whoever guesses is told to stop and pays nobody else's bill."""

from collections import OrderedDict
from collections.abc import Iterable
from math import ceil

from accounting.errors import TooMany


class FailedLogins:
    """Failures by name (a partner, an address) in windows of a minute.

    Only failures are counted and only failures are refused. A right key passes whatever others
    have tried under the same partner, because partner ids are no secret and a lock would let
    anybody shut a partner out; the keys themselves are far too long to be guessed. Each worker
    process counts for itself.
    """

    def __init__(
        self, *, limit: int = 100, window_seconds: float = 60.0, names_limit: int = 20_000
    ) -> None:
        self._limit = limit
        self._window_seconds = window_seconds
        self._names_limit = names_limit
        self._windows: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def note(self, names: Iterable[str], now: float) -> None:
        """Count one failure under each name; TooMany when one of them has had its share.

        `now` is monotonic seconds. With a limit of 100, the 101st failure of a minute is refused.
        """
        waits = [self._count(name, now) for name in names]
        if any(waits):
            raise TooMany(
                "rate_limited",
                "Too many failed logins. Try again later.",
                retry_after_seconds=max(waits),
            )

    def _count(self, name: str, now: float) -> int:
        """Count one failure and return the whole seconds to wait, 0 while there is room."""
        started, count = self._windows.pop(name, (now, 0))
        if now - started >= self._window_seconds:
            started, count = now, 0
        self._windows[name] = started, count + 1
        # Whoever failed last stays: a guesser cannot push its own count out with made-up names.
        if len(self._windows) > self._names_limit:
            self._windows.popitem(last=False)
        if count < self._limit:
            return 0
        return ceil(self._window_seconds - (now - started))
