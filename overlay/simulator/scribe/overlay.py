"""A simulated Scribe on Pastry: its nodes, and what can be done with them from outside."""

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...protocol.buffer import Buffer
from ...protocol.chance import begin, wide
from ...protocol.pastry import BASE, NOBODY
from ...protocol.scribe import begin_records
from ..agenda import check_room
from ..compiled import COMPILED, Execution
from ..counters import KINDS
from ..errors import OverlayError
from ..event_counts import EventCounts, as_arrays, new_event_counts
from ..latency.latency import MessageLatency, times_of
from ..subscriptions import TopicSubscriptions
from ..system import Dissemination
from ..workload import OverlayWorkload
from .routing import fill_all
from .spreading import new_event, publish_each, spread
from .state import PAPER, TALLIES, ScribeRules, ScribeSettings, ScribeState, keep_seats
from .trees import act_all, come_all, enter_all, enter_everybody

# Places in the hash table of seats for each subscription, and the share of them that is taken at most before it is made anew.
_SEATS: Final = 16
_LEAST_SEATS: Final = 4096
FULL: Final = 0.375


class ScribeOverlay:
    """Scribe on a Pastry that everybody has joined, with all trees built. See `OverlaySystem`.

    - `workload`: who subscribes to what.
    - `seed`: everything random follows from it.
    - `away`: nodes that are not there at the beginning; nobody knows them.
    """

    def __init__(
        self,
        workload: OverlayWorkload,
        seed: int,
        settings: ScribeSettings = PAPER,
        *,
        away: Iterable[int] = (),
        execution: Execution = COMPILED,
    ) -> None:
        settings.check()
        nodes, topics = workload.nodes, workload.topics
        if nodes * topics >= 1 << 62:
            raise OverlayError(f"{nodes:,} nodes and {topics:,} topics are too many to number their seats")
        self.settings, self._execution, self._now, self._seed = settings, execution, 0, seed
        self.nodes, self.topics = nodes, topics
        self.rules = ScribeRules(half=settings.leaves // 2, rows=settings.rows, patience=settings.patience)
        self._subscriptions = TopicSubscriptions(workload, execution)
        self.state = self._begin(workload, seed)
        self.messages, self.sizes = self.state.messages, self.state.sizes
        self._event, self._published = new_event(nodes, times_of(None), execution), 0
        self.leave(away)
        by_id: NDArray[np.int64] = np.argsort(np.asarray(self.state.ids), kind="stable")
        present = by_id[np.asarray(self.state.alive)[by_id] == 1]
        self._order = execution.buffer(by_id)
        execution.kernel(fill_all)(self.state, self.rules, execution.buffer(present))
        execution.kernel(enter_everybody)(self.state, self.rules, execution.buffer(range(nodes)), 0)

    def _begin(self, workload: OverlayWorkload, seed: int) -> ScribeState:
        make, rules = self._execution, self.rules
        nodes, topics = workload.nodes, workload.topics
        seats = max(_LEAST_SEATS, _SEATS * workload.pairs)
        streams, ids, keys = make.filled(nodes + 1), make.filled(nodes), make.filled(topics)
        nexts, free = make.filled(seats // 2), make.filled(1)
        make.kernel(begin_all)(streams, ids, keys, nexts, free, seed)
        return ScribeState(
            streams=streams,
            ids=ids,
            keys=keys,
            alive=make.filled(nodes, 1, np.uint8),
            side=make.filled(nodes, 0, np.int8),
            flags=make.filled(nodes),
            leaves=make.filled(nodes * 2 * rules.half, NOBODY),
            table=make.filled(nodes * rules.rows * BASE, NOBODY),
            topic_firsts=self._subscriptions.firsts,
            topic_counts=self._subscriptions.counts,
            topics=self._subscriptions.topics,
            children=make.filled(seats // 2, NOBODY),
            nexts=nexts,
            free=free,
            **self._empty_seats(nodes, seats),
            messages=make.filled(nodes * KINDS),
            sizes=make.filled(nodes * KINDS),
            relayed=make.filled(nodes),
            pastry=make.filled(nodes),
            tallies=make.filled(TALLIES),
        )

    def _empty_seats(self, nodes: int, seats: int) -> dict[str, Buffer]:
        make = self._execution
        return {
            "seat_keys": make.filled(seats, NOBODY),
            "in_tree": make.filled(seats, 0, np.uint8),
            "parents": make.filled(seats, NOBODY),
            "heard": make.filled(seats),
            "first_child": make.filled(seats, NOBODY),
            "seat_list": make.filled(nodes, NOBODY),
            "seat_next": make.filled(seats, NOBODY),
            "seats": make.filled(1),
        }

    def _make_room(self) -> None:
        """Gives up the seats that nobody needs any more, before the table of seats is too full."""
        places = len(self.state.seat_keys)
        if self.state.seats[0] > FULL * places:
            emptied = self.state._replace(**self._empty_seats(self.nodes, places))
            self._execution.kernel(keep_seats)(self.state, emptied)
            self.state = emptied

    def cycle(self) -> None:
        """Lets every live node look after its leaves and its trees once, in random order."""
        self._make_room()
        self._now += 1
        self._execution.kernel(act_all)(self.state, self.rules, self._order, self._now)

    def leave(self, nodes: Iterable[int]) -> None:
        """Takes nodes away, which tell nobody."""
        for node in nodes:
            self.state.alive[node] = 0

    def come(self, nodes: Iterable[int]) -> None:
        """Brings nodes back. Each joins Pastry over a random live node, and the trees of its topics."""
        self._make_room()
        make = self._execution
        make.kernel(come_all)(self.state, self.rules, make.buffer(list(nodes)), make.filled(self.nodes), self._now)

    def change_topics(self, node: int, topics: Iterable[int]) -> None:
        """Lets `node` subscribe to `topics` and to nothing else from now on. Trees that it needs no more it leaves in its next cycle.

        Raises OverlayError for topics that are none.
        """
        self._make_room()
        self._subscriptions.change(node, topics)
        self.state = self.state._replace(topics=self._subscriptions.topics)
        if self.state.alive[node]:
            self._execution.kernel(enter_all)(self.state, self.rules, node, self._now)

    def misbehave(self, flags: NDArray[np.int64]) -> None:
        """Lets each node do the wrongs of its flag from now on (`harm.Misdeed`).

        Nodes gossip when they ask each other for leaves and rows of tables. Neither has ages to lie about. A freerider passes an event on
        neither to the rendezvous nor to its children.
        """
        for node, flag in enumerate(flags.tolist()):
            self.state.flags[node] = flag

    def divide(self, side: NDArray[np.int8]) -> None:
        """Parts the network: from now on no message passes between nodes of different sides. Equal sides make it whole again."""
        for node, where in enumerate(side.tolist()):
            self.state.side[node] = where

    def members(self, topic: int) -> list[int]:
        """Returns the live subscribers of `topic`."""
        return self._subscriptions.live_members(topic, self.state.alive)

    def publish(self, topic: int, publisher: int, latency: MessageLatency | None = None) -> Dissemination:
        """Disseminates one event in the overlay as it stands. `latency`: how long messages take; without it they arrive hop by hop.

        Raises OverlayError for a publisher that is not there, or does not subscribe to the topic.
        """
        self._subscriptions.check_publisher(topic, publisher, self.state.alive)
        event = new_event(self.nodes, times_of(latency), self._execution)
        self._execution.kernel(spread)(self.state, self.rules, event, topic, publisher)
        check_room(event.agenda)
        hops, copies = np.asarray(event.hops, np.int32), np.asarray(event.copies, np.int32)
        return Dissemination(topic, publisher, hops, copies, np.asarray(event.arrival_us, np.int64) if latency else None)

    def publish_each(self, rounds: int = 1) -> EventCounts:
        """Publishes `rounds` events on each topic, by random subscribers, and returns what came of them all (arrays)."""
        make, counts, of = self._execution, new_event_counts(self.nodes, self.topics, self._execution), self._subscriptions.by_topic()
        for _ in range(rounds):
            make.kernel(publish_each)(self.state, self.rules, self._event, of, make.filled(1), self._seed, self._published, counts)
            check_room(self._event.agenda)
            self._published += self.topics
        return as_arrays(counts)


def begin_all(streams: Buffer, ids: Buffer, keys: Buffer, nexts: Buffer, free: Buffer, seed: int) -> None:
    """Begins all streams, draws the ids of nodes and topics, and makes all records of children free."""
    for stream in range(len(streams)):
        begin(streams, stream, seed, stream + 1)
    world = len(streams) - 1
    for node in range(len(ids)):
        ids[node] = wide(streams, world)
    for topic in range(len(keys)):
        keys[topic] = wide(streams, world)
    begin_records(nexts, free)
