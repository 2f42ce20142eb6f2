"""Churn by cycle, for a driver in which nodes come and leave between cycles."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..draws import Array
from ..errors import OverlayError
from .trace import ChurnTrace

_NOBODY: Final = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class CycleChurn:
    """The nodes that leave and those that come in each cycle, in rising order. In a cycle, nodes leave first.

    A node that leaves and returns within a cycle does both. One that comes and leaves again within a cycle is not told of.

    - `leaving`, `coming`: the nodes by cycle. `late_ms`: for each who comes, how long before the end of the cycle that is.
    """

    leaving: list[Array]
    coming: list[Array]
    late_ms: list[Array]

    def __len__(self) -> int:
        """Returns the number of cycles."""
        return len(self.coming)

    def fresh(self, cycle: int, warm_up_ms: int) -> Array:
        """Returns those who came less than `warm_up_ms` before the end of the cycle: what they miss in it does not count (PC 6.6)."""
        return self.coming[cycle][self.late_ms[cycle] < warm_up_ms]

    def with_deaths(self, cycle: int, dead: Array) -> "CycleChurn":
        """Returns the same, but the nodes `dead` leave in `cycle` if they are there, and never come again. Raises OverlayError."""
        if not 0 <= cycle < len(self):
            raise OverlayError(f"cycle {cycle}: deaths must be in one of the {len(self):,} cycles, 0 to {len(self) - 1:,}")
        there = np.intersect1d(dead, self.present(cycle - 1))
        leaving, coming, late_ms = list(self.leaving), list(self.coming), list(self.late_ms)
        leaving[cycle] = np.union1d(leaving[cycle], there)
        for later in range(cycle, len(self)):
            kept = ~np.isin(coming[later], dead)
            coming[later], late_ms[later] = coming[later][kept], late_ms[later][kept]
            if later > cycle:
                leaving[later] = np.setdiff1d(leaving[later], dead)
        return CycleChurn(leaving, coming, late_ms)

    def present(self, cycle: int) -> Array:
        """Returns who is there at the end of `cycle`; nobody is before the first."""
        there: set[int] = set()
        for each in range(cycle + 1):
            there.difference_update(self.leaving[each].tolist())
            there.update(self.coming[each].tolist())
        return np.array(sorted(there), np.int64)


def by_cycle(trace: ChurnTrace, cycle_ms: int, cycles: int, nodes: int) -> CycleChurn:
    """Returns the changes of a trace by cycle; what comes after the last cycle is left out.

    - `cycle_ms`: the length of a cycle in the time of the trace. With a minute there is 60 times as much churn in each as with a second.
    - `cycles`: how many there are. `nodes`: how many the overlay has.

    Raises OverlayError for numbers that make no sense, and for a node that the overlay does not have.
    """
    if cycle_ms < 1 or cycles < 1:
        raise OverlayError(f"{cycles} cycles of {cycle_ms} ms: give one or more, of 1 ms or more")
    if trace.nodes > nodes:
        raise OverlayError(f"the churn has node {trace.nodes - 1:,}, and the overlay has nodes 0 to {nodes - 1:,}; give a larger overlay")
    bounds = np.searchsorted(trace.time_ms, cycle_ms * np.arange(cycles + 1))
    is_on = np.zeros(nodes, np.bool_)
    found = CycleChurn([], [], [])
    for cycle in range(cycles):
        part = slice(int(bounds[cycle]), int(bounds[cycle + 1]))
        _add(found, trace.node[part], trace.on[part] == 1, cycle_ms * (cycle + 1) - trace.time_ms[part], is_on)
    return found


def _add(found: CycleChurn, node: Array, on: NDArray[np.bool_], left_ms: Array, is_on: NDArray[np.bool_]) -> None:
    """Adds the changes of a cycle, and notes in `is_on` who is there afterwards.

    `node`, `on`, `left_ms`: who, whether they come, and how long before the end of the cycle, in order of time.
    """
    who = np.unique(node)
    was_on = is_on[who]
    # The last change of each decides: later ones overwrite.
    left = np.zeros(len(is_on) if len(node) else 0, np.int64)
    is_on[node] = on
    left[node] = left_ms
    comes = who[is_on[who]]
    found.leaving.append(who[was_on] if len(who) else _NOBODY)
    found.coming.append(comes)
    found.late_ms.append(left[comes])
