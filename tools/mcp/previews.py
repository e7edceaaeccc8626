"""Previewed writes: each is kept with its exact body until it is committed once, or expires."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256
from secrets import token_hex
from typing import Final

LIFETIME_SECONDS: Final = 900
MOST_KEPT: Final = 1000


class PreviewRefused(Exception):
    """A preview id that cannot be committed; the message is for the agent."""


class State(Enum):
    """The state of a preview; `SENT` until the outcome of its commit is known."""

    OPEN = "open"
    SENT = "sent"
    USED = "used"


@dataclass(slots=True)
class Preview:
    """A write that was previewed: its path and the bytes of its body.

    `if_match` is the ETag of the record that it changes, as it was at the preview.
    """

    tool: str
    path: str
    body: bytes
    if_match: str | None
    made_at: float
    id: str = field(default_factory=lambda: f"preview-{token_hex(12)}")
    state: State = State.OPEN

    @property
    def digest(self) -> str:
        """The digest of the body: `sha256:` and 64 hexadecimal digits."""
        return f"sha256:{sha256(self.body).hexdigest()}"

    @property
    def headers(self) -> dict[str, str]:
        """The headers of its commit. The key is the same each time, so it takes effect once."""
        matched = {"If-Match": self.if_match} if self.if_match else {}
        return {"Idempotency-Key": f"mcp-{self.id}", **matched}


class Previews:
    """The previews of one process, of which the last 1,000 are kept. `now` returns seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: dict[str, Preview] = {}

    def keep(self, tool: str, path: str, body: bytes, if_match: str | None) -> Preview:
        """Keep a previewed write for the tool that commits it; return it with its id."""
        preview = Preview(tool, path, body, if_match, self._now())
        self._kept[preview.id] = preview
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return preview

    def take(self, tool: str, preview_id: str) -> Preview:
        """Return the preview that a tool commits now; raises PreviewRefused if it cannot."""
        preview = self._kept.get(preview_id)
        again = "Call the preview tool again, and commit the id that it returns."
        if preview is None:
            raise PreviewRefused(f"There is no preview {preview_id}. {again}")
        if preview.tool != tool:
            raise PreviewRefused(f"This preview is committed by {preview.tool}, not by {tool}.")
        if preview.state is State.USED:
            raise PreviewRefused(f"This preview was committed or refused already. {again}")
        if preview.state is State.SENT:
            raise PreviewRefused("This preview is being committed. Wait for that answer.")
        if self._now() - preview.made_at > LIFETIME_SECONDS:
            raise PreviewRefused(f"This preview has expired after 15 minutes. {again}")
        preview.state = State.SENT
        return preview

    def reopen(self, preview: Preview) -> None:
        """Allow another commit, with the same key, because the outcome of the last is unknown."""
        preview.state = State.OPEN
        preview.made_at = self._now()
