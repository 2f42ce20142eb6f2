"""Ports of servers that cannot say which free one they took."""

import socket
import time
from typing import Final

from ..process import Spawned

READY_S: Final = 15.0
POLL_S: Final = 0.02


def free_port() -> int:
    """Returns a port that was free a moment ago."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def await_port(process: Spawned, port: int) -> None:
    """Waits until `process` listens on `port`. Raises `BenchError` when it ends or takes too long."""
    deadline_s = time.monotonic() + READY_S
    while time.monotonic() < deadline_s and process.is_running:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
        except OSError:
            time.sleep(POLL_S)
        else:
            return
    raise process.failure(f"nothing listens on port {port}")
