"""A tunnel through an HTTP proxy (RFC 9110, CONNECT) to an address that was checked."""

from ipaddress import IPv6Address
from typing import Final

import httpcore

from libraries.outbound.addresses import Address
from libraries.outbound.proxies import Proxy

_LONGEST_HEAD: Final = 16_384
_CREDENTIALS_REFUSED: Final = b"407"


async def open_tunnel(
    stream: httpcore.AsyncNetworkStream, proxy: Proxy, address: Address, port: int
) -> None:
    """Ask a connected proxy for a tunnel.

    Raises httpcore.ConnectError where it cannot reach the address, and httpcore.ProxyError where
    the proxy itself fails: it closes the connection, or refuses our credentials.
    """
    named = f"[{address}]" if isinstance(address, IPv6Address) else str(address)
    lines = [f"CONNECT {named}:{port} HTTP/1.1", f"Host: {named}:{port}"]
    if proxy.authorization is not None:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    await stream.write("\r\n".join([*lines, "", ""]).encode())
    head = b""
    while b"\r\n\r\n" not in head:
        received = await stream.read(4096)
        head += received
        if not received or len(head) > _LONGEST_HEAD:
            raise httpcore.ProxyError("the proxy closed the connection")
    status = head.split(b"\r\n", 1)[0].split(b" ")[1:2]
    if status == [_CREDENTIALS_REFUSED]:
        raise httpcore.ProxyError("the proxy refused the credentials")
    if not status or not status[0].startswith(b"2"):
        raise httpcore.ConnectError("the proxy refused the connection")
