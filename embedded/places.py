"""Where everything lies below one home folder, and the locks that live there.

Every lock is a `flock` on a file of its own. The kernel drops it when its last holder dies,
however it dies, so there is no pid file of ours that could be left behind and be wrong.

- users.lock:  shared by every process that needs the server; exclusive while it is being stopped
- start.lock:  exclusive while one process looks whether the server runs, and starts it
- server.lock: exclusive, inherited by all of PostgreSQL's processes: free means none is alive
- reaper.lock: exclusive, held by the one process that waits for the last user to leave
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
# A unix socket's path has 107 bytes on Linux and 103 on macOS; the name takes 14 of them.
LONGEST_SOCKET_FOLDER_BYTES: Final = 85


def socket_folder(home: Path) -> Path:
    """The folder of the server's socket: home itself, or a short one when home cannot serve.

    Depends on nothing but the path, so that every process finds the same one. A comma would be
    read as a list of hosts by clients; other unusual characters go the same way.
    """
    path = os.fsencode(home)
    if len(path) <= LONGEST_SOCKET_FOLDER_BYTES and re.fullmatch(rb"[\w./+-]+", path):
        return home
    return Path("/tmp") / f"accounting-{hashlib.sha256(path).hexdigest()[:16]}"


def socket_path(home: Path) -> Path:
    """The server's unix socket."""
    return socket_folder(home) / SOCKET_NAME


def users_lock(home: Path) -> Path:
    """The lock that counts the users."""
    return home / "users.lock"


def start_lock(home: Path) -> Path:
    """The lock that lets one starter in at a time."""
    return home / "start.lock"


def server_lock(home: Path) -> Path:
    """The lock that PostgreSQL's own processes hold."""
    return home / "server.lock"


def reaper_lock(home: Path) -> Path:
    """The lock of the one reaper."""
    return home / "reaper.lock"


def make_locks(home: Path) -> None:
    """Make the files of the locks, where they are missing."""
    for path in (users_lock(home), start_lock(home), server_lock(home), reaper_lock(home)):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


@contextmanager
def locked(path: Path, kind: int) -> Iterator[int]:
    """Hold a lock for the length of a block; the value is its open file.

    `kind` is as for `fcntl.flock`; raises BlockingIOError when LOCK_NB is given and it is taken.
    """
    lock = take(path, kind)
    try:
        yield lock
    finally:
        os.close(lock)


def take(path: Path, kind: int) -> int:
    """Take a lock and return its open file; closing that file gives the lock back.

    The open file is not inherited by programs started later, unless it is handed to them. The
    lock's file must be there: a home folder that is being deleted gets no new files from us.
    """
    lock = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(lock, kind)
    except BaseException:
        os.close(lock)
        raise
    return lock
