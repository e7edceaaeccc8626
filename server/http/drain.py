"""Draining: a worker learns that its server is about to stop, before the worker itself is stopped.

From then on the worker reports that it is not ready, so that a load balancer removes the server,
and each answer closes its connection. Meanwhile it serves all requests. The master signals this by
closing its end of a pipe: workers that start later receive the signal too, and requests have no
overhead.
"""

import asyncio
from multiprocessing.connection import Connection


class DrainState:
    """The drain state of one worker."""

    def __init__(self, told_by: Connection | None = None) -> None:
        self._told_by = told_by
        self.begun = False

    def listen(self) -> None:
        """Listen for the signal from now on, in the running loop."""
        if self._told_by is not None:
            loop = asyncio.get_running_loop()
            loop.add_reader(self._told_by.fileno(), self._hear, loop)

    def _hear(self, loop: asyncio.AbstractEventLoop) -> None:
        assert self._told_by is not None, "nobody else is listened to"
        loop.remove_reader(self._told_by.fileno())
        self.begun = True
