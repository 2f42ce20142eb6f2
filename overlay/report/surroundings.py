"""What files say of the world around an overlay: who comes and leaves, and how long messages take."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..simulator.churn.cycles import CycleChurn, by_cycle
from ..simulator.churn.trace import ChurnTrace
from ..simulator.latency.latency import MessageLatency, between_hosts


class OverlaySurroundings(NamedTuple):
    """The files, read. What none of them says is None.

    - `churn`: who comes and leaves; a cycle takes `cycle_ms` of its time.
    - `one_way_us`: how long messages take between hosts (`read_round_trips`), on a network of this name.
    """

    churn: ChurnTrace | None = None
    cycle_ms: int = 60_000
    network: str = ""
    one_way_us: NDArray[np.int32] | None = None

    def churn_by_cycle(self, cycles: int, nodes: int) -> CycleChurn | None:
        """Returns who comes and leaves in each of so many cycles, or None if no file says so. Raises OverlayError."""
        return None if self.churn is None else by_cycle(self.churn, self.cycle_ms, cycles, nodes)

    def latency(self, nodes: int, seed: int) -> MessageLatency | None:
        """Returns the latencies of nodes that are put on the hosts at random, or None if no file has any."""
        return None if self.one_way_us is None else between_hosts(self.one_way_us, nodes, seed)


NONE = OverlaySurroundings()
