"""What a process does that needs the server: be counted as its user, and leave with its parent.

The count is a shared lock that the kernel drops with the process, so it is right after any crash.
"""

import fcntl
import multiprocessing
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from embedded import places


class Hold:
    """One use of the server below a home folder; while any is held the server stays up."""

    __slots__ = ("_lock",)

    def __init__(self, lock: int) -> None:
        self._lock: int | None = lock

    def release(self) -> None:
        """Give the hold back; a second call does nothing.

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
    """Count this process among the users of the server below `home`.

    Every worker calls it before its first connection. It waits while the server is being stopped.
    A hold that is forgotten lasts as long as the process. Raises FileNotFoundError when nobody
    has ever started a server there.
    """
    return Hold(places.take(places.users_lock(home), fcntl.LOCK_SH))


def leave_with_parent() -> None:
    """End this process at once when the process that started it is gone, however it went.

    Does nothing in a process that `multiprocessing` did not start. Without it, workers of a
    killed master would go on serving its port with nobody to stop them.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait_and_leave() -> None:
        parent.join()
        os._exit(1)  # Nobody is left to be told; open transactions roll back by themselves.

    threading.Thread(target=wait_and_leave, name="leave-with-parent", daemon=True).start()
