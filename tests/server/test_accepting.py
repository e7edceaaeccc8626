"""A worker takes connections in turns, and leaves others to the workers beside it."""

import asyncio
import os
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
import uvloop

from server.accepting import Acceptor, size_of_turn

PATIENCE_SECONDS = 10
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
        first = connected(listener, stack)
        assert first.recv(1) == b"!"
        connected(listener, stack)
        other, _ = listener.accept()  # Raises BlockingIOError where it was taken.
        other.close()


def test_none_of_many_is_left_where_there_is_no_other_worker() -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(accepting(Acceptor))
        callers = [connected(listener, stack) for _ in range(BURST)]
        assert all(caller.recv(1) == b"!" for caller in callers)


@pytest.mark.parametrize(("in_a_row", "size"), [(0, 1), (3, 1), (4, 2), (8, 3)])
def test_turns_grow_where_others_do_not_keep_up(in_a_row: int, size: int) -> None:
    assert size_of_turn(in_a_row) == size


def test_who_comes_while_too_many_files_are_open_is_served_later() -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(accepting(Brief))
        caller = stack.enter_context(socket.socket())
        caller.settimeout(3 * Brief.refused_seconds)
        with no_more_files():
            caller.connect(listener.getsockname())
            with pytest.raises(TimeoutError):
                caller.recv(1)
        assert caller.recv(1) == b"!"


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
