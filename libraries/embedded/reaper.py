"""The reaper: a small process that outlives all users, and stops the server after the last one."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from libraries.embedded import places, wire

FAST_STOP_SECONDS: Final = 60.0
LOOK_SECONDS: Final = 0.02

_BOOT: Final = (
    "import sys; sys.path.append(sys.argv[1]); from libraries.embedded import reaper; reaper.main()"
)


def start_reaper(home: Path) -> None:
    """Ensure that a reaper waits below `home`; return when it has its lock.

    The reaper has its own session and no inherited open files. So neither a closed terminal nor the
    death of a user affects it, and it keeps no port open.
    """
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-I", "-S", "-B", "-c", _BOOT, str(root), str(home)]
    subprocess.run(
        command,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )


def main() -> None:
    """Run as the reaper of the home folder given on the command line."""
    home = Path(sys.argv[2])
    try:
        mine = places.take(places.reaper_lock(home), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # Another reaper already waits.
    if os.fork():
        os._exit(0)  # The starter waits for this process; the child continues.
    users = places.take(places.users_lock(home), fcntl.LOCK_EX)
    stop_server(home)
    # In this order: the next user must be able to start its own reaper.
    os.close(mine)
    os.close(users)


def stop_server(home: Path) -> bool:
    """Stop the server below `home`; return whether all its processes ended within two minutes.

    The caller holds the users' lock exclusively. The server ends open connections and writes a
    checkpoint; after a minute it is told to stop without a checkpoint.
    """
    started = time.monotonic()
    pending = [signal.SIGQUIT, signal.SIGINT]
    while not is_down(home):
        waited = time.monotonic() - started
        if waited > 2 * FAST_STOP_SECONDS:
            return False
        if len(pending) == 2 or (pending and waited > FAST_STOP_SECONDS):
            pid = wire.listener_pid(places.socket_path(home))
            if pid is not None:
                os.kill(pid, pending.pop())
        time.sleep(LOOK_SECONDS)
    return True


def is_down(home: Path) -> bool:
    """Return whether no process of the server below `home` is alive."""
    try:
        with places.locked(places.server_lock(home), fcntl.LOCK_SH | fcntl.LOCK_NB):
            return True
    except BlockingIOError:
        return False
    except FileNotFoundError:  # There is no home folder, or it was deleted.
        return True
