"""A worker leaves connections to the workers beside it."""

import asyncio
import os
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
import uvloop
from structlog.testing import capture_logs

from server.accepting import Acceptor, most_at_once

PATIENCE_SECONDS = 10
MOMENT_SECONDS = 0.3
BURST = 200


class Greeting(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(b"!")  # type: ignore[attr-defined]


class Brief(Acceptor):
    refused_seconds = 0.1


class Sluggish(Acceptor):
    rest_seconds = 3600


@contextmanager
def accepting(kind: type[Acceptor]) -> Iterator[socket.socket]:
    """Take connections from a listener in a thread, and greet each."""
    loop = uvloop.new_event_loop()
    with socket.create_server(("127.0.0.1", 0), backlog=BURST) as listener:
        acceptor = kind(loop, listener, Greeting)
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        try:
            yield listener
        finally:
            loop.call_soon_threadsafe(acceptor.close)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


def connected(listener: socket.socket, stack: ExitStack) -> socket.socket:
    address = listener.getsockname()
    return stack.enter_context(socket.create_connection(address, timeout=PATIENCE_SECONDS))


def test_the_next_connection_is_left_to_another_worker() -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(accepting(Sluggish))
        assert connected(listener, stack).recv(1) == b"!"
        second = connected(listener, stack)
        second.settimeout(MOMENT_SECONDS)
        with pytest.raises(TimeoutError):
            second.recv(1)
        other, _ = listener.accept()  # As another worker does.
        other.close()


def test_who_has_closed_the_one_before_waits_for_no_rest() -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(accepting(Sluggish))
        for _ in range(3):
            caller = connected(listener, stack)
            assert caller.recv(1) == b"!"
            caller.shutdown(socket.SHUT_WR)
            assert caller.recv(1) == b""  # It is closed at the other end, too.


def test_none_of_many_is_left_where_there_is_no_other_worker() -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(accepting(Acceptor))
        callers = [connected(listener, stack) for _ in range(BURST)]
        assert all(caller.recv(1) == b"!" for caller in callers)


@pytest.mark.parametrize(("in_a_row", "most"), [(0, 1), (3, 1), (4, 2), (8, 3)])
def test_more_are_taken_at_once_where_others_do_not_keep_up(in_a_row: int, most: int) -> None:
    assert most_at_once(in_a_row) == most


def test_who_comes_while_too_many_files_are_open_is_served_later() -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(accepting(Brief))
        caller = stack.enter_context(socket.socket())
        caller.settimeout(3 * Brief.refused_seconds)
        with capture_logs() as told, no_more_files():
            caller.connect(listener.getsockname())
            with pytest.raises(TimeoutError):
                caller.recv(1)
        assert caller.recv(1) == b"!"
        assert {each["event"] for each in told} == {"connections_not_taken"}
        assert len(told) <= 4  # It rests in between.


@contextmanager
def no_more_files() -> Iterator[None]:
    """Let this process open no file more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.dup(0)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
