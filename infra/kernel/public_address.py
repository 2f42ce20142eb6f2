"""Public addresses: which ones lie on the internet, and which behind somebody's walls. Pure.

The standard library's `is_global` differs from one version of Python to the next, and calls some addresses global that end at
this machine or in this network. So the table is ours: the registries of special purposes of IANA (RFC 6890, as of 2024).
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

from .errors import ConfigError

IPAddress: TypeAlias = IPv4Address | IPv6Address
IPNetwork: TypeAlias = IPv4Network | IPv6Network

LOOPBACK: Final[tuple[IPNetwork, ...]] = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))

_NOT_PUBLIC_4: Final = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # behind a provider's address translation
        "127.0.0.0/8",
        "169.254.0.0/16",  # this link; what clouds tell their machines
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocols
        "192.0.2.0/24",  # examples
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
# Of IPv6 only this eighth is public at all. So `::127.0.0.1`, `::ffff:0:127.0.0.1`, `64:ff9b:1::/48`, `fc00::/7`, `fe80::/10`,
# `fec0::/10`, `5f00::/16`, multicast, and what will be reserved tomorrow are not.
_UNICAST_6: Final = IPv6Network("2000::/3")
_NOT_PUBLIC_6: Final = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocols, Teredo, benchmarks, identifiers that look like addresses
        "2001:db8::/32",
        "3fff::/20",  # examples
    )
)
_NAT64: Final = IPv6Network("64:ff9b::/96")
# Interface identifiers of ISATAP (RFC 5214), which tunnel to the IPv4 address in the last 32 bits.
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)
_LOW_32: Final = 0xFFFF_FFFF


def parse_address(text: str) -> IPAddress | None:
    """Returns the address that `text` is, with or without brackets and a scope; None for a name.

    An IPv4 address in the form of an IPv6 address (`::ffff:192.0.2.7`) is returned as what it is.
    """
    try:
        found = ip_address(text.removeprefix("[").removesuffix("]").partition("%")[0])
    except ValueError:
        return None
    inner = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return inner or found


def parse_network(option: str, text: str) -> IPNetwork:
    """Returns the network, or the one address, that `text` names. Raises ConfigError that names the `option`."""
    try:
        return ip_network(text)
    except ValueError as error:
        raise ConfigError(f'{option}: {error}; write a network such as "10.1.0.0/16", or an address such as "127.0.0.1"') from None


def may_call(address: IPAddress, private: Sequence[IPNetwork] = ()) -> bool:
    """Returns whether `address` may be called: it is public, or in one of the `private` networks that somebody has listed.

    An IPv6 address that leads to an IPv4 address is judged by that.
    """
    inner = _embedded(address)
    if inner is not None:
        return may_call(inner, private)
    return _is_public(address) or any(address in network for network in private)


def _is_public(address: IPAddress) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _UNICAST_6 and not any(address in network for network in _NOT_PUBLIC_6)


def _embedded(address: IPAddress) -> IPv4Address | None:
    """Returns the IPv4 address to which packets for `address` would go in the end; None where there is none."""
    if isinstance(address, IPv4Address):
        return None
    number = int(address)
    if address in _NAT64 or (number >> 32) & _LOW_32 in _ISATAP:
        return IPv4Address(number & _LOW_32)
    return address.ipv4_mapped or address.sixtofour


def network_of(host: str) -> str:
    """Returns the part of the address `host` that one party holds: an IPv4 address as it is, of an IPv6 address the first 64 bits.

    What is no address, such as the name of a Unix socket, is returned as it is.
    """
    address = parse_address(host)
    if address is None:
        return host
    return str(IPv6Address(int(address) >> 64 << 64) if isinstance(address, IPv6Address) else address)


def is_loopback(host: str) -> bool:
    """Returns whether the address `host` is of this machine."""
    address = parse_address(host)
    return address is not None and address.is_loopback


def is_this_machine(host: str) -> bool:
    """Returns whether `host`, a name or an address, is this machine whoever resolves it. Of names, that is true of `localhost` alone."""
    return host == "localhost" or is_loopback(host)
