"""The runner: it starts a fresh server and a fresh generator for each run, and keeps every result."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from .generator import Generator, generating
from .plan import GeneratorPlan, Go, Ready, RunResult, Target
from .servers.peers import PEERS
from .setting import BenchSetting

Start = Callable[[BenchSetting], AbstractContextManager[Target]]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One run, as it is written to the JSON file. `figures` are what a benchmark measured beside or instead of the rest."""

    benchmark: str
    who: str
    run: int
    ready: Ready | None = None
    result: RunResult | None = None
    figures: dict[str, float] = {}


class Runner:
    """The runner of all benchmarks of one call.

    - `setting`: the cores and folders.
    - `runs`: how often everything is measured.
    - `seconds`: replaces the measured time of every benchmark; None leaves it.
    - `peers`: the peers that were asked for.
    - `progress`: is called with what is being done.
    """

    def __init__(
        self, setting: BenchSetting, *, runs: int, seconds: float | None, peers: tuple[str, ...], progress: Callable[[str], None]
    ) -> None:
        self.setting, self.runs, self.peers = setting, runs, peers
        self.records: list[Record] = []
        self._seconds = seconds
        self._progress = progress

    def seconds(self, usual: float) -> float:
        """Returns how long to measure, where `usual` is the benchmark's own time."""
        return usual if self._seconds is None else self._seconds

    def missing(self, peer: str) -> str:
        """Returns why `peer` cannot be measured; "" if it can."""
        return PEERS[peer].missing(self.setting)

    def present(self) -> list[str]:
        """Returns the peers that were asked for and are there."""
        return [peer for peer in self.peers if not self.missing(peer)]

    def generating(self, plan: GeneratorPlan, *, yields: bool = False) -> AbstractContextManager[Generator]:
        """Yields a connected generator on its core (see `generator.generating`)."""
        return generating(plan, self.setting.generator_core, yields=yields)

    def measure(self, benchmark: str, who: str, run: int, start: Start, go: Go, **plan: Any) -> RunResult:
        """Makes one run against a fresh server, keeps it and returns its result.

        - `benchmark`, `who`, `run`: the names on record, and the number of the run.
        - `start`: starts the server.
        - `go`: the order to the generator.
        - `plan`: fields of `GeneratorPlan`.
        """
        self.tell(f"{benchmark}: {who}, run {run + 1} of {self.runs}")
        with start(self.setting) as target, self.generating(GeneratorPlan(target=target, **plan)) as generator:
            result = generator.run(go)
            self.keep(Record(benchmark=benchmark, who=who, run=run, ready=generator.ready, result=result))
        return result

    def tell(self, text: str) -> None:
        """Shows what is being done now."""
        self._progress(text)

    def keep(self, record: Record) -> None:
        """Puts a run on record, without its single samples."""
        if record.result is not None:
            record = msgspec.structs.replace(record, result=msgspec.structs.replace(record.result, samples=[]))
        self.records.append(record)
