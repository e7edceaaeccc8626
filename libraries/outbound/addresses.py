"""Kinds of IP addresses that no request may reach, after the IANA's special-purpose registries.

Every IPv6 address outside of 2000::/3 is refused, so that a registry that grows opens nothing.
"""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_network
from typing import Final

Address = IPv4Address | IPv6Address

LOOPBACK: Final = "loopback"

_KINDS: Final[dict[str, tuple[str, ...]]] = {
    LOOPBACK: ("127.0.0.0/8", "::1/128"),
    "unspecified": ("0.0.0.0/8", "::/128"),
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    "shared": ("100.64.0.0/10",),
    "link_local": ("169.254.0.0/16", "fe80::/10"),
    "unique_local": ("fc00::/7",),
    "site_local": ("fec0::/10",),
    "multicast": ("224.0.0.0/4", "ff00::/8"),
    "documentation": (
        *("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
        *("2001:db8::/32", "3fff::/20"),
    ),
    "benchmark": ("198.18.0.0/15", "2001:2::/48"),
    "metadata": ("168.63.129.16/32",),  # Azure's, reached from its own machines alone.
    "mapped": ("::ffff:0:0/96", "::/96"),
    "nat64": ("64:ff9b::/96", "64:ff9b:1::/48"),
    "tunnel": ("192.88.99.0/24", "2001::/32", "2002::/16"),
    "reserved": ("192.0.0.0/24", "240.0.0.0/4", "2001::/23"),
}
_NETWORKS: Final = [
    (ip_network(network), kind) for kind, networks in _KINDS.items() for network in networks
]
_PUBLIC: Final = IPv6Network("2000::/3")

KINDS: Final = tuple(_KINDS)
"""The names of all kinds."""


def refused_kind(address: Address) -> str | None:
    """Return the kind of an address that is not public, or None for a public address.

    10.1.2.3 is `private`, 64:ff9b::a01:203 is `nat64`, 93.184.215.14 is None.
    """
    bare = _without_zone(address)
    for network, kind in _NETWORKS:
        if bare.version == network.version and bare in network:
            return kind
    if isinstance(bare, IPv6Address) and bare not in _PUBLIC:
        return "reserved"
    return None


def _without_zone(address: Address) -> Address:
    return IPv6Address(int(address)) if isinstance(address, IPv6Address) else address
