"""The transport of the tests' own clients: it accepts only complete answers."""

import socket
from collections.abc import Callable, Iterator
from threading import Thread

import httpx
import pytest

from tests.plain_wire import PlainWire

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
Serve = Callable[..., httpx.Client]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Return a function that starts a server that sends these bytes, one piece for each request."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        clients: list[httpx.Client] = []

        def talk(connections: tuple[list[bytes], ...]) -> None:
            for pieces in connections:
                connection, _ = listener.accept()
                with connection:
                    for piece in pieces:
                        connection.recv(65_536)
                        connection.sendall(piece)

        def start(*connections: list[bytes]) -> httpx.Client:
            Thread(target=talk, args=(connections,), daemon=True).start()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            clients.append(httpx.Client(base_url=url, transport=PlainWire(), timeout=60))
            return clients[-1]

        yield start
        for each in clients:
            each.close()


class TestPlainWire:
    def test_makes_another_when_the_server_has_hung_up(self, serve: Serve) -> None:
        closing = WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        client = serve([closing], [WHOLE])
        assert [client.get("/").text for _ in range(2)] == ["hi", "hi"]

    @pytest.mark.parametrize(
        "said",
        [
            WHOLE[:-1],
            WHOLE + b"!",
            b"HTTP/1.1 200 OK\r\nDate: today\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n",
            b"HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
            b"",
        ],
    )
    def test_refuses_what_is_no_whole_answer(self, said: bytes, serve: Serve) -> None:
        with pytest.raises(httpx.RemoteProtocolError):
            serve([said]).get("/")
