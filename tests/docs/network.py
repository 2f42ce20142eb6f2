"""A network of its own for a process: every port is free in it, and nothing is reached from it but itself."""

import fcntl
import shutil
import socket
import struct
import subprocess
from typing import Final

# linux/sockios.h and linux/if.h.
_GET_FLAGS: Final = 0x8913
_SET_FLAGS: Final = 0x8914
_UP: Final = 0x1


def own_network() -> list[str]:
    """Returns what stands before a command that gets a network of its own; nothing where this machine allows none.

    Without it the usual ports must be free.
    """
    prefix = ["unshare", "--map-root-user", "--net", "--"]
    if shutil.which("unshare") and subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
        return prefix
    return []


def raise_loopback() -> None:
    """Brings up the loopback of a new network; where it is up already, nothing changes."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        name, flags = struct.unpack("16sh", fcntl.ioctl(door, _GET_FLAGS, struct.pack("16sh", b"lo", 0)))
        if not flags & _UP:
            fcntl.ioctl(door, _SET_FLAGS, struct.pack("16sh", name, flags | _UP))
