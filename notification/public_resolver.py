"""Names of strangers, resolved to public addresses only: what a client made us call must not be a machine behind our walls."""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, Final, TypeAlias

from aiohttp.abc import AbstractResolver, ResolveResult

from infra.kernel.errors import Refused

IPAddress: TypeAlias = IPv4Address | IPv6Address

THREADS: Final = 8

_NUMERIC: Final = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
_NAT64: Final = IPv6Network("64:ff9b::/96")


class PublicResolver(AbstractResolver):
    """The system's resolver without private addresses. It is asked when a connection is made, so a name cannot change in between.

    It has threads of its own: a stranger's name server that is slow on purpose keeps nobody waiting but pushes.
    """

    def __init__(self, *, allow_loopback: bool) -> None:
        self._allow_loopback = allow_loopback
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="push-resolver")

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC) -> list[ResolveResult]:
        """Returns the public addresses of `host` and `port`, of this `family`, as aiohttp wants them.

        Raises OSError where nothing is found, `Refused("bad-field")` where only private addresses are.

        Cancelling leaves a thread busy until the system's resolver gives up.
        """
        ask = partial(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        found = [_result(host, *info) for info in await asyncio.get_running_loop().run_in_executor(self._threads, ask)]
        public = [one for one in found if is_allowed(ip_address(one["host"].partition("%")[0]), allow_loopback=self._allow_loopback)]
        if not public:
            raise Refused("bad-field", f"{host} is not on the public internet")
        return public

    async def close(self) -> None:
        """Lets the threads end; what they are asked now is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def is_allowed(address: IPAddress, *, allow_loopback: bool) -> bool:
    """Returns whether a stranger may make us call `address`; one that holds an IPv4 address inside is judged by that."""
    inner = _embedded(address)
    if inner is not None:
        return is_allowed(inner, allow_loopback=allow_loopback)
    return (address.is_global and not address.is_multicast) or (allow_loopback and address.is_loopback)


def _result(host: str, family: int, _kind: int, proto: int, _name: str, address: tuple[Any, ...]) -> ResolveResult:
    return ResolveResult(hostname=host, host=address[0], port=address[1], family=family, proto=proto, flags=_NUMERIC)


def _embedded(address: IPAddress) -> IPv4Address | None:
    if isinstance(address, IPv4Address):
        return None
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
