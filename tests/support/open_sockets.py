"""The sockets of this process: a test that opened some waits until the last of them is closed, before its loop ends."""

import os
from contextlib import suppress


def open_sockets() -> int:
    """Returns how many sockets are open in this process (Linux)."""
    count = 0
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # closed meanwhile
            count += os.readlink(f"/proc/self/fd/{descriptor}").startswith("socket:")
    return count
