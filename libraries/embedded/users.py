"""Users of the server: a process registers as a user, and ends together with its parent.

The count of users is a shared lock. The kernel releases it when a process ends, so the count is
right after any crash.
"""

import fcntl
import multiprocessing
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from libraries.embedded import places


class Hold:
    """A use of the server below a home folder; the server stays up while any use is held."""

    __slots__ = ("_lock",)

    def __init__(self, lock: int) -> None:
        self._lock: int | None = lock

    def release(self) -> None:
        """Release the hold; a second call does nothing.

        The file is closed, never unlocked: a forked child shares the lock and keeps its use.
        """
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.release()


def hold(home: Path) -> Hold:
    """Register this process as a user of the server below `home`.

    Every worker calls it before its first connection. It waits while the server is being stopped. A
    hold that is never released lasts until the process ends. Raises FileNotFoundError if no server
    was ever started there.
    """
    return Hold(places.take(places.users_lock(home), fcntl.LOCK_SH))


def leave_with_parent() -> None:
    """End this process immediately when its parent process ends, for any reason.

    It does nothing in a process that `multiprocessing` did not start. Without it, workers of a
    killed master would continue to serve its port, and nothing would stop them.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait_and_leave() -> None:
        parent.join()
        os._exit(1)  # No clean-up is needed: PostgreSQL rolls back open transactions.

    threading.Thread(target=wait_and_leave, name="leave-with-parent", daemon=True).start()
