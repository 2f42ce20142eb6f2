"""The setting in which GossipSub's own designer measured it (vyzo/gerbil-simsub of 2022), for OV-3.

Each of 1,000 nodes dials 20 random others, before anything else happens. Heartbeats begin a second later, at random phases. Five random
nodes publish 60 messages, one a second, each by a random one of the five; the first one comes 5 seconds after the beginning, the last one
is followed by 10 more seconds. One way over a link takes 10 to 150 ms, the same in both directions, and each message up to 10 % longer. A
delivery is the first copy at a node, the publisher's own included. Messages are copies of events that are sent, those after an IWANT
included. Latencies are counted from the publisher's own delivery, which is not among them.

That simulator's v1.1 is v1.0 with flood publishing, adaptive gossip and peer exchange: it has no scores, no backoff, no quota of outbound
peers, and no opportunistic grafting. `AS_SIMULATED` leaves out what of these changes a mesh in which everybody behaves.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled import COMPILED, Execution
from ..draws import Draws, Stream
from ..latency.latency import by_link
from ..workload import workload
from .options import GossipSubOptions
from .overlay import GossipPublication, GossipSubOverlay
from .state import COPY

V1_0: Final = GossipSubOptions(version="v1.0", dials=20)
V1_1: Final = GossipSubOptions(dials=20)
AS_SIMULATED: Final = GossipSubOptions(dials=20, best=0, outbound=0, opportunistic_peers=0)
# Nothing happens before the first heartbeats, so the clock begins with them.
_FIRST_S: Final = 4.0
_LINGER_S: Final = 10.0


class DesignerRun(NamedTuple):
    """The outcome of a run.

    - `deliveries`: in all. `sent`: messages by kind (`GossipSubOverlay.sent`).
    - `latencies_us`: of each delivery but those of publishers.
    - `mesh_size`: the mean at the end.
    """

    deliveries: int
    sent: list[int]
    latencies_us: NDArray[np.int64]
    mesh_size: float

    @property
    def copies_per_delivery(self) -> float:
        """How many copies of events were sent for each delivery."""
        return self.sent[COPY] / self.deliveries

    def share_within(self, ms: float) -> float:
        """Returns the share of deliveries that took less than so long."""
        return float((self.latencies_us < 1000 * ms).mean())


def designer_run(
    options: GossipSubOptions,
    seed: int,
    *,
    nodes: int = 1000,
    messages: int = 60,
    sources: int = 5,
    execution: Execution = COMPILED,
) -> DesignerRun:
    """Runs the setting once.

    - `options`: V1_0, V1_1 or AS_SIMULATED. `seed`: connections, latencies, sources and the nodes' own draws follow from it.
    - `messages`, `sources`: how many are published, and by how many nodes in turns that are random.
    """
    system = GossipSubOverlay(workload(np.arange(nodes), np.zeros(nodes, np.int64)), seed, options, execution=execution)
    draws = Draws(seed, Stream.SOURCES)
    chosen = draws.order(nodes)[:sources]
    turns = (draws.uniform(messages) * sources).astype(np.int64)
    publications = [GossipPublication(_FIRST_S + number, 0, int(chosen[turn])) for number, turn in enumerate(turns.tolist())]
    came_us = system.play(publications, _FIRST_S + messages + _LINGER_S, by_link(10, 150, jitter=0.1, seed=seed))
    deliveries = came_us >= 0
    own = np.zeros(came_us.shape, np.bool_)
    own[np.arange(messages), [each.publisher for each in publications]] = True
    sizes = np.asarray(system.state.seats.size)[:nodes]
    return DesignerRun(int(deliveries.sum()), system.sent, came_us[deliveries & ~own], float(sizes.mean()))
