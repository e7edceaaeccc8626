"""Large answers that a worker holds until their clients have read them.

A large answer is sent in pieces, each when the connection accepts it. Until the last piece is sent,
the worker holds the whole answer. The answers that it holds have a limit in all: a new one that
exceeds it closes the connection of the slowest reader, and then of the next.

Pages of the documentation do not count: every reader of a page is sent parts of the same memory.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import Message, Scope, Send

# A connection accepts the next piece when it has less than a quarter of one left.
PIECE_BYTES: Final = 64 * 1024
MOST_HELD_BYTES: Final = 24 * 1024 * 1024


@dataclass(slots=True, eq=False)
class UnsentAnswer:
    """A large answer that is being sent; `reset` closes its connection immediately."""

    size_bytes: int
    reset: Callable[[], object]
    sent_bytes: int = 0
    began: float = field(default_factory=monotonic)

    def bytes_per_second(self, now: float) -> float:
        """Return how fast the client has read so far."""
        return self.sent_bytes / max(now - self.began, 0.001)


class UnsentAnswers:
    """The large answers of one worker, of at most `most_bytes` in all, or a single larger one."""

    def __init__(self, most_bytes: int = MOST_HELD_BYTES) -> None:
        self._most_bytes = most_bytes
        self._held: set[UnsentAnswer] = set()
        self._log = structlog.get_logger("accounting.connections")

    @property
    def held_bytes(self) -> int:
        """The bytes of all answers that are being sent."""
        return sum(answer.size_bytes for answer in self._held)

    async def send(self, message: Message, scope: Scope, send: Send) -> None:
        """Send a large part of an answer in pieces, each when the connection accepts it.

        Raises ClientDisconnect where the connection ends before the last piece.
        """
        body, more = message["body"], message.get("more_body", False)
        hung_up, reset = scope.get("hung_up", _no), scope.get("reset", _no)
        answer = UnsentAnswer(len(body), reset)
        if not isinstance(body, memoryview):
            self.add(answer)
        try:
            for begin in range(0, len(body), PIECE_BYTES):
                if hung_up():
                    raise ClientDisconnect
                end = min(begin + PIECE_BYTES, len(body))
                # A piece of a view is a view; a piece of bytes is a copy, which keeps no answer.
                piece = body[begin:end]
                await send({**message, "body": piece, "more_body": more or end < len(body)})
                answer.sent_bytes = end
        finally:
            self.remove(answer)

    def add(self, answer: UnsentAnswer) -> None:
        """Hold another answer; close the slowest readers of the others where there is no space."""
        while self._held and self.held_bytes + answer.size_bytes > self._most_bytes:
            now = monotonic()
            slowest = min(self._held, key=lambda each: each.bytes_per_second(now))
            self._held.remove(slowest)
            slowest.reset()
            self._log.info(
                "slow_reader_closed",
                reason="too many large answers wait to be read",
                sent_bytes=slowest.sent_bytes,
                size_bytes=slowest.size_bytes,
                seconds=round(now - slowest.began, 1),
            )
        self._held.add(answer)

    def remove(self, answer: UnsentAnswer) -> None:
        """Release an answer that is sent, or whose connection has ended."""
        self._held.discard(answer)


def _no() -> bool:
    """Return False, for a server whose connections offer neither `hung_up` nor `reset`."""
    return False
