"""A simulated PolderCast: its nodes, and what can be done with them from outside."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...protocol.profile import PROFILE
from ...protocol.view import CELL
from ..agenda import check_room, new_agenda
from ..compiled import COMPILED, Execution
from ..errors import OverlayError
from ..event_counts import EventCounts, as_arrays, find_live, new_event_counts
from ..latency.latency import MessageLatency
from ..system import NOT_REACHED, Dissemination
from ..workload import OverlayWorkload
from . import cycle, joining, measuring
from .interests import change
from .lies import GRAVES, OFFERS_THE_DEAD
from .options import PolderOptions, SpreadOptions
from .publishing import SpreadState, new_spread, publish
from .repairing import repair
from .state import MODULES, new_state
from .timing import publish_timed

PAPER: Final = PolderOptions()
TWO: Final = SpreadOptions()
_NOBODY: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class RingsFound:
    """The gaps in the rings of a frozen overlay. `wanted` and `missing`: links by topic; `missing_of`: by node."""

    wanted: NDArray[np.int64]
    missing: NDArray[np.int64]
    missing_of: NDArray[np.int64]

    @property
    def missing_share(self) -> float:
        """The share of all links that are missing."""
        links = int(self.wanted.sum())
        return float(self.missing.sum()) / links if links else 0.0

    @property
    def incomplete_share(self) -> float:
        """The share of the rings that lack a link. A topic with one live subscriber has no ring."""
        rings = int(np.count_nonzero(self.wanted))
        return int(np.count_nonzero(self.missing)) / rings if rings else 0.0


class PolderCastOverlay:
    """PolderCast whose nodes know random others, and nothing of rings yet (PC 6.2). See `OverlaySystem`.

    - `workload`: who subscribes to what.
    - `seed`: everything random follows from it.
    - `away`: nodes that are not there at the beginning.
    - `logs`: so many numbers of messages are noted, for tests.
    """

    def __init__(
        self,
        workload: OverlayWorkload,
        seed: int,
        options: PolderOptions = PAPER,
        *,
        how: SpreadOptions = TWO,
        away: Iterable[int] = (),
        execution: Execution = COMPILED,
        logs: int = 0,
    ) -> None:
        self.nodes, self.topics, self.seed = workload.nodes, workload.topics, seed
        self.settings, self.how, self._execution = options.settings(), how, execution
        self.state = new_state(workload, self.settings, seed, execution, logs)
        self.messages, self.sizes = self.state.messages, self.state.sizes
        self._event = new_spread(self.nodes, self.settings, execution)
        self._published = 0
        self._find_rings()
        self.leave(away)
        execution.kernel(joining.fill_cyclon)(self.state, self.settings)

    def cycle(self) -> None:
        """Lets every live node act once, in random order."""
        self.run(1)

    def run(self, cycles: int) -> None:
        """Runs so many cycles."""
        self._execution.kernel(cycle.run)(self.state, self.settings, cycles)

    def leave(self, nodes: Iterable[int]) -> None:
        """Takes nodes away, which tell nobody."""
        for node in nodes:
            self.state.alive[node] = 0

    def come(self, nodes: Iterable[int]) -> None:
        """Brings nodes back, with what they remember. Who remembers nobody is introduced to a random live node."""
        arrived = list(nodes)
        for node in arrived:
            self.state.alive[node] = 1
        self._execution.kernel(joining.list_live)(self.state)
        for node in arrived:
            self._execution.kernel(joining.introduce)(self.state, self.settings, node)

    def change_topics(self, node: int, topics: Iterable[int]) -> None:
        """Lets `node` subscribe to `topics` and to nothing else from now on."""
        self.change_many({node: topics})

    def change_many(self, wanted: dict[int, Iterable[int]]) -> None:
        """Lets each of these nodes subscribe to its topics, and to nothing else from now on.

        Raises OverlayError for topics that are none.
        """
        lists = {node: np.unique(np.array(list(topics), np.int64)) for node, topics in wanted.items()}
        for node, topics in lists.items():
            if len(topics) and not 0 <= topics[0] <= topics[-1] < self.topics:
                raise OverlayError(f"node {node} is to have topics from {topics[0]} to {topics[-1]}, and there are {self.topics:,}")
        self.state = change(self.state, self.settings, lists, self._execution)
        self._find_rings()

    def members(self, topic: int) -> list[int]:
        """Returns the live subscribers of `topic`."""
        first, last = self._rings.of.starts[topic], self._rings.of.starts[topic + 1]
        found = (self._rings.of.members[at] for at in range(first, last))
        return sorted(int(node) for node in found if self.state.alive[node])

    def misbehave(self, flags: NDArray[np.int64]) -> None:
        """Lets each node do the wrongs of its flag from now on (`harm.Misdeed`)."""
        make = self._execution
        room = self.nodes * GRAVES * CELL if (flags & OFFERS_THE_DEAD).any() else 0
        self.state = self.state._replace(flags=make.buffer(flags), buried=make.filled(self.nodes), graves=make.filled(room, 0, np.int32))

    def divide(self, side: NDArray[np.int8]) -> None:
        """Parts the network: from now on no message passes between nodes of different sides. Equal sides make it whole again."""
        self.state = self.state._replace(sides=self._execution.buffer(side))

    def publish(self, topic: int, publisher: int, latency: MessageLatency | None = None) -> Dissemination:
        """Disseminates one event in the overlay as it stands, while nothing else happens.

        `latency`: how long messages take; without it they arrive hop by hop.

        Raises OverlayError for a publisher that is not there, or does not subscribe to the topic.
        """
        members = self.members(topic)
        if publisher not in members:
            raise OverlayError(f"node {publisher} is no live subscriber of topic {topic}: a publisher subscribes to its topic first")
        event = new_spread(self.nodes, self.settings, self._execution)
        self._execution.kernel(measuring.begin_event)(self.state, self.seed, self._next(1))
        arrival_us = self._spread(event, topic, publisher, len(members), latency)
        return Dissemination(topic, publisher, np.asarray(event.hops, np.int32), np.asarray(event.copies, np.int32), arrival_us)

    def _spread(
        self, event: SpreadState, topic: int, publisher: int, members: int, latency: MessageLatency | None
    ) -> NDArray[np.int64] | None:
        """Lets an event spread. Returns when it arrived, if messages take time."""
        make, how = self._execution, self.how.settings()
        if latency is None:
            reached = make.kernel(publish)(self.state, self.settings, how, event, publisher, topic)
            self._repair(event, topic, members, reached)
            return None
        # Everybody who gets it sends it once; old copies of profiles may bring it to a few others, who do not.
        agenda = new_agenda(how.fanout * members + 1, make)
        buffers = (latency.settings, latency.table_us, latency.host_of, latency.streams)
        arrival_us = make.filled(self.nodes, NOT_REACHED)
        reached = make.kernel(publish_timed)(self.state, self.settings, how, event, agenda, buffers, arrival_us, publisher, topic)
        check_room(agenda)
        self._repair(event, topic, members, reached)
        return np.asarray(arrival_us, np.int64)

    def _repair(self, event: SpreadState, topic: int, members: int, reached: int) -> None:
        """Lets rounds of repair follow an event, if there are to be any. They come after it, and have no times."""
        if self.how.repairs:
            make = self._execution
            make.kernel(find_live)(self.state.alive, self._rings.of, topic)
            make.kernel(repair)(self.state, self.settings, self.how.repairs, event, self._rings.of, members, topic, reached)

    def publish_each(self, rounds: int = 1, how: SpreadOptions | None = None) -> EventCounts:
        """Publishes `rounds` events on each topic, by random subscribers, and returns what came of them all (arrays)."""
        counts = new_event_counts(self.nodes, self.topics, self._execution)
        settings = (how or self.how).settings()
        for _ in range(rounds):
            self._execution.kernel(measuring.publish_each)(
                self.state, self.settings, settings, self._event, self._rings, self.seed, self._next(self.topics), counts
            )
        return as_arrays(counts)

    def rings(self) -> RingsFound:
        """Returns what the rings lack now."""
        counts = measuring.new_ring_counts(self.nodes, self.topics, self._execution)
        self._execution.kernel(measuring.count_links)(self.state, self.settings.ring, self._rings, counts)
        return RingsFound(*(np.asarray(each) for each in counts))

    def held(self, marked: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Counts entries in the views of live nodes that are not `marked`.

        Returns, for Cyclon, Vicinity and Rings, how many there are, and how many of them lead to marked nodes.
        """
        held = self._execution.filled(2 * MODULES)
        self._execution.kernel(measuring.count_held)(self.state, self.settings, self._execution.buffer(marked.astype(np.int64)), held)
        return np.asarray(held, np.int64).reshape(MODULES, 2)

    def _next(self, events: int) -> int:
        """Returns the number of the first of so many events."""
        self._published += events
        return self._published - events

    def _find_rings(self) -> None:
        """Finds out who is to be next to whom."""
        state = self.state
        table = np.asarray(state.profiles).reshape(-1, PROFILE)[np.asarray(state.current)]
        starts, sizes = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
        node = np.repeat(np.arange(self.nodes), sizes)
        place = np.arange(len(node)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        topic: NDArray[Any] = np.asarray(state.topics)[starts[node] + place]
        self._rings = measuring.offline_rings(np.asarray(state.ids), node, topic, place, self.topics, self._execution)
