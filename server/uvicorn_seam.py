"""All that we use of uvicorn without its documentation promising it, under names of ours.

Promised, and imported where it is used: `uvicorn.Config` with its settings. `RELIED_ON` lists what
this module and those that import it count on; tests/server/test_uvicorn_seam.py holds it against
the installed version, and says what a new one has moved.
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
    "track_nothing",
]

# Methods that are called or overridden, with the names of their parameters, and attributes.
RELIED_ON: Final[Mapping[type, str]] = MappingProxyType(
    {
        HttpToolsProtocol: (
            "connection_made(transport) connection_lost(exc) data_received(data) shutdown()"
            " on_message_begin() on_url(url) on_header(name,value) on_headers_complete()"
            " on_message_complete() _start_asgi_task(cycle,app) _get_upgrade()"
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


# Workers are forked from one process with a single thread that has loaded what all of them need.
# The master cannot be that one: it has threads.
FORKS: Final = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["server.process.preloaded"])
_STOPPING: Final = frozenset({signal.SIGINT, signal.SIGTERM})


class ForkedProcess(ForkServerProcess):
    """A process that is forked from that one."""

    def start(self) -> None:
        """Start it; signals are handled while the one that forks still loads."""
        _start_forking()
        try:
            super().start()
        except (EOFError, OSError):
            # The one that forks has just died. It is waited for: it would still count as alive.
            forkserver._forkserver._stop()  # type: ignore[attr-defined]
            _start_forking()
            super().start()


def _start_forking() -> None:
    """Start the process that others are forked from, where it is not there.

    Ctrl-C reaches every process of a terminal: all that are forked hold it back until they can
    handle it.
    """
    track_nothing()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def track_nothing() -> None:
    """Keep multiprocessing from starting one process more, with 7 MB, beside those it starts.

    That one would remove named semaphores and shared memory that a process left behind; no process
    of a server makes any. Its start would let signals through, too, that are held back.
    """
    tracker = resource_tracker._resource_tracker
    if tracker._fd is None:  # type: ignore[attr-defined]
        # Whatever is told to it is taken.
        tracker._fd = os.open(os.devnull, os.O_WRONLY)  # type: ignore[attr-defined]


class HttpConnection(HttpToolsProtocol):
    """One connection. Its requests are `RequestResponseCycle`s, the newest is `self.cycle`."""

    def request_starts(self, cycle: RequestResponseCycle) -> None:
        """Do what is due before the application gets a request; a pipelined one waits for it."""

    def stop_idle_timer(self) -> None:
        """Keep uvicorn from closing the connection between two requests."""
        self._unset_keepalive_if_required()

    def offered_protocol(self) -> bytes | None:
        """Return what the client offers to change to, in lower case."""
        return self._get_upgrade()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self.request_starts(cycle)
        super()._start_asgi_task(cycle, app)


class WorkerProcess(Process):
    """One worker. When it dies, a question to it ends at once instead of after its timeout."""

    def __init__(self, config: Config, sockets: list[socket]) -> None:
        super().__init__(config, sockets)
        # uvicorn's own is spawned, and loads everything anew.
        self.process = ForkedProcess(target=self.target, args=(sockets,))  # type: ignore[assignment]

    def target(self, sockets: list[socket] | None = None) -> None:
        """Serve; the signal that ends it is no failure."""
        with suppress(KeyboardInterrupt):
            super().target(sockets)

    def start(self) -> None:
        """Start it, and close our copy of its end of the pipe."""
        super().start()
        self.child_conn.close()


class Supervisor(Multiprocess):
    """The worker processes and the signals of the process that has them."""

    def told_to_stop(self) -> bool:
        """Tell whether a signal says so, or we did; a signal counts before it is handled."""
        return self.should_exit.is_set() or not _STOPPING.isdisjoint(self.signal_queue)

    def started_worker(self) -> WorkerProcess:
        """Start one worker more and return it."""
        worker = WorkerProcess(self.config, self.sockets)
        worker.start()
        return worker

    def wait_for_death(self, seconds: float) -> None:
        """Return when a worker dies, or after so many seconds."""
        wait([process.process.sentinel for process in self.processes], seconds)
