"""A generator process from the side of the benchmarks."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from .plan import GeneratorPlan, Go, Ready, RunResult
from .process import Spawned, spawned


class Generator:
    """A generator whose clients are connected when it is made. Raises `BenchError` if the process fails to do what it is told."""

    def __init__(self, process: Spawned, plan: GeneratorPlan) -> None:
        self._process = process
        process.say(msgspec.json.encode(plan))
        self.ready = msgspec.json.decode(process.line(), type=Ready)

    def start(self, go: Go) -> None:
        """Begins one run."""
        self._process.say(msgspec.json.encode(go))

    def result(self) -> RunResult:
        """Waits for the end of the run and returns its result."""
        return msgspec.json.decode(self._process.line(), type=RunResult)

    def run(self, go: Go) -> RunResult:
        """Makes one whole run and returns its result."""
        self.start(go)
        return self.result()


@contextmanager
def generating(plan: GeneratorPlan, core: int, *, yields: bool = False) -> Iterator[Generator]:
    """Yields a generator on `core` while the block runs.

    - `plan`: its clients, and how it publishes.
    - `core`: the core that it is pinned to.
    - `yields`: whether it leaves the core to other processes that want it.
    """
    command = [sys.executable, "-m", "bench.load"]
    with spawned(["nice", "-n", "19", *command] if yields else command, core) as process:
        yield Generator(process, plan)
