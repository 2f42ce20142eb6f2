"""Whom a proxy speaks for, as the header `X-Forwarded-For` says it. Pure.

Each proxy on the way appends the address that has called it. So what stands at the right was written by the proxy that called us, and what
stands further left may be made up.
"""

from collections.abc import Sequence

from .public_address import IPNetwork, network_of, parse_address


def caller_behind(forwarded: str, proxies: Sequence[IPNetwork]) -> str:
    """Returns the visitor of whom the last proxy in `forwarded`, a list with commas, was called; "" where no address says it.

    Those of `proxies` that are behind each other are passed over.
    """
    for entry in reversed(forwarded.split(",")):
        host = _without_port(entry.strip())
        address = parse_address(host)
        if address is None:
            return ""  # what stands further left is nobody's word
        if not any(address in network for network in proxies):
            return network_of(str(address))
    return ""


def _without_port(entry: str) -> str:
    """Returns the address in `entry`, which some proxies write with a port: `192.0.2.1:4711`, `[2001:db8::1]:4711`."""
    if entry.startswith("["):
        return entry.partition("]")[0] + "]"
    return entry.partition(":")[0] if entry.count(":") == 1 else entry
