"""Meters: the CPU and memory of a process, as the kernel tells them (Linux, /proc)."""

import os
from pathlib import Path
from typing import Final

_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
# Fields of /proc/PID/stat behind the command name: user and system time.
_USER, _SYSTEM = 11, 12


def cpu_s(pid: int) -> float:
    """Returns the CPU seconds used so far by all threads, user and system. Raises OSError when there is no such process."""
    # The command name may hold spaces and parentheses, so the fields are those behind the last parenthesis.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[_USER]) + int(fields[_SYSTEM])) / _TICKS_PER_S


def rss_bytes(pid: int) -> int:
    """Returns the memory that is in RAM now. Raises OSError when there is no such process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES


def children(pid: int) -> list[int]:
    """Returns the processes that `pid` has started and that still run."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def total_memory_bytes() -> int:
    """Returns the RAM of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES
