"""`python -m bench.micro.overlay_poldercast PLAN` times PolderCast in the simulator, in a process of its own."""

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec

from overlay.simulator.compiled import COMPILED, INTERPRETED, Execution
from overlay.simulator.graphs.friends import friends
from overlay.simulator.poldercast.overlay import PolderCastOverlay


class PolderPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run.

    - `nodes`: of a graph of friends. `cycles`: the most; it ends when 99 % of the rings are complete.
    - `small`: so many nodes run one cycle compiled and interpreted; 0 for no comparison.
    """

    nodes: int
    cycles: int
    small: int = 0


class PolderFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome: cycles, seconds of processor time for them and for an event on each topic, memory, and compiled against interpreted."""

    pairs: int
    cycles: int
    incomplete: float
    cycles_s: float
    events_s: float
    peak_bytes: int
    times_faster: float


def measure(plan: PolderPlan) -> PolderFigures:
    """Runs an overlay from a cold start. Kernels are loaded before."""
    _grown(300, COMPILED).publish_each()
    times_faster = _seconds(plan.small, INTERPRETED) / _seconds(plan.small, COMPILED) if plan.small else 0.0
    workload = friends(plan.nodes, 1).workload()
    system, cycles, cycles_s = PolderCastOverlay(workload, 7), 0, 0.0
    while cycles < plan.cycles and system.rings().incomplete_share > 0.01:
        cycles_s += _timed(system.cycle)
        cycles += 1
    return PolderFigures(
        pairs=workload.pairs,
        cycles=cycles,
        incomplete=system.rings().incomplete_share,
        cycles_s=cycles_s,
        events_s=_timed(system.publish_each),
        peak_bytes=1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        times_faster=times_faster,
    )


def _grown(nodes: int, execution: Execution) -> PolderCastOverlay:
    system = PolderCastOverlay(friends(nodes, 1).workload(), 7, execution=execution)
    system.run(3)
    system.rings()
    return system


def _seconds(nodes: int, execution: Execution) -> float:
    """Returns how long one cycle takes, of three."""
    system = _grown(nodes, execution)
    return min(_timed(system.cycle) for _ in range(3))


def _timed(act: Callable[[], Any]) -> float:
    began = time.process_time()
    act()
    return time.process_time() - began


if __name__ == "__main__":
    print(msgspec.json.encode(measure(msgspec.json.decode(sys.argv[1], type=PolderPlan))).decode())
