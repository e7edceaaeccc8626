"""A client that sends a request to a URL of a stranger, and to public addresses only.

The client resolves the name of the host itself, checks every address, and connects to the address
that it has checked; there is no second lookup between check and connection. TLS and the header Host
have the name. Each request has its own connection and is checked anew.
"""

import asyncio
import errno
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from time import monotonic
from typing import Any, Final

import httpcore

from libraries.outbound.addresses import LOOPBACK, Address, refused_kind
from libraries.outbound.proxies import Proxy
from libraries.outbound.resolver import Lookup, NoAddress, Resolver, system_lookup
from libraries.outbound.targets import RefusedUrl, Target, parse
from libraries.outbound.tunnels import open_tunnel

SECONDS: Final = 15.0
RESOLVE_SECONDS: Final = 5.0
MOST_READ_BYTES: Final = 65_536
KEPT_BYTES: Final = 1024
_OWN_FAULTS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class NoAnswer(Exception):
    """A request without an answer: refused, interrupted or too slow."""


class OwnFault(Exception):
    """A request that this machine could not make, or its proxy: the receiver has no part in it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its status, the value of Retry-After, and its first 1024 bytes."""

    status: int
    retry_after: str | None
    start: bytes
    milliseconds: int


class Client:
    """A client with its rules: `loopback` also accepts loopback addresses, over plain HTTP too."""

    def __init__(
        self,
        *,
        loopback: bool = False,
        proxy: Proxy | None = None,
        lookup: Lookup = system_lookup,
        trusted: ssl.SSLContext | None = None,
    ) -> None:
        self._loopback = loopback
        self._proxy = proxy
        self._resolver = Resolver(lookup)
        self._given = trusted

    async def check(self, url: str) -> None:
        """Raise RefusedUrl unless a request may be sent to this URL now; raises OwnFault."""
        await self.addresses(parse(url, plain_http=self._loopback))

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, seconds: float = SECONDS
    ) -> Answer:
        """Send a POST request and return its answer; a redirect is an answer like any other.

        Raises RefusedUrl, OwnFault, and NoAnswer after `seconds` in all.
        """
        began = monotonic()
        target = parse(url, plain_http=self._loopback)
        try:
            async with asyncio.timeout(seconds):
                status, retry_after, start = await self._exchange(target, headers, body)
        except TimeoutError:
            raise NoAnswer(f"No complete answer came within {seconds:g} seconds.") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            raise NoAnswer(_told(error)) from error
        return Answer(status, retry_after, start, round((monotonic() - began) * 1000))

    async def addresses(self, target: Target) -> list[Address]:
        """Return the checked addresses of a target; raise RefusedUrl if one of them is refused.

        Raises OwnFault where the name could not be looked up.
        """
        try:
            async with asyncio.timeout(RESOLVE_SECONDS):
                found = await self._resolver.resolve(target.host)
        except (NoAddress, TimeoutError):
            raise RefusedUrl("unresolvable", "The host of the URL has no address.") from None
        except OSError as error:
            raise OwnFault(f"the lookup could not be made: {error}") from error
        kinds = {refused_kind(each) for each in found}
        if self._loopback and kinds == {LOOPBACK}:
            return found
        for kind in sorted(kind for kind in kinds if kind is not None):
            raise RefusedUrl("address", f"The host has a {_words(kind)} address.", kind)
        if target.scheme == "http":
            raise RefusedUrl("scheme", "The URL must begin with https://.")
        return found

    def close(self) -> None:
        """Give up the lookups that still run."""
        self._resolver.close()

    @cached_property
    def _trusted(self) -> ssl.SSLContext:
        return self._given or httpcore.default_ssl_context()

    async def _exchange(
        self, target: Target, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, str | None, bytes]:
        url = httpcore.URL(
            scheme=target.scheme.encode(),
            host=target.host.encode(),
            port=target.port,
            target=target.path.encode(),
        )
        sent = {**headers, "Host": target.host_header, "Connection": "close"}
        sent["Content-Length"] = str(len(body))
        request = httpcore.Request("POST", url, headers=_pairs(sent), content=body)
        connection = httpcore.AsyncHTTPConnection(
            url.origin, ssl_context=self._trusted, network_backend=_Checked(self, target)
        )
        try:
            answer = await connection.handle_async_request(request)
            start = await _start_of(answer)
        finally:
            await connection.aclose()
        return answer.status, _header(answer, b"retry-after"), start

    async def connect(self, target: Target) -> httpcore.AsyncNetworkStream:
        """Connect to the first address of a target that answers, or through the proxy.

        Raises httpcore.ConnectError, and OwnFault.
        """
        failure: Exception = httpcore.ConnectError("the host has no address")
        for address in await self.addresses(target):
            try:
                return await self._connect_to(address, target.port)
            except httpcore.ConnectError as error:
                failure = error
        if _is_ours(failure):
            raise OwnFault("this machine has no file or memory for a connection") from failure
        raise failure

    async def _connect_to(self, address: Address, port: int) -> httpcore.AsyncNetworkStream:
        if self._proxy is None or refused_kind(address) == LOOPBACK:
            return await _NETWORK.connect_tcp(str(address), port)
        try:
            stream = await _NETWORK.connect_tcp(self._proxy.host, self._proxy.port)
        except httpcore.ConnectError as error:
            raise OwnFault("the proxy does not answer") from error
        try:
            await open_tunnel(stream, self._proxy, address, port)
        except BaseException as error:
            await stream.aclose()
            if isinstance(error, httpcore.ProxyError):
                raise OwnFault(str(error)) from error
            raise
        return stream


_NETWORK: Final = httpcore.AnyIOBackend()


class _Checked(httpcore.AsyncNetworkBackend):
    """The network of one request: each of its connections goes to a checked address."""

    def __init__(self, client: Client, target: Target) -> None:
        self._client = client
        self._target = target

    async def connect_tcp(self, *_: Any, **_named: Any) -> httpcore.AsyncNetworkStream:
        return await self._client.connect(self._target)


async def _start_of(answer: httpcore.Response) -> bytes:
    """Read an answer until 64 kB of it have come, and return its first 1024 bytes."""
    start, read = b"", 0
    async for part in answer.aiter_stream():
        start = (start + part)[:KEPT_BYTES]
        read += len(part)
        if read >= MOST_READ_BYTES:
            break
    return start


def _pairs(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def _header(answer: httpcore.Response, wanted: bytes) -> str | None:
    values = (value for name, value in answer.headers if name.lower() == wanted)
    return next((value.decode("latin-1") for value in values), None)


def _is_ours(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, OSError) and error.errno in _OWN_FAULTS:
            return True
        error = error.__cause__
    return False


def _told(error: Exception) -> str:
    if isinstance(error.__cause__ or error.__context__, ssl.SSLError):
        return "The certificate or the TLS connection was not accepted."
    if isinstance(error, httpcore.ProtocolError):
        return "The answer was not valid HTTP."
    if isinstance(error, httpcore.ConnectError):
        return "No connection could be made."
    return "The connection was interrupted."


def _words(kind: str) -> str:
    return kind.replace("_", "-")
