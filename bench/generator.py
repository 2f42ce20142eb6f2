"""A generator process, as the benchmarks see it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from .plan import GeneratorPlan, Go, Ready, RunResult
from .process import Spawned, spawned


class Generator:
    """Connected when it is made. Raises `BenchError` where the process could not do what it was told."""

    def __init__(self, process: Spawned, plan: GeneratorPlan) -> None:
        self._process = process
        process.say(msgspec.json.encode(plan))
        self.ready = msgspec.json.decode(process.line(), type=Ready)

    def start(self, go: Go) -> None:
        """Begins one run."""
        self._process.say(msgspec.json.encode(go))

    def result(self) -> RunResult:
        """Wait for its end."""
        return msgspec.json.decode(self._process.line(), type=RunResult)

    def run(self, go: Go) -> RunResult:
        """One whole run."""
        self.start(go)
        return self.result()


@contextmanager
def generating(plan: GeneratorPlan, core: int, *, yields: bool = False) -> Iterator[Generator]:
    """A generator on `core` while the block runs; one that `yields` leaves the core to others that want it."""
    command = [sys.executable, "-m", "bench.load"]
    with spawned(["nice", "-n", "19", *command] if yields else command, core) as process:
        yield Generator(process, plan)
