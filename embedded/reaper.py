"""Stops the server when its last user is gone: a small process that outlives all of them."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from embedded import places, wire

FAST_STOP_SECONDS: Final = 60.0
LOOK_SECONDS: Final = 0.02

_BOOT: Final = (
    "import sys; sys.path.append(sys.argv[1]); from embedded import reaper; reaper.main()"
)


def start_reaper(home: Path) -> None:
    """Make sure that a reaper waits below `home`; returns when it has its lock.

    It has a session of its own and no open file of ours, so neither a closed terminal nor the
    death of any user reaches it, and it keeps no port open.
    """
    root = Path(__file__).resolve().parent.parent
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
    """Be the reaper of the home folder given on the command line."""
    home = Path(sys.argv[2])
    try:
        mine = places.take(places.reaper_lock(home), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # Another one waits already.
    if os.fork():
        os._exit(0)  # The starter waited for this one; the child belongs to nobody.
    users = places.take(places.users_lock(home), fcntl.LOCK_EX)
    stop_server(home)
    # In this order: whoever is let in next must be able to start a reaper of its own.
    os.close(mine)
    os.close(users)


def stop_server(home: Path) -> bool:
    """Stop the server below `home` and wait until all its processes are gone; False if they stay.

    The caller holds the users' lock exclusively. Open connections are ended, a checkpoint is
    written; only after a minute is the server told to leave without one.
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
    """Whether no process of the server below `home` is alive."""
    try:
        with places.locked(places.server_lock(home), fcntl.LOCK_SH | fcntl.LOCK_NB):
            return True
    except BlockingIOError:
        return False
    except FileNotFoundError:  # There is no home, or no longer.
        return True
