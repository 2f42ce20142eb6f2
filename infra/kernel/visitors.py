"""Visitors: from where connections come, how many of them there are, and how often new ones come. Pure.

An IPv4 address is one visitor, and so is a network of 2^64 IPv6 addresses (/64), which is what one customer gets.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

import msgspec

from .errors import ConfigError, Refused
from .option_checks import check_numbers
from .rates import Bucket, Buckets, Rate, RateRefused

# What may come at once after a pause: as much as in so many seconds.
BURST_S: Final = 2.0
# So many visitors are remembered who have come lately.
REMEMBERED: Final = 65_536


class VisitorLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The bounds for those who connect to one door.

    - `per_address`: how many connections one address may have open.
    - `new_per_s`, `new_per_address_per_s`: how many new ones may come a second, from everywhere and from one address; after a pause twice
      as many at once.
    - `proxies`: addresses and networks (`"10.0.0.0/8"`) that many clients share, such as those of a load balancer. What is said of one
      address does not hold for them.
    """

    per_address: int = 1_000
    new_per_s: float = 1_000.0
    new_per_address_per_s: float = 200.0
    proxies: list[str] = []

    def check_in(self, table: str) -> None:
        """Raises ConfigError for what makes no sense; `table` is where it is written."""
        check_numbers(f"{table}.visitors", self)
        try:
            networks(self.proxies)
        except ValueError as wrong:
            example = 'proxies = ["10.0.0.7", "10.1.0.0/16"]'
            raise ConfigError(f"{table}.visitors.proxies: {wrong}; write addresses or networks, such as {example}") from None


def networks(proxies: Sequence[str]) -> list[IPv4Network | IPv6Network]:
    """Returns `proxies` as networks. Raises ValueError."""
    return [ip_network(proxy) for proxy in proxies]


class Visitors:
    """The visitors of one door, within `limits`. `refused` counts those who were not let in, by code."""

    def __init__(self, limits: VisitorLimits) -> None:
        self.refused: Counter[str] = Counter()
        self._limits = limits
        self._open: Counter[str] = Counter()
        self._all = Bucket(Rate(limits.new_per_s, limits.new_per_s * BURST_S))
        rate = Rate(limits.new_per_address_per_s, limits.new_per_address_per_s * BURST_S)
        self._each: Buckets[str] = Buckets(rate, REMEMBERED)
        self._proxies = networks(limits.proxies)

    def __len__(self) -> int:
        return len(self._open)

    def enter(self, host: str, now_s: float) -> str:
        """Counts a new connection from `host`, an address, at `now_s`. Returns what `leave` is told when it ends.

        Raises `Refused`, and counts nothing, if it may not be let in.
        """
        try:
            return self._enter(host, now_s)
        except Refused as refused:
            self.refused[refused.code.name] += 1
            raise

    def key(self, host: str) -> str:
        """Returns as whom `host`, an address, is counted; "" for one that many share."""
        return "" if self._proxies and _is_in(host, self._proxies) else visitor(host)

    def _enter(self, host: str, now_s: float) -> str:
        key = self.key(host)
        limits = self._limits
        if key and self._open.get(key, 0) >= limits.per_address:
            raise Refused("overloaded", f"this address has {limits.per_address} connections, and may not have more; close one first")
        # An address that comes too often takes nothing of what all others have together.
        if key and (wait_s := self._each.allow(key, now_s)):
            raise RateRefused(wait_s, f"over {limits.new_per_address_per_s:g} new connections a second from this address", "overloaded")
        if wait_s := self._all.allow(now_s):
            raise RateRefused(wait_s, f"over {limits.new_per_s:g} new connections a second", "overloaded")
        if key:
            self._open[key] += 1
        return key

    def leave(self, key: str) -> None:
        """Counts the end of a connection that `enter` has let in."""
        if key:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]


def visitor(host: str) -> str:
    """Returns the visitor whose address is `host`; "" where there is no address."""
    return host if ":" not in host else _of_six(host)


@lru_cache(maxsize=4096)
def _of_six(host: str) -> str:
    address = IPv6Address(host)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((int(address) >> 64 << 64, 64)))


def _is_in(host: str, proxies: Sequence[IPv4Network | IPv6Network]) -> bool:
    if not host:
        return False
    address = ip_address(host)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return any((mapped or address) in network for network in proxies)
