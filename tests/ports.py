"""Ports for servers that need a port before they start."""

import os
import random
import socket
from pathlib import Path

DEALT = Path("/proc/sys/net/ipv4/ip_local_port_range")
WORKERS = 64  # More than any run has.


def free_port() -> int:
    """Return a port that is free and that no other worker of the run gets.

    A server binds it seconds later. The kernel's own choices may be taken by then, and each worker
    has its own ports.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    dealt_from = int(DEALT.read_text().split()[0])
    while not is_free(port := random.randrange(10_000 + worker, max(dealt_from, 20_000), WORKERS)):
        pass
    return port


def is_free(port: int) -> bool:
    """Return whether a server could bind the port; the check itself binds it for a moment."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
