"""The file that tells which process is ours. A pid may belong to another process by now, so the time of its start and its command line
count, too."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

from infra.runtime.whole_file import write_whole

_PROC: Final = Path("/proc")
_START_TIME_FIELD: Final = 19  # of /proc/PID/stat, counted from the state, the first field behind the name


class Running(NamedTuple):
    """A live process: when it was started, in the words of its system, and its command line, which it loses while it dies."""

    started: str
    command: str


def running(pid: int, proc: Path = _PROC) -> Running | None:
    """Returns the process with this pid, as `proc` or else `ps` tells it.

    Returns None if there is none, or if it has ended and only waits to be reaped.
    """
    return _from_proc(pid, proc) if (proc / "self" / "stat").exists() else _from_ps(pid)


def _from_proc(pid: int, proc: Path) -> Running | None:
    try:
        fields = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        command = (proc / str(pid) / "cmdline").read_bytes()
        threads = len(os.listdir(proc / str(pid) / "task"))
    except OSError:
        return None
    if fields[0] in "ZX" and threads <= 1:  # until its last thread is gone a killed process holds its ports
        return None
    return Running(fields[_START_TIME_FIELD], os.fsdecode(command.replace(b"\0", b" ")))


def _from_ps(pid: int) -> Running | None:
    started, command = (
        subprocess.run(["ps", "-ww", "-p", str(pid), "-o", what], capture_output=True, text=True).stdout.strip()  # noqa: S603, S607
        for what in ("lstart=", "command=")
    )
    return Running(started, command) if started and "<defunct>" not in command else None


class PidFile:
    """The file at `path` that remembers one process. `marker` is a word of its command line that no other process has.

    `proc` is where the system tells of its processes; where nothing is there, `ps` is asked.
    """

    def __init__(self, path: Path, marker: str, proc: Path = _PROC) -> None:
        self._path, self._marker, self._proc = path, marker, proc

    def write(self, pid: int) -> None:
        """Remembers the process, which runs now. Raises ProcessLookupError if it has ended already."""
        found = running(pid, self._proc)
        if found is None:
            raise ProcessLookupError(f"process {pid} has ended")
        write_whole(self._path, f"{pid} {found.started}\n".encode())

    def pid(self) -> int | None:
        """Returns the pid of the remembered process while it runs; None otherwise."""
        try:
            pid, _, started = self._path.read_text(encoding="utf-8").strip().partition(" ")
        except OSError:
            return None
        found = running(int(pid), self._proc) if pid.isdecimal() else None
        if found is None or found.started != started:
            return None
        return int(pid) if not found.command or f" {self._marker} " in f" {found.command} " else None

    def send(self, number: signal.Signals) -> None:
        """Sends the signal `number` to the remembered process, and to no other. Nothing happens if it does not run."""
        if (pid := self.pid()) is not None:
            os.kill(pid, number)
