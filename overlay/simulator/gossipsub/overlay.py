"""A simulated GossipSub: its nodes, and what can be done with them from outside."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..agenda import add, check_room, new_agenda
from ..compiled import COMPILED, Execution
from ..event_counts import EventCounts, as_arrays, new_event_counts
from ..latency.latency import MessageLatency, constant, times_of
from ..subscriptions import TopicSubscriptions
from ..system import Dissemination
from ..workload import OverlayWorkload
from .discovery import come_back
from .growth import grown
from .interests import change_seats
from .options import HEARTBEAT_US, GossipSubOptions
from .running import begin_play, dial_all, drain, end_play, run_cycles, spread, take_seats
from .state import LINKS, MOST_ROOM, NOW, PUBLISH, SORTS, agenda_room, new_events, new_gossip_state
from .topics import publish_each

DEPLOYED: Final = GossipSubOptions()
# Messages that may be under way at once in a run by events: of each node, and of each node and event.
_UNDER_WAY: Final = 64
_COPIES_UNDER_WAY: Final = 8
_AT_ONCE: Final = constant(0)


class GossipPublication(NamedTuple):
    """An event that is to be published: when, on which topic, and by whom. Nodes take no event that is not valid for one."""

    at_s: float
    topic: int
    publisher: int
    is_valid: bool = True


class GossipSubOverlay:
    """GossipSub whose nodes are connected and have no meshes yet. See `OverlaySystem`; a cycle is a heartbeat of every node.

    - `workload`: who subscribes to what.
    - `seed`: everything random follows from it.
    - `away`: nodes that are not there at the beginning.
    - `logs`: so many numbers of messages are noted, for tests.
    """

    def __init__(
        self,
        workload: OverlayWorkload,
        seed: int,
        options: GossipSubOptions = DEPLOYED,
        *,
        away: Iterable[int] = (),
        execution: Execution = COMPILED,
        logs: int = 0,
    ) -> None:
        self.nodes, self.topics = workload.nodes, workload.topics
        self.rules, self._execution = options.rules(), execution
        self._subscriptions = TopicSubscriptions(workload, execution)
        self._seed, self._published = seed, 0
        scores = options.scores.settings(execution)
        self.state = new_gossip_state(workload, self._subscriptions.by_topic(), self.rules, scores, seed, execution, logged=logs)
        self.messages, self.sizes = self.state.messages, self.state.sizes
        self.leave(away)
        self._begin(workload)

    def _begin(self, workload: OverlayWorkload) -> None:
        """Lets everybody subscribe and dial."""
        make, rows = self._execution, workload.topics_of
        make.kernel(take_seats)(self.state, make.buffer(rows.offsets), make.buffer(rows.values, np.int32))
        seat, end = 0, len(self.state.seats.node)
        while seat < end:
            seat = make.kernel(dial_all)(self.state, self.rules, seat, end)
            self._grow()

    @property
    def sent(self) -> list[int]:
        """How many messages were sent, by kind: COPY, GRAFT, PRUNE, IHAVE, IWANT, HELLO, TOPICS of `state.py`."""
        return [int(self.state.tallies[kind]) for kind in range(SORTS)]

    def cycle(self) -> None:
        """Lets every live node do its heartbeat, in random order."""
        self.run(1)

    def run(self, cycles: int) -> None:
        """Runs so many cycles."""
        for _ in range(cycles):
            self._execution.kernel(run_cycles)(self.state, self.rules, 1)
            check_room(self.state.agenda)
            self._grow()

    def leave(self, nodes: Iterable[int]) -> None:
        """Takes nodes away, which tell nobody."""
        for node in nodes:
            self.state.nodes.alive[node] = 0

    def come(self, nodes: Iterable[int]) -> None:
        """Brings nodes back, with what they remember. They connect anew."""
        arrived = list(nodes)
        for node in arrived:
            self.state.nodes.alive[node] = 1
        for node in arrived:
            self._execution.kernel(come_back)(self.state, self.rules, node)
            self._grow()

    def change_topics(self, node: int, topics: Iterable[int]) -> None:
        """Lets `node` subscribe to `topics` and to nothing else from now on. Raises OverlayError for topics that are none."""
        self._subscriptions.change(node, topics)
        wanted = self._subscriptions.of_node(node)
        self._grow(len(wanted))
        self.state = self.state._replace(of=self._subscriptions.by_topic())
        self._execution.kernel(change_seats)(self.state, self.rules, node, self._execution.buffer(wanted, np.int32))
        self._execution.kernel(drain)(self.state, self.rules, self.state.clock[NOW])
        self._grow()

    def misbehave(self, flags: NDArray[np.int64]) -> None:
        """Lets each node do the wrongs of its flag from now on (`harm.Misdeed`).

        Freeriders forward nothing and answer no IWANT. Nodes that offer themselves or the dead do so in the peers of a PRUNE. GossipSub
        has no ages: who would lie about them says in IHAVE that it has events that do not exist.
        """
        for node, flag in enumerate(flags.tolist()):
            self.state.nodes.flags[node] = flag

    def divide(self, side: NDArray[np.int8]) -> None:
        """Parts the network: from now on no message passes between nodes of different sides. Equal sides make it whole again."""
        for node, each in enumerate(side.tolist()):
            self.state.nodes.side[node] = each

    def members(self, topic: int) -> list[int]:
        """Returns the live subscribers of `topic`."""
        return self._subscriptions.live_members(topic, self.state.nodes.alive)

    def publish(self, topic: int, publisher: int, latency: MessageLatency | None = None, *, is_valid: bool = True) -> Dissemination:
        """Disseminates one event over the meshes as they stand, and by the gossip about it in the heartbeats after that.

        - `latency`: how long messages take; without it they arrive hop by hop.
        - `is_valid`: otherwise nobody takes the event for one, and whoever sends it loses score.

        Raises OverlayError for a publisher that is not there, or does not subscribe to the topic.
        """
        self._subscriptions.check_publisher(topic, publisher, self.state.nodes.alive)
        events = new_events(1, self.nodes, self._execution)
        events.is_valid[0] = int(is_valid)
        start = int(self.state.clock[NOW])
        during = self.state._replace(events=events, times=times_of(latency))
        self._execution.kernel(spread)(during, self.rules, publisher, topic)
        check_room(self.state.agenda)
        hops, copies = np.asarray(events.hops, np.int32), np.asarray(events.copies, np.int32)
        return Dissemination(topic, publisher, hops, copies, _since(events.arrival_us, start) if latency is not None else None)

    def publish_each(self, rounds: int = 1) -> EventCounts:
        """Publishes `rounds` events on each topic, by random subscribers, and returns what came of them all (arrays). See `publish`."""
        make, counts, of = self._execution, new_event_counts(self.nodes, self.topics, self._execution), self._subscriptions.by_topic()
        during = self.state._replace(events=new_events(1, self.nodes, make), times=times_of(None))
        streams, publish = make.filled(1), make.kernel(publish_each)
        for _ in range(rounds):
            publish(during, self.rules, of, streams, self._seed, self._published, counts)
            check_room(self.state.agenda)
            self._published += self.topics
        return as_arrays(counts)

    def play(self, publications: Sequence[GossipPublication], until_s: float, latency: MessageLatency) -> NDArray[np.int64]:
        """Lets the overlay live until `until_s` from now, each node with heartbeats at times of its own, and publishes what is to be.

        Returns for each publication, and each node, how many microseconds after publishing the event came, NOT_REACHED where it did not.
        Messages that are under way at the end are lost. Raises OverlayError for a publisher that is not there or does not subscribe, and
        where too many messages are under way at once.
        """
        for each in publications:
            self._subscriptions.check_publisher(each.topic, each.publisher, self.state.nodes.alive)
        make, start = self._execution, int(self.state.clock[NOW])
        room = self.nodes * (_UNDER_WAY + _COPIES_UNDER_WAY * len(publications)) + agenda_room(self.nodes, self.state.tallies[LINKS])
        whole, agenda = self.state, new_agenda(min(room, MOST_ROOM), make)
        events = new_events(max(1, len(publications)), self.nodes, make)
        self.state = whole._replace(events=events, agenda=agenda, times=latency.times)
        make.kernel(begin_play)(self.state)
        for number, each in enumerate(publications):
            events.is_valid[number] = int(each.is_valid)
            add(agenda, start + round(1e6 * each.at_s), PUBLISH, each.publisher, 0, number, each.topic)
        until_us = start + round(1e6 * until_s)
        for second in range(start, until_us, HEARTBEAT_US):
            make.kernel(drain)(self.state, self.rules, min(until_us, second + HEARTBEAT_US))
            self._grow()
        check_room(self.state.agenda)
        make.kernel(end_play)(self.state)
        self.state = self.state._replace(events=whole.events, agenda=whole.agenda, times=whole.times)
        came = np.asarray(events.arrival_us, np.int64).reshape(-1, self.nodes)[: len(publications)]
        published = np.asarray(events.published_us, np.int64)[: len(publications), None]
        return np.where(came < 0, came, came - published)

    def _grow(self, seats: int = 0) -> None:
        self.state = grown(self.state, self._execution, seats)


def _since(arrival_us: object, start: int) -> NDArray[np.int64]:
    came = np.asarray(arrival_us, np.int64)
    return np.where(came < 0, came, came - start)
