"""The undocumented parts of uvicorn that we use: a failure names what a new version changed."""

import ast
import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from uvicorn import Config, Server
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState
from uvicorn.supervisors.multiprocess import SIGNALS, Multiprocess, Process

from server.process.protocol import GuardedProtocol
from server.process.uvicorn_adapter import RELIED_ON, HttpConnection, Supervisor, WorkerProcess
from tests.partner import PATIENCE_SECONDS, within
from tests.server.adapter_members import moved

ADAPTER = "server/process/uvicorn_adapter.py"
ROOT = Path(__file__).parents[3]
USERS = (
    "server/process/uvicorn_adapter.py",
    "server/process/protocol.py",
    "server/process/master.py",
)


def relies(on: str) -> str:
    return f"{ADAPTER} relies on this: {on}"


class RecordingConnection(HttpConnection):
    """A connection that records which requests began, and whether the server shut down."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.began: list[RequestResponseCycle] = []
        self.told_to_shut_down = False

    def request_starts(self, cycle: RequestResponseCycle) -> None:
        self.began.append(cycle)

    def shutdown(self) -> None:
        self.told_to_shut_down = True
        super().shutdown()


@dataclass
class Application:
    """An application that waits for `may_read`, then reads one message and answers."""

    may_read: asyncio.Event = field(default_factory=asyncio.Event)
    read: list[Any] = field(default_factory=list)

    async def __call__(self, _scope: Any, receive: Any, send: Any) -> None:
        await self.may_read.wait()
        self.read.append(await receive())
        if self.read[-1]["type"] == "http.disconnect":
            return
        headers = [(b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body"})


@dataclass
class Talk:
    """A connection to a server, from both ends."""

    server: Server
    connection: Any
    application: Application
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def say(self, *parts: bytes) -> None:
        self.writer.write(b"".join(parts))

    async def answer(self) -> bytes:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def until(self, what: Any) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not what():
                await asyncio.sleep(0.005)


@asynccontextmanager
async def talk(protocol: type[HttpToolsProtocol] = RecordingConnection) -> AsyncIterator[Talk]:
    application = Application()
    config = Config(application, http=protocol, ws="none", lifespan="off", log_config=None)
    server = Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        while not server.server_state.connections:
            await asyncio.sleep(0.005)
        [connection] = server.server_state.connections
        yield Talk(server, connection, application, reader, writer)
        application.may_read.set()
        writer.close()
        server.should_exit = True
        await serving


def get(path: bytes = b"/", *lines: bytes) -> bytes:
    return b"GET " + path + b" HTTP/1.1\r\nHost: test\r\n" + b"".join(lines) + b"\r\n"


def post(length: int, *lines: bytes) -> bytes:
    head = b"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n" % length
    return head + b"".join(lines) + b"\r\n"


@contextmanager
def signals_kept() -> Iterator[None]:
    """Restore the signal handlers that a supervisor replaces."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.fixture(scope="module")
def instances() -> dict[type, object]:
    """Return an instance of each class, the connection after a request."""

    async def connection() -> HttpToolsProtocol:
        async with talk(HttpToolsProtocol) as talking:
            talking.application.may_read.set()
            talking.say(get())
            await talking.answer()
            return talking.connection

    made = asyncio.run(connection())
    config = Config(Application, factory=True, log_config=None)
    with signals_kept():
        supervisor = Multiprocess(config, [])
    process = Process(config, [])
    found = (made, made.cycle, made.flow, made.server_state, process, supervisor)
    return {type(each): each for each in found}


class TestNames:
    def test_all_that_it_relies_on_is_there(self, instances: dict[type, object]) -> None:
        assert set(instances) == set(RELIED_ON)
        assert moved(ADAPTER, RELIED_ON, instances) == []

    def test_the_list_has_all_that_is_used_and_no_more(self, instances: dict[type, object]) -> None:
        used = {
            (owner, name)
            for user in USERS
            for owner, name in uses(ROOT / user)
            if hasattr(instances[owner], name)
        }
        listed = {
            (owner, entry.partition("(")[0])
            for owner, entries in RELIED_ON.items()
            for entry in entries.split()
        }
        different = {(owner, name) for owner, name in used ^ listed if name != "__init__"}
        assert {f"{owner.__name__}.{name}" for owner, name in different} == set()


BASES = {
    "HttpConnection": HttpToolsProtocol,
    "HttpToolsProtocol": HttpToolsProtocol,
    "Multiprocess": Multiprocess,
    "Process": Process,
    "Supervisor": Multiprocess,
}
HOLDERS = {
    "cycle": RequestResponseCycle,
    "process": Process,
    "self.cycle": RequestResponseCycle,
    "self.flow": FlowControl,
    "self.server_state": ServerState,
    "worker": Process,
}


def uses(path: Path) -> Iterator[tuple[type, str]]:
    """Yield the members that a module of ours overrides or reads of uvicorn's classes."""
    for definition in ast.parse(path.read_text()).body:
        if isinstance(definition, ast.ClassDef) and definition.bases:
            base = BASES.get(ast.unparse(definition.bases[0]))
            if base is None:
                continue
            holders = {**HOLDERS, "self": base, "super()": base}
            for node in ast.walk(definition):
                if isinstance(node, ast.FunctionDef):
                    yield base, node.name
                elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in holders:
                    yield holders[ast.unparse(node.value)], node.attr


def with_talk(test: Callable[[Any, Talk], Awaitable[None]]) -> Callable[[Any], None]:
    """Run a test in an event loop of its own, with one connection."""

    async def run(self: Any) -> None:
        async with talk() as talking:
            await test(self, talking)

    return lambda self: asyncio.run(run(self))


class TestHttpConnection:
    @with_talk
    async def test_requests_start_one_after_the_other(self, talking: Talk) -> None:
        connection = talking.connection
        talking.say(get(b"/1"), get(b"/2"), get(b"/3"))
        await talking.until(lambda: len(connection.pipeline) == 2)
        assert len(connection.began) == 1, relies("_start_asgi_task waits for its turn")
        newest = connection.pipeline[0][0]
        assert newest is connection.cycle, relies("the newest request is leftmost")
        talking.application.may_read.set()
        for _ in range(3):
            await talking.answer()
        paths = [cycle.scope["path"] for cycle in connection.began]
        assert paths == ["/1", "/2", "/3"], relies("_start_asgi_task starts each request")

    @with_talk
    async def test_the_idle_timer_is_stopped(self, talking: Talk) -> None:
        talking.application.may_read.set()
        talking.say(get())
        await talking.answer()
        timer = talking.connection.timeout_keep_alive_task
        talking.connection.stop_idle_timer()
        assert timer.cancelled(), relies("_unset_keepalive_if_required stops the timer")

    @with_talk
    async def test_the_protocol_that_is_offered_is_read_from_the_headers(
        self, talking: Talk
    ) -> None:
        talking.say(get(b"/", b"Connection: Upgrade\r\nUpgrade: H2C\r\n"))
        await talking.until(lambda: talking.connection.began)
        offered = talking.connection.offered_protocol()
        assert offered == b"h2c", relies("_get_upgrade reads self.headers")

    @with_talk
    async def test_a_request_that_is_given_up_is_a_disconnect(self, talking: Talk) -> None:
        talking.application.may_read.set()
        talking.say(post(9))
        await talking.until(lambda: talking.connection.began)
        cycle = talking.connection.cycle
        assert cycle.more_body, relies("more_body until the body is here")
        cycle.disconnected = True
        cycle.message_event.set()
        await talking.until(lambda: talking.application.read)
        [message] = talking.application.read
        assert message["type"] == "http.disconnect", relies("disconnected, message_event")

    @with_talk
    async def test_without_keep_alive_the_answer_is_the_last(self, talking: Talk) -> None:
        talking.say(get())
        await talking.until(lambda: talking.connection.began)
        assert not talking.connection.cycle.response_started
        talking.connection.cycle.keep_alive = False
        talking.application.may_read.set()
        assert b"connection: close" in await talking.answer(), relies("keep_alive")
        assert await talking.reader.read() == b"", relies("keep_alive closes")
        assert talking.connection.cycle.response_complete, relies("response_complete")

    @with_talk
    async def test_a_body_beyond_the_limit_stops_the_reading(self, talking: Talk) -> None:
        talking.say(post(400_000), b"x" * 400_000)
        await talking.until(lambda: talking.connection.began)
        flow = talking.connection.flow
        await talking.until(lambda: flow.read_paused)
        flow.resume_reading()
        assert not flow.read_paused, relies("read_paused and resume_reading")

    @with_talk
    async def test_a_caller_that_waits_for_100_continue_is_known(self, talking: Talk) -> None:
        talking.say(post(1, b"Expect: 100-continue\r\n"))
        await talking.until(lambda: talking.connection.began)
        waits = talking.connection.cycle.waiting_for_100_continue
        assert waits, relies("waiting_for_100_continue")
        talking.application.may_read.set()
        assert b" 100 " in await talking.answer()
        waits = talking.connection.cycle.waiting_for_100_continue
        assert not waits, relies("waiting_for_100_continue ends with the first read")

    @with_talk
    async def test_a_server_that_stops_tells_each_connection(self, talking: Talk) -> None:
        talking.server.should_exit = True
        assert await talking.reader.read() == b""
        assert talking.connection.told_to_shut_down, relies("the server calls shutdown")

    def test_the_settings_take_a_protocol_by_its_address(self) -> None:
        config = Config(Application, factory=True, http="server.process.protocol:GuardedProtocol")
        config.load()
        assert config.http_protocol_class is GuardedProtocol, relies("http= takes module:Class")


KILLED_BETWEEN = """
import os, signal
from multiprocessing import forkserver
from server.process.uvicorn_adapter import FORKS, ForkedProcess

FORKS.set_forkserver_preload([])  # Nothing, so that it starts fast.
for _ in range(30):
    process = ForkedProcess(target=os.getpid)
    process.start()
    process.join()
    assert process.exitcode == 0
    os.kill(forkserver._forkserver._forkserver_pid, signal.SIGKILL)
"""

UNTRACKED = """
import multiprocessing, os, psutil
from server.process.uvicorn_adapter import FORKS, ForkedProcess, track_nothing

FORKS.set_forkserver_preload([])
track_nothing()
spawned = multiprocessing.get_context("spawn").Process(target=os.getpid)
for process in (ForkedProcess(target=os.getpid), spawned):
    process.start()
    process.join()
    assert process.exitcode == 0
[forks] = psutil.Process().children()
assert "forkserver" in forks.cmdline()[-1]
"""


class TestForkedProcess:
    def test_a_process_starts_although_the_fork_server_dies(self) -> None:
        subprocess.run([sys.executable, "-c", KILLED_BETWEEN], check=True, cwd=ROOT)

    def test_no_process_is_started_that_tracks_resources(self) -> None:
        subprocess.run([sys.executable, "-c", UNTRACKED], check=True, cwd=ROOT)


@contextmanager
def one_worker() -> Iterator[tuple[Supervisor, WorkerProcess]]:
    config = Config(f"{__name__}:Application", factory=True, lifespan="off", log_config=None)
    with socket.create_server(("127.0.0.1", 0)) as listener, signals_kept():
        supervisor = Supervisor(config, [listener])
        worker = supervisor.started_worker()
        supervisor.processes.append(worker)
        yield supervisor, worker


class TestSupervisor:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_to_stop_is_seen(self, number: int) -> None:
        with signals_kept():
            supervisor = Supervisor(Config(Application, factory=True, log_config=None), [])
            signal.raise_signal(number)
        supervisor.handle_signals()
        assert supervisor.should_exit.is_set(), relies("handle_signals sets should_exit")

    def test_a_worker_says_when_it_serves(self) -> None:
        with one_worker() as (_, worker):
            assert within(PATIENCE_SECONDS, lambda: worker.is_ready(1)), relies("is_ready")
            assert worker.is_alive(PATIENCE_SECONDS), relies("is_alive")
            worker.terminate()
            worker.join()
            assert worker.exitcode == -signal.SIGTERM, relies("terminate and exitcode")

    def test_the_death_of_a_worker_is_seen_at_once(self) -> None:
        with one_worker() as (supervisor, worker):
            began = time.monotonic()
            os.kill(worker.pid, signal.SIGKILL)
            supervisor.wait_for_death(PATIENCE_SECONDS)
            assert not worker.is_ready(PATIENCE_SECONDS), relies("is_ready")
            assert time.monotonic() - began < PATIENCE_SECONDS, relies("sentinel and child_conn")
            assert not worker.is_alive(PATIENCE_SECONDS), relies("is_alive")
            worker.kill()
            supervisor.join_all()
            assert worker.exitcode == -signal.SIGKILL, relies("exitcode")
