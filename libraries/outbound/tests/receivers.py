"""Servers that read one request of each connection and answer with given bytes."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from libraries.outbound.tests.certificates import write_certificate

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass
class Received:
    """The requests that arrived, as bytes, and the port of the server."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """Read the head of a request, and its body by Content-Length."""
    head = await reader.readuntil(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return head + (await reader.readexactly(int(lengths[0].split(b":")[1])) if lengths else b"")


@asynccontextmanager
async def receiver(answer: bytes | Callable[[], bytes] = OK) -> AsyncIterator[Received]:
    """Serve on loopback; an empty answer never comes."""
    received = Received()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            received.requests.append(await read_request(reader))
            told = answer() if callable(answer) else answer
            writer.write(told)
            await writer.drain()
            if not told:
                await reader.read()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    received.port = server.sockets[0].getsockname()[1]
    async with server:
        yield received


@asynccontextmanager
async def failing_proxy(answer: bytes) -> AsyncIterator[int]:
    """Serve as a proxy that answers each request with some bytes and closes; yield its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def proxy(context: ssl.SSLContext, answer: bytes = OK) -> AsyncIterator[Received]:
    """Serve as a proxy whose tunnels all end in one TLS server with this context."""
    received = Received()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            received.requests.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await writer.drain()
            await writer.start_tls(context)
            received.requests.append(await read_request(reader))
            writer.write(answer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    received.port = server.sockets[0].getsockname()[1]
    async with server:
        yield received


def certified(folder: Path, host: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Make a certificate for a host; return the contexts of its server and of its clients."""
    chain, key = write_certificate(folder, host)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(chain, key)
    return served, ssl.create_default_context(cafile=chain)
