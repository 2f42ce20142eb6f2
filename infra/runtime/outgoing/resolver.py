"""Names that others have chosen, resolved to addresses that may be called: what they name must not be a machine behind our walls."""

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from aiohttp.abc import AbstractResolver, ResolveResult

from infra.kernel.errors import Refused
from infra.kernel.public_address import IPNetwork, may_call, parse_address

THREADS: Final = 8

_NUMERIC: Final = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class NotCallable(Refused):
    """A `bad-field`: where `host` leads may not be called."""

    def __init__(self, host: str) -> None:
        super().__init__("bad-field", f"{host} is not on the public internet; if it is meant, its operator lists it in outgoing.private")


class PublicResolver(AbstractResolver):
    """The system's resolver without addresses that may not be called (see `may_call`).

    It is asked when a connection is made, and that connection goes to what it has returned: a name cannot change in between. It has
    threads of its own: a stranger's name server that is slow on purpose keeps nobody waiting but other calls.
    """

    def __init__(self, private: Sequence[IPNetwork] = ()) -> None:
        self._private = private
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="outgoing-resolver")

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC) -> list[ResolveResult]:
        """Returns the addresses of `host` and `port`, of this `family`, that may be called, as aiohttp wants them.

        Raises OSError where nothing is found, NotCallable where nothing of it may be called.

        Cancelling leaves a thread busy until the system's resolver gives up.
        """
        ask = partial(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        found = [_result(host, *info) for info in await asyncio.get_running_loop().run_in_executor(self._threads, ask)]
        callable_ones = [one for one in found if is_callable(one["host"], self._private)]
        if not callable_ones:
            raise NotCallable(host)
        return callable_ones

    async def close(self) -> None:
        """Lets the threads end; what they are asked now is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def is_callable(address: str, private: Sequence[IPNetwork]) -> bool:
    """Returns whether `address`, which is none if it is a name, may be called."""
    parsed = parse_address(address)
    return parsed is not None and may_call(parsed, private)


def _result(host: str, family: int, _kind: int, proto: int, _name: str, address: tuple[Any, ...]) -> ResolveResult:
    return ResolveResult(hostname=host, host=address[0], port=address[1], family=family, proto=proto, flags=_NUMERIC)
