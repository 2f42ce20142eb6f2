"""A simulated Scribe on Pastry: its nodes, and what can be done with them from outside."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

import numpy as np

from ...protocol.buffer import Buffer
from ...protocol.chance import begin, below, wide
from ...protocol.pastry import BASE, NOBODY
from ...protocol.scribe import begin_records
from ..compiled import COMPILED, Execution, numbers
from ..counters import KINDS
from ..errors import OverlayError
from ..system import NOT_REACHED, Dissemination
from ..workload import OverlayWorkload
from .routing import come_in, fill_all
from .state import PAPER, TALLIES, ScribeRules, ScribeSettings, ScribeState
from .trees import act_all, enter_all, enter_everybody, forget_seats, spread

# Seats for each subscription, relays and rests of churn included, and the share of the hash table that they take at most.
_SEATS: Final = 16
_LEAST_SEATS: Final = 4096


class ScribeOverlay:
    """Scribe on a Pastry that everybody has joined, with all trees built. See `OverlaySystem`.

    - `workload`: who subscribes to what.
    - `seed`: everything random follows from it.
    """

    def __init__(self, workload: OverlayWorkload, seed: int, settings: ScribeSettings = PAPER, *, execution: Execution = COMPILED) -> None:
        settings.check()
        nodes, topics = workload.nodes, workload.topics
        if nodes * topics >= 1 << 62:
            raise OverlayError(f"{nodes:,} nodes and {topics:,} topics are too many to number their seats")
        self.settings, self._execution, self._now = settings, execution, 0
        self.rules = ScribeRules(half=settings.leaves // 2, rows=settings.rows, patience=settings.patience)
        self._rows = [workload.topics_of.values[first:last] for first, last in pairwise(workload.topics_of.offsets.tolist())]
        self._subscribers = [set(row) for row in workload.subscribers_of.lists()]
        self.state = self._begin(workload, seed)
        self.messages, self.sizes = self.state.messages, self.state.sizes
        self._order = execution.buffer(np.argsort(np.asarray(self.state.ids), kind="stable"))
        execution.kernel(fill_all)(self.state, self.rules, self._order)
        execution.kernel(enter_everybody)(self.state, self.rules, execution.buffer(range(nodes)), 0)

    def _begin(self, workload: OverlayWorkload, seed: int) -> ScribeState:
        make, rules = self._execution, self.rules
        nodes, topics = workload.nodes, workload.topics
        seats = max(_LEAST_SEATS, _SEATS * workload.pairs)
        streams, ids, keys = make.filled(nodes + 1), make.filled(nodes), make.filled(topics)
        nexts, free = make.filled(seats // 2), make.filled(1)
        make.kernel(begin_all)(streams, ids, keys, nexts, free, seed)
        offsets, values = self._subscriptions()
        return ScribeState(
            streams=streams,
            ids=ids,
            keys=keys,
            alive=make.filled(nodes, 1, np.uint8),
            leaves=make.filled(nodes * 2 * rules.half, NOBODY),
            table=make.filled(nodes * rules.rows * BASE, NOBODY),
            topic_offsets=offsets,
            topics=values,
            seat_keys=make.filled(seats, NOBODY),
            in_tree=make.filled(seats, 0, np.uint8),
            parents=make.filled(seats, NOBODY),
            heard=make.filled(seats),
            first_child=make.filled(seats, NOBODY),
            children=make.filled(seats // 2, NOBODY),
            nexts=nexts,
            free=free,
            seat_list=make.filled(nodes, NOBODY),
            seat_next=make.filled(seats, NOBODY),
            messages=make.filled(nodes * KINDS),
            sizes=make.filled(nodes * KINDS),
            relayed=make.filled(nodes),
            pastry=make.filled(nodes),
            tallies=make.filled(TALLIES),
        )

    def _subscriptions(self) -> tuple[Buffer, Buffer]:
        lengths = [len(row) for row in self._rows]
        values = np.concatenate([np.asarray(row, np.int32) for row in self._rows])
        return self._execution.buffer(np.cumsum([0, *lengths])), self._execution.buffer(values)

    def cycle(self) -> None:
        """Lets every live node look after its leaves and its trees once, in random order."""
        self._now += 1
        self._execution.kernel(act_all)(self.state, self.rules, self._order, self._now)

    def leave(self, nodes: Iterable[int]) -> None:
        """Takes nodes away, which tell nobody."""
        for node in nodes:
            self.state.alive[node] = 0

    def come(self, nodes: Iterable[int]) -> None:
        """Brings nodes back. Each joins Pastry over a random live node, and the trees of its topics."""
        for node in nodes:
            live = [each for each, alive in enumerate(numbers(self.state.alive)) if alive and each != node]
            self._execution.kernel(forget_seats)(self.state, node)
            self.state.alive[node] = 1
            if live:
                helper = live[below(self.state.streams, len(self._rows), len(live))]
                self._execution.kernel(come_in)(self.state, self.rules, node, helper)
            self._execution.kernel(enter_all)(self.state, self.rules, node, self._now)

    def change_topics(self, node: int, topics: Iterable[int]) -> None:
        """Lets `node` subscribe to `topics` and to nothing else from now on. Trees that it needs no more it leaves in its next cycle."""
        for topic in self._rows[node].tolist():
            self._subscribers[topic].discard(node)
        self._rows[node] = np.array(sorted(topics), np.int32)
        for topic in self._rows[node].tolist():
            self._subscribers[topic].add(node)
        offsets, values = self._subscriptions()
        self.state = self.state._replace(topic_offsets=offsets, topics=values)
        if self.state.alive[node]:
            self._execution.kernel(enter_all)(self.state, self.rules, node, self._now)

    def members(self, topic: int) -> list[int]:
        """Returns the live subscribers of `topic`."""
        return [node for node in sorted(self._subscribers[topic]) if self.state.alive[node]]

    def publish(self, topic: int, publisher: int) -> Dissemination:
        """Disseminates one event in the overlay as it stands.

        Raises OverlayError for a publisher that is not there, or does not subscribe to the topic.
        """
        if publisher not in self._subscribers[topic] or not self.state.alive[publisher]:
            raise OverlayError(f"node {publisher} is no live subscriber of topic {topic}: a publisher subscribes to its topic first")
        make, nodes = self._execution, len(self._rows)
        hops, copies = make.filled(nodes, NOT_REACHED), make.filled(nodes)
        make.kernel(spread)(self.state, self.rules, topic, publisher, hops, copies, make.filled(2 * nodes + 2))
        return Dissemination(topic, publisher, np.asarray(hops, np.int32), np.asarray(copies, np.int32))


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
