"""Comparisons: several servers do the same work in turn, and a table shows them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from .plan import Go, RunResult
from .runner import Runner, Start
from .servers.peers import PEERS
from .table import MarkdownTable, median, spread


class Contender(NamedTuple):
    """A server that is compared.

    - `who`: its name in the table.
    - `start`: starts it for one run.
    - `plan`: how it is published to: fields of `GeneratorPlan`.
    - `limits`: by name of another contender, how many times its CPU this one may use.
    """

    who: str
    start: Start
    plan: dict[str, Any]
    limits: Mapping[str, float] = MappingProxyType({})


def peers(runner: Runner, names: Sequence[str] | None = None) -> list[Contender]:
    """Returns the peers that were asked for and are there. With `names`, only these count."""
    return [
        Contender(name, PEERS[name].start, {"publishing": PEERS[name].publishing, "publishers": PEERS[name].publishers})
        for name in runner.present()
        if names is None or name in names
    ]


class Comparison:
    """The results of all `contenders`. They run in turn, so that whatever else the machine does hits all alike.

    `go` and the fields of `GeneratorPlan` in `plan` are the same for all; each contender adds its own fields.
    """

    def __init__(self, runner: Runner, benchmark: str, contenders: Sequence[Contender], go: Go, **plan: Any) -> None:
        self._runner = runner
        self._contenders = contenders
        self.results: dict[str, list[RunResult]] = {each.who: [] for each in contenders}
        for run in range(runner.runs):
            for each in contenders:
                self.results[each.who].append(runner.measure(benchmark, each.who, run, each.start, go, **plan, **each.plan))

    def ratio(self, who: str, other: str) -> float:
        """Returns the CPU of `who` over the CPU of `other`: the median over pairs of runs that followed each other."""
        pairs = zip(self.results[who], self.results[other], strict=True)
        return median([one.cpu_s_per_100k / max(two.cpu_s_per_100k, 1e-9) for one, two in pairs])

    def table(self, title: str, notes: Sequence[str] = (), *, absent: bool = True) -> MarkdownTable:
        """Returns a table with one row for each contender, and one for each peer that is not there, unless `absent` is False."""
        head = ["server", "CPU s / 100 000 deliveries", "targets", "deliveries/s", "p50 ms", "p99 ms", "wrong", "cores: server, generator"]
        rows = [self._row(each) for each in self._contenders]
        rows += [[peer, why, *[""] * (len(head) - 2)] for peer in self._runner.peers if absent and (why := self._runner.missing(peer))]
        return MarkdownTable(title, head, rows, notes)

    def _row(self, each: Contender) -> list[str]:
        results = self.results[each.who]
        return [
            each.who,
            spread([result.cpu_s_per_100k for result in results], ".3f"),
            self._targets(each),
            spread([result.deliveries_per_s for result in results], ",.0f"),
            spread([result.p50_ms for result in results], ".1f"),
            spread([result.p99_ms for result in results], ".1f"),
            wrong(results),
            busy(results),
        ]

    def _targets(self, each: Contender) -> str:
        found = []
        for other, limit in each.limits.items():
            if other in self.results:
                ratio = self.ratio(each.who, other)
                found.append(f"{ratio:.2f} x {other} (<= {limit:g}: {'kept' if ratio <= limit else 'MISSED'})")
        return "; ".join(found)


def wrong(results: Sequence[RunResult]) -> str:
    """Returns how many deliveries and publications of all runs went wrong, by kind; "0" if none did."""
    kinds = {
        "lost": sum(result.audit.lost for result in results),
        "duplicated": sum(result.audit.duplicated for result in results),
        "misrouted": sum(result.audit.misrouted for result in results),
        "refused": sum(result.refused for result in results),
        "disconnected": sum(sum(result.closed.values()) for result in results),
    }
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds.items() if number) or "0"


def busy(results: Sequence[RunResult]) -> str:
    """Returns how many cores server and generator used. A generator near 1.0 was the limit of deliveries/s."""
    server = median([sum(result.server_cpu_s) / result.seconds for result in results])
    generator = median([result.generator_cpu_s / result.seconds for result in results])
    return f"{server:.2f}, {generator:.2f}"
