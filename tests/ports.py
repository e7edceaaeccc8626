"""Ports for servers that are told theirs before they start."""

import os
import random
import socket
from pathlib import Path

DEALT = Path("/proc/sys/net/ipv4/ip_local_port_range")
WORKERS = 64  # Of one run, and more than there ever are.


def free_port() -> int:
    """A port that nobody listens on, and that nobody else is given.

    A server takes it seconds later. Those that the kernel deals out may be gone by then, and each
    worker of a run has its own.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    dealt_from = int(DEALT.read_text().split()[0])
    while not is_free(port := random.randrange(10_000 + worker, max(dealt_from, 20_000), WORKERS)):
        pass
    return port


def is_free(port: int) -> bool:
    """Whether a server could take the port at once; while this asks, none can."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
