"""Large answers: how they are sent, and how much of them a worker holds."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from server.http.edge import Edge, HttpsRule
from server.http.errors import Answer
from server.http.unsent_answers import PIECE_BYTES, UnsentAnswer, UnsentAnswers
from tests.server.driver import request

LARGE = bytes(range(256)) * 1024  # Four pieces.


class Client:
    """The connection of a client that reads one message each time `go_on` is called."""

    def __init__(self, edge: Edge, path: str = "/v1/export/") -> None:
        self.pieces: list[Any] = []
        self.closed = False
        self.accepts = asyncio.Event()
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "scheme": "https",
            "headers": [],
            "hung_up": lambda: self.closed,
            "reset": self.reset,
        }
        self.served = asyncio.ensure_future(edge(scope, self.receive, self.send))

    def reset(self) -> None:
        self.closed = True
        self.accepts.set()

    async def receive(self) -> Any:
        await asyncio.Event().wait()

    async def send(self, message: Any) -> None:
        self.pieces.append(message.get("body", b""))
        await self.accepts.wait()
        self.accepts.clear()

    async def go_on(self, messages: int) -> None:
        for _ in range(messages):
            self.accepts.set()
            await asyncio.sleep(0.001)


async def answer(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": LARGE})


async def page(_path: str, _scope: Any) -> Callable[[Any], Any]:
    async def shown(_scope: Any) -> Answer:
        return Answer(200, [], memoryview(LARGE))

    return shown


def edge_holding(answers: int, **options: Any) -> Edge:
    """Return an edge whose worker may hold so many large answers."""
    edge = Edge(answer, https=HttpsRule(), **options)
    edge.unsent = UnsentAnswers(answers * len(LARGE))
    return edge


class TestPieces:
    @pytest.mark.parametrize("path", ["/v1/export/", "/page"])
    def test_a_large_answer_is_complete(self, path: str) -> None:
        edge = edge_holding(1, find_page=page)
        reply = request(edge, "GET", path)
        assert (reply.status, reply.body) == (200, LARGE)
        assert edge.unsent.held_bytes == 0

    def test_a_piece_is_passed_on_when_the_connection_accepts_it(self) -> None:
        async def read() -> None:
            client = Client(edge_holding(1))
            await client.go_on(3)
            assert [len(piece) for piece in client.pieces] == [0, *[PIECE_BYTES] * 3]
            await client.go_on(2)
            assert client.served.done()
            assert b"".join(client.pieces) == LARGE

        asyncio.run(read())

    def test_a_page_is_copied_for_nobody(self) -> None:
        async def read() -> None:
            client = Client(edge_holding(1, find_page=page), "/page")
            await client.go_on(5)
            assert {piece.obj is LARGE for piece in client.pieces[1:]} == {True}

        asyncio.run(read())

    def test_nothing_is_passed_on_to_a_client_that_has_left(self) -> None:
        async def read() -> None:
            edge = edge_holding(1)
            client = Client(edge)
            await client.go_on(2)
            client.reset()
            await client.served
            assert (len(client.pieces), edge.unsent.held_bytes) == (3, 0)

        asyncio.run(read())


class TestHeldAnswers:
    def test_the_slowest_reader_makes_way_for_a_new_answer(self) -> None:
        async def read() -> None:
            edge = edge_holding(2)
            slow = Client(edge)
            await slow.go_on(2)
            fast = Client(edge)
            await fast.go_on(3)
            third = Client(edge)
            await third.go_on(2)
            assert (fast.closed, slow.closed, third.closed) == (False, True, False)
            assert edge.unsent.held_bytes == 2 * len(LARGE)
            for client in (fast, third):
                await client.go_on(4)
                assert b"".join(client.pieces) == LARGE
            await slow.served
            assert edge.unsent.held_bytes == 0

        asyncio.run(read())

    def test_readers_of_a_page_make_way_for_nobody(self) -> None:
        async def read() -> None:
            edge = edge_holding(1, find_page=page)
            clients = [Client(edge, "/page") for _ in range(5)]
            for client in clients:
                await client.go_on(5)
            assert {b"".join(client.pieces) for client in clients} == {LARGE}

        asyncio.run(read())

    def test_an_answer_above_the_limit_is_sent_alone(self) -> None:
        closed = []
        held = UnsentAnswers(most_bytes=10)
        held.add(UnsentAnswer(8, lambda: closed.append("first")))
        held.add(UnsentAnswer(11, lambda: closed.append("second")))
        assert (closed, held.held_bytes) == (["first"], 11)
