from ipaddress import ip_network
from typing import Any

import pytest

from server.config.client_addresses import caller_address, network_of

PROXIES = (ip_network("10.0.0.0/24"), ip_network("fd00::/8"))


def scope(peer: str | None, *forwarded: str) -> dict[str, Any]:
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    return {"client": (peer, 5000) if peer else None, "headers": headers}


class TestCallerAddress:
    @pytest.mark.parametrize(
        ("peer", "forwarded", "expected"),
        [
            ("203.0.113.1", [], "203.0.113.1"),
            ("203.0.113.1", ["198.51.100.7"], "203.0.113.1"),
            ("10.0.0.5", ["198.51.100.7"], "198.51.100.7"),
            ("10.0.0.5", ["1.2.3.4, 198.51.100.7"], "198.51.100.7"),
            ("10.0.0.5", ["1.2.3.4", "198.51.100.7"], "198.51.100.7"),
            ("10.0.0.5", ["198.51.100.7, 10.0.0.6"], "198.51.100.7"),
            ("10.0.0.5", ["10.0.0.6"], "10.0.0.6"),
            ("10.0.0.5", [], "10.0.0.5"),
            ("10.0.0.5", [""], "10.0.0.5"),
            ("10.0.0.5", ["198.51.100.7, unknown"], "10.0.0.5"),
            ("10.0.0.5", ["2001:db8::1"], "2001:db8::1"),
            ("::ffff:10.0.0.5", ["198.51.100.7"], "198.51.100.7"),
            ("fd00::1", ["198.51.100.7"], "198.51.100.7"),
            (None, ["198.51.100.7"], ""),
        ],
    )
    def test_only_believed_proxies_speak_for_others(
        self, peer: str | None, forwarded: list[str], expected: str
    ) -> None:
        assert caller_address(scope(peer, *forwarded), PROXIES) == expected

    def test_without_proxies_nobody_is_believed(self) -> None:
        assert caller_address(scope("10.0.0.5", "198.51.100.7"), ()) == "10.0.0.5"


class TestNetworkOf:
    def test_an_ipv4_address_stands_for_itself(self) -> None:
        assert network_of("198.51.100.7") == "198.51.100.7"

    def test_a_whole_network_of_ipv6_counts_as_one(self) -> None:
        assert network_of("2001:db8:1:2::3") == network_of("2001:db8:1:2:ffff::4")
        assert network_of("2001:db8:1:2::3") != network_of("2001:db8:1:3::3")
