"""A real `accounting serve`: its processes, its log, and the files that it leaves."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, Self
from uuid import UUID

import httpx

from libraries.embedded import places, wire
from tests.command_line import ACCOUNTING, CommandLine
from tests.partner import PATIENCE_SECONDS, Partner, client, within
from tests.ports import free_port


def secrets() -> str:
    """Return a keyring with one secret for tokens."""
    return "first:" + token_urlsafe(32)


def processes_of(folder: Path) -> dict[int, str]:
    """Return every living process with the folder in its command or environment."""
    found, told = {}, str(folder).encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
            if not command or told not in command + (entry / "environ").read_bytes():
                continue  # A process without a command belongs to the kernel, or has ended.
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:  # It has just ended.
            continue
        if state not in "ZX" and int(entry.name) != os.getpid():
            found[int(entry.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found


def children_of(pid: int) -> list[int]:
    """Return the IDs of the living child processes of a process."""
    with contextlib.suppress(OSError):  # The parent has just ended.
        return [
            int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    return []


def all_gone(folder: Path, seconds: float = PATIENCE_SECONDS) -> bool:
    """Return whether every process of the folder ends within some seconds."""
    return within(seconds, lambda: processes_of(folder) == {}, every=0.1)  # It reads all of /proc.


class Server:
    """A server over a data folder; a development server unless `words` and `settings` differ."""

    def __init__(self, folder: Path, *words: str, scheme: str = "http", **settings: str) -> None:
        self.folder = folder
        self.command_line = CommandLine(folder)
        self.port = free_port()
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self.words = words or ("--development",)
        self.settings = settings
        self.log_path = folder / f"serve-{self.port}.log"
        self.started_at = 0.0
        self.partners: list[Partner] = []

    def __enter__(self) -> Self:
        return self.start().wait()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop the server if it lives, and close its clients."""
        if not self.ended:
            self.process.terminate()
            self.process.wait(PATIENCE_SECONDS)
        for caller in [caller for partner in self.partners for caller in partner.clients]:
            caller.close()

    def start(self) -> Self:
        """Start the server; it may be started again after it ended."""
        self.started_at = time.monotonic()
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                [ACCOUNTING, "serve", "--port", str(self.port), *self.words],
                env=self.command_line.environment(**self.settings),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self

    def wait(self) -> Self:
        """Return when a worker serves."""
        assert within(PATIENCE_SECONDS, lambda: self.serves or self.ended), self.log
        assert not self.ended, self.log
        return self

    def wait_for_port(self) -> Self:
        """Return when the port is taken; requests from then on get an answer."""
        assert within(PATIENCE_SECONDS, lambda: self.listens or self.ended), self.log
        return self

    def partner(self) -> Partner:
        """Create a partner with the command line."""
        words = ("partner", "create", "Acme", "--json")
        facts = self.command_line.did(*words, **self.settings).facts
        self.partners.append(Partner(self.url, UUID(facts["partner_id"]), facts["api_key"]))
        return self.partners[-1]

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    @property
    def listens(self) -> bool:
        """Return whether the server has taken its port."""
        try:
            socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECONDS).close()
        except OSError:
            return False
        return True

    @property
    def log(self) -> str:
        """Return the log, without a line that a worker is still writing."""
        whole, end, _ = self.log_path.read_bytes().rpartition(b"\n")
        return (whole + end).decode()

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the lines of the log about one kind of event."""
        named = [line for line in self.log.split("\n") if line[:1] == "{" and name in line]
        return [event for event in map(json.loads, named) if event["event"] == name]

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Send a request over a connection of its own."""
        with client(self.url, timeout=PATIENCE_SECONDS, **options) as caller:
            return caller.get(path)

    @property
    def forking(self) -> int | None:
        """Return the ID of the process that forks the workers."""
        for pid in children_of(self.process.pid):
            with contextlib.suppress(OSError):  # It has just ended.
                if b"forkserver" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    return pid
        return None

    @property
    def forked(self) -> list[int]:
        """Return the IDs of the workers and of the other forked processes."""
        forking = self.forking
        return [] if forking is None else children_of(forking)

    @property
    def workers(self) -> list[int]:
        """Return the IDs of the workers that serve."""
        opened = self.opened
        return [pid for pid in self.forked if pid in opened]

    def wait_for_workers(self, count: int = 2) -> list[int]:
        """Return the workers as soon as `count` of them serve."""
        found: list[int] = []

        def all_serve() -> bool:
            found[:] = self.workers
            return len(found) == count

        assert within(PATIENCE_SECONDS, all_serve), self.log
        return found

    @property
    def serves(self) -> bool:
        """Return whether any worker serves."""
        return not self.ended and bool(self.workers)

    @property
    def opened(self) -> set[int]:
        """Return the IDs of the processes that have ever served."""
        return {event["pid"] for event in self.events("open")}

    def postgres(self) -> int:
        """Return the ID of PostgreSQL's first process."""
        pid = wire.listener_pid(places.socket_path(self.folder / "postgres"))
        assert pid is not None
        return pid

    def kill(self, *pids: int) -> None:
        """Send SIGKILL to processes."""
        for pid in pids:
            with contextlib.suppress(
                ProcessLookupError
            ):  # It may have ended together with another.
                os.kill(pid, signal.SIGKILL)


def remove(folder: Path) -> None:
    """Remove the folder, and kill the processes that a failed test left."""
    for pid in processes_of(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder)
