"""Kinds of addresses that are refused, as literals and in disguise."""

from ipaddress import ip_address

import pytest

from libraries.outbound.addresses import KINDS, refused_kind

REFUSED = [
    ("127.0.0.1", "loopback"),
    ("::1", "loopback"),
    ("0.0.0.0", "unspecified"),
    ("::", "unspecified"),
    ("10.1.2.3", "private"),
    ("172.31.255.255", "private"),
    ("192.168.0.1", "private"),
    ("100.64.0.1", "shared"),
    ("100.100.100.200", "shared"),
    ("169.254.169.254", "link_local"),
    ("fe80::1", "link_local"),
    ("fe80::1%eth0", "link_local"),
    ("fd00:ec2::254", "unique_local"),
    ("fec0::1", "site_local"),
    ("224.0.0.1", "multicast"),
    ("ff02::1", "multicast"),
    ("192.0.2.7", "documentation"),
    ("2001:db8::1", "documentation"),
    ("198.18.0.1", "benchmark"),
    ("2001:2::1", "benchmark"),
    ("168.63.129.16", "metadata"),
    ("::ffff:127.0.0.1", "mapped"),
    ("::ffff:93.184.215.14", "mapped"),
    ("::127.0.0.1", "mapped"),
    ("64:ff9b::a01:203", "nat64"),
    ("64:ff9b:1::1", "nat64"),
    ("2002:7f00:1::", "tunnel"),
    ("2001:0:7f00:1::", "tunnel"),
    ("192.88.99.1", "tunnel"),
    ("255.255.255.255", "reserved"),
    ("240.0.0.1", "reserved"),
    ("192.0.0.170", "reserved"),
    ("2001:10::1", "reserved"),
    ("100::1", "reserved"),
    ("4000::1", "reserved"),
]
PUBLIC = ["93.184.215.14", "1.1.1.1", "100.128.0.1", "172.32.0.1", "2606:4700::1111", "2a00::1"]


class TestRefusedKind:
    @pytest.mark.parametrize(("address", "kind"), REFUSED)
    def test_an_address_that_is_not_public_has_a_kind(self, address: str, kind: str) -> None:
        assert refused_kind(ip_address(address)) == kind

    def test_every_kind_is_tried(self) -> None:
        assert {kind for _, kind in REFUSED} == set(KINDS)

    @pytest.mark.parametrize("address", PUBLIC)
    def test_a_public_address_has_none(self, address: str) -> None:
        assert refused_kind(ip_address(address)) is None
