"""PolderCast in the simulator: how long rings and events take on friends, as the overlay grows, on one core (OV-6)."""

from typing import Final, NamedTuple

from ..micro.overlay_poldercast import PolderFigures, PolderPlan
from ..runner import Record, Runner
from ..table import Columns, MarkdownTable, of_columns, verdict
from .stored import program


class PolderTarget(NamedTuple):
    """A size with its targets: the most cycles, and seconds for them, seconds for an event on each topic, and bytes."""

    nodes: int
    cycles: int
    cycles_s: float | None = None
    events_s: float | None = None
    peak_bytes: float | None = None


SIZES: Final = (
    PolderTarget(1_000, 150),
    PolderTarget(3_000, 150),
    PolderTarget(10_000, 150, 60.0, 0.5, 1e9),
    PolderTarget(30_000, 150),
    PolderTarget(100_000, 100, 1200.0, 10.0, 6e9),
)
_SHORT: Final = 3_000
_COMPARED: Final = 300
_TIMES: Final = 50


class _MeasuredSize(NamedTuple):
    """A size, and what was `found` of it."""

    size: PolderTarget
    found: PolderFigures

    @property
    def cycle_us(self) -> float:
        """The microseconds that a node takes for a cycle."""
        return 1e6 * self.found.cycles_s / max(1, self.found.cycles) / self.size.nodes


def _judged(value: float, target: float | None) -> str:
    return "" if target is None else verdict(value, target)


COLUMNS: Final[Columns[_MeasuredSize]] = (
    ("nodes", lambda mine: f"{mine.size.nodes:,}"),
    ("pairs", lambda mine: f"{mine.found.pairs:,}"),
    ("cycles", lambda mine: str(mine.found.cycles)),
    ("incomplete rings", lambda mine: f"{mine.found.incomplete:.2%}"),
    ("s", lambda mine: f"{mine.found.cycles_s:.1f}"),
    ("target", lambda mine: _judged(mine.found.cycles_s, mine.size.cycles_s)),
    ("events, s", lambda mine: f"{mine.found.events_s:.2f}"),
    ("target", lambda mine: _judged(mine.found.events_s, mine.size.events_s)),
    ("peak, MB", lambda mine: f"{mine.found.peak_bytes / 1e6:.0f}"),
    ("target", lambda mine: _judged(mine.found.peak_bytes, mine.size.peak_bytes)),
    ("µs a node and cycle", lambda mine: f"{mine.cycle_us:.0f}"),
)


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures each size once. `--seconds` under 5 stops at 3,000 nodes."""
    sizes = [each for each in SIZES if runner.seconds(5) >= 5 or each.nodes <= _SHORT]
    found = {each: _figures(runner, each, compared=each is sizes[0]) for each in sizes}
    first = found[sizes[0]]
    judged = verdict(first.times_faster, _TIMES, most=False)
    note = f"A cycle of {_COMPARED} nodes is {first.times_faster:.0f} times faster compiled than interpreted ({judged})."
    notes = [
        "Processor time on a graph of friends, from a cold start until 99 % of the rings are complete; then an event on each topic.",
        note,
    ]
    return [of_columns("PolderCast in the simulator", COLUMNS, [_MeasuredSize(size, each) for size, each in found.items()], notes)]


def _figures(runner: Runner, size: PolderTarget, *, compared: bool) -> PolderFigures:
    runner.tell(f"overlay_poldercast: {size.nodes:,} nodes")
    plan = PolderPlan(nodes=size.nodes, cycles=size.cycles, small=_COMPARED if compared else 0)
    found = program("overlay_poldercast", plan, runner.setting.server_core, PolderFigures)
    runner.keep(Record(benchmark="overlay_poldercast", who=f"{size.nodes:,} nodes", run=0, figures=_numbers(found)))
    return found


def _numbers(found: PolderFigures) -> dict[str, float]:
    return {
        "cycles": float(found.cycles),
        "cycles_s": found.cycles_s,
        "events_s": found.events_s,
        "peak_bytes": float(found.peak_bytes),
        "times_faster": found.times_faster,
    }
