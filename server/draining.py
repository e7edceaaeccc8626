"""Draining: a worker hears that its whole server is about to stop, before it is told to itself.

From then on it says that it is not ready, so that a load balancer takes the server out, and each
answer ends its connection; all that comes is served meanwhile. The master says it by closing its
end of a pipe: workers that are started later hear it, too, and a request pays nothing for it.
"""

import asyncio
from multiprocessing.connection import Connection


class Draining:
    """What one worker knows of it."""

    def __init__(self, told_by: Connection | None = None) -> None:
        self._told_by = told_by
        self.begun = False

    def listen(self) -> None:
        """Hear it from now on, in the loop that runs."""
        if self._told_by is not None:
            loop = asyncio.get_running_loop()
            loop.add_reader(self._told_by.fileno(), self._hear, loop)

    def _hear(self, loop: asyncio.AbstractEventLoop) -> None:
        assert self._told_by is not None, "nobody else is listened to"
        loop.remove_reader(self._told_by.fileno())
        self.begun = True
