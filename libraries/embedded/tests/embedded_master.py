"""A server's master process: it starts PostgreSQL, opens a port, and spawns workers.

Usage: embedded_master.py HOME leave|stay WORKERS. Workers that `leave` follow their master.
"""

import json
import multiprocessing
import os
import socket
import sys
import time
from pathlib import Path

from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from libraries.embedded.users import hold, leave_with_parent


def work(home, listener, manner, ready):
    if manner == "leave":
        leave_with_parent()
    hold(home)
    ready.put(os.getpid())
    while True:
        listener.accept()[0].close()


def main():
    home, manner, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    listener = socket.create_server(("127.0.0.1", 0))
    listener.set_inheritable(True)
    postgres = EmbeddedPostgres(home, TEST_SETTINGS).start()
    spawn = multiprocessing.get_context("spawn")
    ready = spawn.Queue()
    for _ in range(count):
        spawn.Process(target=work, args=(home, listener, manner, ready), daemon=True).start()
    workers = [ready.get(timeout=60) for _ in range(count)]
    report = {
        "port": listener.getsockname()[1],
        "workers": workers,
        "url": postgres.url("postgres"),
    }
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()
    time.sleep(600)


if __name__ == "__main__":
    main()
