"""Connections that are counted together."""

from ipaddress import ip_network

import pytest

from server.process.connections import ConnectionsPerAddress


class TestConnectionsPerAddress:
    @pytest.mark.parametrize(
        "others",
        [("203.0.113.9", "::ffff:203.0.113.9"), ("2001:db8::1", "2001:db8::ffff:1")],
        ids=["one-address", "one-network"],
    )
    def test_connections_of_one_owner_are_counted_together(self, others: tuple[str, str]) -> None:
        connections = ConnectionsPerAddress(1)
        one, other = ((name, 4000) for name in others)
        assert connections.opened(one)
        assert not connections.opened(other)
        connections.closed(one)
        assert connections.opened(other)

    @pytest.mark.parametrize(
        "connections",
        [ConnectionsPerAddress(0), ConnectionsPerAddress(1, [ip_network("192.0.2.0/24")])],
        ids=["unbounded", "a-proxy"],
    )
    def test_some_have_as_many_as_they_like(self, connections: ConnectionsPerAddress) -> None:
        proxy = ("192.0.2.7", 4000)
        assert all(connections.opened(proxy) for _ in range(10))
        connections.closed(proxy)

    def test_a_socket_without_an_address_is_not_counted(self) -> None:
        connections = ConnectionsPerAddress(1)
        assert all(connections.opened(None) for _ in range(10))
