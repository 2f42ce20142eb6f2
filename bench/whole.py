"""A whole command: how long it took, and how much memory it had at most, together with everything that it started."""

import resource
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from .meter import children
from .process import ROOT, BenchError

POLL_S: Final = 0.5


class CommandCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of one command, in `seconds` by the clock and `cpu_s` of all processors.

    `peak_bytes` is the most that all its processes had in RAM together, looked at twice a second. Shared pages count once.
    """

    seconds: float
    cpu_s: float
    peak_bytes: int


def whole(command: Sequence[str], environment: Mapping[str, str] | None = None) -> CommandCost:
    """Runs `command` to its end and returns its cost. Raises `BenchError` with what it said if it fails.

    `environment`: its variables, if they are not those of this process. Nothing else may end meanwhile that this process has started.
    """
    start_s, before_s, peak = time.perf_counter(), _ended_cpu_s(), 0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) as process:
        while True:
            try:
                said, _ = process.communicate(timeout=POLL_S)
            except subprocess.TimeoutExpired:
                peak = max(peak, sum(map(_pss_bytes, [process.pid, *_descendants(process.pid)])))
            else:
                break
    if process.returncode:
        raise BenchError(f"{' '.join(command)}: exit code {process.returncode}\n{said[-2000:]}")
    return CommandCost(seconds=time.perf_counter() - start_s, cpu_s=_ended_cpu_s() - before_s, peak_bytes=peak)


def _ended_cpu_s() -> float:
    """Returns the processor time of all processes that this one has started and that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def folder_bytes(folder: Path) -> int:
    """Returns the size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _descendants(pid: int) -> Iterator[int]:
    try:
        found = children(pid)
    except OSError:  # it has just ended
        return
    for child in found:
        yield child
        yield from _descendants(child)


def _pss_bytes(pid: int) -> int:
    # Pss divides a shared page among the processes that share it, so a sum over processes counts each page once.
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
