"""The memory that an overlay will take, and whether there is so much."""

import os
from pathlib import Path
from typing import Final

from .errors import OverlayError

# Bytes for each node and for each subscription, from the states of the systems, rounded up; what they run on is in both.
_NODE_BYTES: Final = {"poldercast": 1_500, "scribe": 2_000, "quasar": 3_500, "gossipsub": 3_000}
_PAIR_BYTES: Final = {"poldercast": 200, "scribe": 1_000, "quasar": 100, "gossipsub": 6_000}
_MEMINFO: Final = Path("/proc/meminfo")


def check_memory(about: str, systems: tuple[str, ...], nodes: int, pairs: int) -> None:
    """Raises OverlayError if one of `systems` would not find room for so many nodes and subscriptions, before it is tried.

    `about`: what the nodes are of; the error begins with it.
    """
    free = free_bytes()
    for system in systems:
        needed = needed_bytes(system, nodes, pairs)
        if needed > free:
            raise OverlayError(
                f"{about}: {nodes:,} nodes with {pairs:,} subscriptions take about {needed / 1e9:,.1f} GB in {system}, and "
                f"{free / 1e9:,.1f} GB are free; take fewer nodes, or a sample of them"
            )


def needed_bytes(system: str, nodes: int, pairs: int) -> int:
    """Returns about how many bytes a system takes."""
    return _NODE_BYTES[system] * nodes + _PAIR_BYTES[system] * pairs


def free_bytes(meminfo: Path = _MEMINFO) -> int:
    """Returns how many bytes can still be had; where the system does not tell, as on a Mac, all that the machine has."""
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
