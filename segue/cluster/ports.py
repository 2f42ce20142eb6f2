"""Free ports that stay free. They are bound here with SO_REUSEPORT and never listened on, so a child process can take them over, and
nobody else can in between."""

import asyncio
import socket
from types import TracebackType
from typing import Final, Self

LOOK_S: Final = 0.1


class Ports:
    """Reserved ports: `with Ports() as ports: ports.take()` returns "127.0.0.1:PORT", which is reserved while the block runs."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._host = host
        self._held: list[socket.socket] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        for sock in self._held:
            sock.close()

    def take(self) -> str:
        """Returns one more address. Raises OSError when there is no free port."""
        sock = socket.socket()
        self._held.append(sock)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.bind((self._host, 0))
        return f"{self._host}:{sock.getsockname()[1]}"


async def until_free(address: str, within_s: float) -> None:
    """Returns when nobody has `address`, which is "HOST:PORT". Raises TimeoutError if somebody has it for so long.

    While a process is down, the system may give the port of its door to a connection of somebody else, which mostly ends soon.
    """
    host, _, port = address.rpartition(":")
    try:
        async with asyncio.timeout(within_s):
            while not _is_free(host, int(port)):  # noqa: ASYNC110  # the system tells nobody
                await asyncio.sleep(LOOK_S)
    except TimeoutError:
        raise TimeoutError(f"somebody else has {address} for {within_s:g} s; find them (`ss -tanp`), end them, and try again") from None


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
