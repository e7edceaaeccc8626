"""An adapter for the parts of uvicorn that are not documented, under our own names.

The documented part is imported where it is used: `uvicorn.Config` with its settings. `RELIED_ON`
lists the members that this module and its importers use;
tests/server/process/test_uvicorn_adapter.py compares it with the installed version, and reports
what a new version has changed.
"""

import multiprocessing
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from socket import socket
from types import MappingProxyType
from typing import Final

from uvicorn import Config
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState
from uvicorn.supervisors.multiprocess import Multiprocess, Process

__all__ = [
    "FORKS",
    "RELIED_ON",
    "ForkedProcess",
    "HttpConnection",
    "Process",
    "RequestResponseCycle",
    "Supervisor",
    "WorkerProcess",
    "start_forking",
    "stop_forking",
    "track_nothing",
]

# Called or overridden methods with the names of their parameters, and attributes.
RELIED_ON: Final[Mapping[type, str]] = MappingProxyType(
    {
        HttpToolsProtocol: (
            "connection_made(transport) connection_lost(exc) data_received(data) shutdown()"
            " on_message_begin() on_url(url) on_header(name,value) on_headers_complete()"
            " on_message_complete() on_response_complete() pause_writing() resume_writing()"
            " timeout_keep_alive_handler() _start_asgi_task(cycle,app) _get_upgrade()"
            " _unset_keepalive_if_required()"
            " client cycle flow headers loop parser pipeline scheme server_state transport url"
        ),
        RequestResponseCycle: (
            "disconnected keep_alive message_event more_body response_complete response_started"
            " scope waiting_for_100_continue"
        ),
        FlowControl: "read_paused resume_reading()",
        ServerState: "default_headers",
        Process: (
            "__init__(config,sockets) target(sockets) start() terminate() kill() join()"
            " is_alive(timeout) is_ready(timeout) wait_until_ready(timeout,should_exit)"
            " pid exitcode process child_conn"
        ),
        Multiprocess: (
            "__init__(config,sockets) run() handle_signals() handle_term() join_all() restart_all()"
            " config processes processes_num should_exit signal_queue sockets"
        ),
    }
)


# Workers are forked from a process with a single thread, which has loaded their shared modules.
# The master cannot be that process, since it has threads.
FORKS: Final = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["server.process.preloaded"])
_STOPPING: Final = frozenset({signal.SIGINT, signal.SIGTERM})


class ForkedProcess(ForkServerProcess):
    """A process forked from the fork server."""

    def start(self) -> None:
        """Start the process; signals are handled while the fork server still loads."""
        start_forking()
        try:
            super().start()
        except (EOFError, OSError):
            # The fork server has just died. Wait for it, or it would still count as alive.
            forkserver._forkserver._stop()  # type: ignore[attr-defined]
            start_forking()
            super().start()


def start_forking() -> None:
    """Start the fork server if it does not run; it loads while this process goes on.

    Ctrl-C reaches every process of a terminal. All forked processes block it until they can handle
    it.
    """
    track_nothing()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def stop_forking() -> None:
    """End the fork server, which may still load and would outlive this process until then."""
    pid = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        forkserver._forkserver._stop()  # type: ignore[attr-defined]


def track_nothing() -> None:
    """Keep multiprocessing from starting its resource tracker, a process of 7 MB.

    The tracker removes named semaphores and shared memory that a process leaves behind; no process
    of a server creates any. Starting it would also unblock signals that are blocked.
    """
    tracker = resource_tracker._resource_tracker
    if tracker._fd is None:  # type: ignore[attr-defined]
        # All messages to the tracker are discarded.
        tracker._fd = os.open(os.devnull, os.O_WRONLY)  # type: ignore[attr-defined]


class HttpConnection(HttpToolsProtocol):
    """A connection. Its requests are `RequestResponseCycle`s, the newest is `self.cycle`."""

    def request_starts(self, cycle: RequestResponseCycle) -> None:
        """Prepare a request before the application gets it; a pipelined request waits for that."""

    def stop_idle_timer(self) -> None:
        """Keep uvicorn from closing the connection between two requests."""
        self._unset_keepalive_if_required()

    def offered_protocol(self) -> bytes | None:
        """Return the protocol that the client offers to change to, in lower case."""
        return self._get_upgrade()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self.request_starts(cycle)
        super()._start_asgi_task(cycle, app)


class WorkerProcess(Process):
    """A worker process. If it dies, a health query to it ends without waiting for its timeout."""

    def __init__(self, config: Config, sockets: list[socket]) -> None:
        super().__init__(config, sockets)
        # uvicorn's own process is spawned, and would load everything again.
        self.process = ForkedProcess(target=self.target, args=(sockets,))  # type: ignore[assignment]

    def target(self, sockets: list[socket] | None = None) -> None:
        """Serve; the signal that ends the process is not a failure."""
        with suppress(KeyboardInterrupt):
            super().target(sockets)

    def start(self) -> None:
        """Start the process, and close our copy of its end of the pipe."""
        super().start()
        self.child_conn.close()


class Supervisor(Multiprocess):
    """The worker processes, and the signals of their parent process."""

    def told_to_stop(self) -> bool:
        """Return whether the server is to stop; a signal counts before it is handled."""
        return self.should_exit.is_set() or not _STOPPING.isdisjoint(self.signal_queue)

    def started_worker(self) -> WorkerProcess:
        """Start another worker and return it."""
        worker = WorkerProcess(self.config, self.sockets)
        worker.start()
        return worker

    def wait_for_death(self, seconds: float) -> None:
        """Wait until a worker dies, or for the given number of seconds."""
        wait([process.process.sentinel for process in self.processes], seconds)
