"""Processes of a benchmark. Each is pinned to a core, its output is kept, and it ends with the block that started it."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, TypeVar

import msgspec

ROOT: Final = Path(__file__).resolve().parents[1]
T = TypeVar("T", bound=msgspec.Struct)

STOP_S: Final = 10.0
SHOWN_CHARACTERS: Final = 2000


class BenchError(Exception):
    """An error of a process that ended or was silent. The text has what it said."""


class Spawned:
    """A running process. Its standard error goes to a file that is shown if something fails."""

    def __init__(self, command: Sequence[str], core: int) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `stop`
        self._name = " ".join(command[:4])
        with _pinned(core):  # inherited by the process and by all its threads
            self._process = subprocess.Popen(list(command), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def say(self, line: bytes) -> None:
        """Writes one line to its input. Raises `BenchError` if it is gone."""
        try:
            pipe = _pipe(self._process.stdin)
            pipe.write(line + b"\n")
            pipe.flush()
        except BrokenPipeError:
            raise self.failure("it ended") from None

    def line(self) -> bytes:
        """Waits for one line of its output. Raises `BenchError` if it ends before."""
        line = _pipe(self._process.stdout).readline()
        if not line:
            raise self.failure("it ended")
        return line

    def failure(self, why: str) -> BenchError:
        """Returns the error to raise about it, with the end of what it said."""
        self._stderr.seek(0)
        said = self._stderr.read().decode(errors="replace")[-SHOWN_CHARACTERS:]
        return BenchError(f"{self._name}: {why}\n{said}")

    def stop(self) -> None:
        """Asks it to end, and kills it after `STOP_S`. May be called twice."""
        _pipe(self._process.stdin).close()
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        _pipe(self._process.stdout).close()
        self._stderr.close()


@contextmanager
def spawned(command: Sequence[str], core: int) -> Iterator[Spawned]:
    """Yields a running process, and stops it when the block ends."""
    process = Spawned(command, core)
    try:
        yield process
    finally:
        process.stop()


@contextmanager
def _pinned(core: int) -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def micro(name: str, size: int, core: int, figures: type[T]) -> T:
    """Runs `bench.micro.<name>` and returns what it measured. Raises `BenchError`.

    - `size`: its argument.
    - `core`: the core that it is pinned to.
    - `figures`: the type of its answer.
    """
    with spawned([sys.executable, "-m", f"bench.micro.{name}", str(size)], core) as process:
        return msgspec.json.decode(process.line(), type=figures)
