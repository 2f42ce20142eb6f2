"""The common part of the stored path's benchmarks: the same work on each store that is here."""

import sys
from collections.abc import Callable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from ..micro.latencies import Latencies
from ..process import spawned
from ..runner import Record, Runner
from ..servers.cassandra import cassandra
from ..servers.stored import StoredSite, StoreName, stored
from ..table import spread

F = TypeVar("F", bound=msgspec.Struct)

WHO: Final[dict[StoreName, str]] = {"sqlite": "SQLite", "cassandra": "Cassandra"}


class Found(NamedTuple, Generic[F]):
    """The figures of each store that was there, one run after the other. `missing` says why Cassandra was not."""

    figures: dict[StoreName, list[F]]
    missing: str

    def absent(self, columns: int) -> list[list[str]]:
        """Returns a table's row of so many columns for a store that is not there; no row if all are."""
        return [[WHO["cassandra"], self.missing, *[""] * (columns - 2)]] if self.missing else []


def on_each_store(runner: Runner, benchmark: str, runs: int, measure: Callable[[StoredSite], F]) -> Found[F]:
    """Calls `measure(target)` with a fresh site in each run, on the stores in turn, and keeps the figures.

    - `benchmark`: its name on record.
    - `runs`: runs on each store.
    - `measure`: measures one site.
    """
    with cassandra(runner.setting) as server:
        found: Found[F] = Found({}, server.missing)
        present: list[StoreName] = ["sqlite", "cassandra"] if server.port else ["sqlite"]
        for run in range(runs):
            for store in present:
                runner.tell(f"{benchmark}: {WHO[store]}, run {run + 1} of {runs}")
                with stored(runner.setting, store, server.port) as target:
                    figures = measure(target)
                runner.keep(Record(benchmark=benchmark, who=WHO[store], run=run, figures=_plain(figures)))
                found.figures.setdefault(store, []).append(figures)
    return found


def program(name: str, plan: msgspec.Struct, core: int, figures: type[F]) -> F:
    """Runs `bench.micro.<name>` and returns what it measured. Raises `BenchError`.

    - `plan`: its argument, as JSON.
    - `core`: the core that it is pinned to.
    - `figures`: the type of its answer.
    """
    command = [sys.executable, "-m", f"bench.micro.{name}", msgspec.json.encode(plan).decode()]
    with spawned(command, core) as process:
        return msgspec.json.decode(process.line(), type=figures)


def timed(mine: Sequence[Latencies]) -> list[str]:
    """Returns p50, p99 and max as columns of a table."""
    return [
        spread([each.p50_ms for each in mine], ".1f"),
        spread([each.p99_ms for each in mine], ".1f"),
        spread([each.max_ms for each in mine], ".1f"),
    ]


def _plain(figures: msgspec.Struct, prefix: str = "") -> dict[str, float]:
    """Returns all figures by name. The figures of an inner struct have its name in front."""
    plain: dict[str, float] = {}
    for name, value in msgspec.structs.asdict(figures).items():
        if isinstance(value, msgspec.Struct):
            plain |= _plain(value, f"{prefix}{name}_")
        elif isinstance(value, int | float):
            plain[prefix + name] = value
    return plain
