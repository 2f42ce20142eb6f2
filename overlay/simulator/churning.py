"""Any overlay under churn and harm: nodes come and leave, networks part, nodes misbehave; an event on each topic follows each cycle."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .churn.cycles import CycleChurn
from .draws import Array
from .event_counts import EventCounts
from .harm import Partition
from .system import OverlaySystem
from .workload import OverlayWorkload

# What nodes miss so shortly after they came does not count (PC 6.6).
WARM_UP_MS: Final = 10_000


class MissCounts(NamedTuple):
    """The misses of events: of so many `nodes`, `missing` missed at least one, and of so many `deliveries` to them, `missed` failed.

    A delivery is a node and an event that somebody else published.
    """

    nodes: int
    missing: int
    deliveries: int
    missed: int

    @property
    def by_node(self) -> float:
        """The share of nodes that missed at least one event: the miss ratio of the paper (PC 6.6)."""
        return self.missing / self.nodes if self.nodes else 0.0

    @property
    def by_delivery(self) -> float:
        """The share of deliveries that failed."""
        return self.missed / self.deliveries if self.deliveries else 0.0


class ChurnedCycle(NamedTuple):
    """The outcome of a cycle of churn.

    - `present`: who is there at its end. `came`, `left`: in this cycle.
    - `misses`: of those who had been there for 10 s of the trace. `settled`: of those who had been there for the whole cycle.
    """

    cycle: int
    present: int
    came: int
    left: int
    misses: MissCounts
    settled: MissCounts


@dataclass(frozen=True, kw_only=True)
class ChurningPlan:
    """The course of a run.

    - `churn`: who comes and leaves. Who comes in its first cycle is there from the beginning on.
    - `before`: so many cycles pass before the first one of the churn, and nobody publishes in them.
    - `partition`: when the network is in two parts. An event counts as missed by those on the other side of it, too.
    - `flags`: the misdeeds of each node (`harm.Misdeed`), from the first cycle of the churn on. What those nodes miss does not count.
    """

    churn: CycleChurn
    before: int = 0
    partition: Partition | None = None
    flags: NDArray[np.int64] | None = None


def run_churning(
    system: OverlaySystem, workload: OverlayWorkload, plan: ChurningPlan, after_cycle: Callable[[int], None] | None = None
) -> Iterator[ChurnedCycle]:
    """Runs a system through a plan, and yields each cycle's outcome.

    - `workload`: that of the system, all of whose nodes are there.
    - `after_cycle`: is called with the number of each cycle, while the overlay stands still.
    """
    here = np.ones(workload.nodes, np.bool_)
    begin(system, plan.churn, here)
    for _ in range(plan.before):
        system.cycle()
    if plan.flags is not None:
        system.misbehave(plan.flags)
    for cycle in range(len(plan.churn)):
        if cycle:
            move(system, plan.churn, cycle, here)
        _divide(system, plan.partition, cycle, workload.nodes)
        system.cycle()
        yield _outcome(plan, cycle, here, system.publish_each())
        if after_cycle is not None:
            after_cycle(cycle)


def begin(system: OverlaySystem, churn: CycleChurn, here: NDArray[np.bool_]) -> None:
    """Lets all leave who do not come in the first cycle, and notes in `here` who is there."""
    here[:] = False
    here[churn.coming[0]] = True
    system.leave(np.flatnonzero(~here).tolist())


def move(system: OverlaySystem, churn: CycleChurn, cycle: int, here: NDArray[np.bool_]) -> None:
    """Lets nodes leave and come as they do in `cycle`, and notes it in `here`."""
    system.leave(churn.leaving[cycle].tolist())
    here[churn.leaving[cycle]] = False
    system.come(churn.coming[cycle].tolist())
    here[churn.coming[cycle]] = True


def _divide(system: OverlaySystem, partition: Partition | None, cycle: int, nodes: int) -> None:
    """Parts the network in the partition's first cycle, and makes it whole after its last one."""
    if partition is not None and cycle == partition.first:
        system.divide(partition.side)
    if partition is not None and cycle == partition.last + 1:
        system.divide(np.zeros(nodes, np.int8))


def _outcome(plan: ChurningPlan, cycle: int, here: NDArray[np.bool_], counts: EventCounts) -> ChurnedCycle:
    churn = plan.churn
    honest = here if plan.flags is None else here & (plan.flags == 0)
    came = churn.coming[cycle] if cycle else np.empty(0, np.int64)
    return ChurnedCycle(
        cycle=cycle,
        present=int(here.sum()),
        came=len(came),
        left=len(churn.leaving[cycle]),
        misses=_misses(honest, churn.fresh(cycle, WARM_UP_MS) if cycle else came, counts),
        settled=_misses(honest, came, counts),
    )


def _misses(judged: NDArray[np.bool_], passed_over: Array, counts: EventCounts) -> MissCounts:
    judged = judged.copy()
    judged[passed_over] = False
    got, missed = np.asarray(counts.got)[judged], np.asarray(counts.missed)[judged]
    return MissCounts(len(got), int(np.count_nonzero(missed)), int(got.sum() + missed.sum()), int(missed.sum()))
