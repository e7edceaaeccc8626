"""Servers under load: start as processes, wait until they answer, and stop."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from tools.bench import meters
from tools.bench.meters import Meter

START_LIMIT_SECONDS = 30.0


class Server:
    """A server that listens on a port of this machine."""

    def __init__(self, name: str, port: int, process_id: int) -> None:
        self.name = name
        self.port = port
        self.meter: Meter = meters.of_process(process_id)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def started(
    name: str, command: Sequence[str], environment: Mapping[str, str], log: Path
) -> Iterator[Server]:
    """Run a command of this virtual environment during a block; PORT is replaced by a free port."""
    port = _free_port()
    words = [program(command[0]), *(word.replace("PORT", str(port)) for word in command[1:])]
    with log.open("wb") as output:
        process = subprocess.Popen(
            words, env={**os.environ, **environment}, stdout=output, stderr=output
        )
    try:
        server = Server(name, port, process.pid)
        _wait_for(server, process, log)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=60)


def program(name: str) -> str:
    """Return the path of a program in this virtual environment."""
    return str(Path(sys.executable).parent / name)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _wait_for(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server gives any answer; raises RuntimeError if it does not start."""
    deadline = time.monotonic() + START_LIMIT_SECONDS
    while True:
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{server.name} did not start:\n{log.read_text()[-4000:]}")
        try:
            httpx.get(f"{server.url}/health/ready")
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
