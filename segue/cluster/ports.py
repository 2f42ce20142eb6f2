"""Free ports that stay free. They are bound here with SO_REUSEPORT and never listened on, so a child process can take them over, and
nobody else can in between."""

import socket
from types import TracebackType
from typing import Self


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
