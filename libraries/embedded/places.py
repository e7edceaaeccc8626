"""Paths below one home folder, and the locks in it.

Each lock is a `flock` on its own file. The kernel releases it when its last holder dies, in
whatever way, so no stale pid file can remain.

- users.lock:  shared by every process that needs the server; exclusive while it is being stopped
- start.lock:  exclusive while one process checks whether the server runs, and starts it
- server.lock: exclusive, inherited by all of PostgreSQL's processes; free if none is alive
- reaper.lock: exclusive, held by the one process that waits until no user is left
"""

import fcntl
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SUPERUSER: Final = "accounting"
SOCKET_NAME: Final = ".s.PGSQL.5432"
# The path of a unix socket has at most 107 bytes on Linux and 103 on macOS; its name has 14.
LONGEST_SOCKET_FOLDER_BYTES: Final = 85


def socket_folder(home: Path) -> Path:
    """Return the folder of the server's socket: home, or a short path if home is not suitable.

    It depends only on the path, so every process finds the same folder. Clients would read a comma
    as a list of hosts; other unusual characters are treated the same way.
    """
    path = os.fsencode(home)
    if len(path) <= LONGEST_SOCKET_FOLDER_BYTES and re.fullmatch(rb"[\w./+-]+", path):
        return home
    return Path("/tmp") / f"accounting-{hashlib.sha256(path).hexdigest()[:16]}"


def socket_path(home: Path) -> Path:
    """Return the path of the server's unix socket."""
    return socket_folder(home) / SOCKET_NAME


def users_lock(home: Path) -> Path:
    """Return the path of the lock that counts the users."""
    return home / "users.lock"


def start_lock(home: Path) -> Path:
    """Return the path of the lock that allows one starter at a time."""
    return home / "start.lock"


def server_lock(home: Path) -> Path:
    """Return the path of the lock that PostgreSQL's own processes hold."""
    return home / "server.lock"


def reaper_lock(home: Path) -> Path:
    """Return the path of the lock that the reaper holds."""
    return home / "reaper.lock"


def make_locks(home: Path) -> None:
    """Create the lock files that are missing."""
    for path in (users_lock(home), start_lock(home), server_lock(home), reaper_lock(home)):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


@contextmanager
def locked(path: Path, kind: int) -> Iterator[int]:
    """Hold a lock for the duration of a block; yields the open file descriptor.

    `kind` is as for `fcntl.flock`. Raises BlockingIOError if LOCK_NB is given and the lock is
    taken.
    """
    lock = take(path, kind)
    try:
        yield lock
    finally:
        os.close(lock)


def take(path: Path, kind: int) -> int:
    """Acquire a lock and return its file descriptor; closing it releases the lock.

    Programs started later do not inherit the descriptor, unless it is passed to them. The lock file
    must exist, so that no file is created in a home folder that is being deleted.
    """
    lock = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(lock, kind)
    except BaseException:
        os.close(lock)
        raise
    return lock
