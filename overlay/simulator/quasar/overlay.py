"""A simulated Quasar: its nodes, and what can be done with them from outside."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

import numpy as np

from ...protocol.bloom import WORD_BITS, find_places
from ...protocol.buffer import Buffer
from ...protocol.chance import begin, wide
from ...protocol.quasar import TOLD
from ..compiled import COMPILED, Execution
from ..counters import KINDS
from ..errors import OverlayError
from ..neighbours import NeighbourGraph, random_graph
from ..system import NOT_REACHED, Dissemination
from ..workload import OverlayWorkload
from .state import NEVER, PAPER, QuasarRules, QuasarSettings, QuasarState
from .updates import update_all
from .walkers import HEADS, LOGGED, MOST_NEGATIVE, TALLIES, Walkers
from .walks import find_truth, poll_all, spread

DEGREE: Final = 8
MOST_NEIGHBOURS: Final = 10
# Ids to avoid that broken trails may add to those of members.
_SPARE_IDS: Final = 4096


class QuasarOverlay:
    """Quasar on a graph of links, on which every node has told its neighbours nothing yet. See `OverlaySystem`.

    - `workload`: who subscribes to what.
    - `seed`: everything random follows from it.
    - `graph`: the links; otherwise they are drawn, DEGREE of each node in the mean.
    - `logs`: so many steps of messages are noted, for tests.
    """

    def __init__(
        self,
        workload: OverlayWorkload,
        seed: int,
        settings: QuasarSettings = PAPER,
        *,
        graph: NeighbourGraph | None = None,
        execution: Execution = COMPILED,
        logs: int = 0,
    ) -> None:
        settings.check()
        nodes = workload.nodes
        self.settings, self._execution = settings, execution
        self._rows = [workload.topics_of.values[first:last] for first, last in pairwise(workload.topics_of.offsets.tolist())]
        self._topics = workload.topics
        self._subscribers = [set(nodes) for nodes in workload.subscribers_of.lists()]
        self._now = 0
        if graph is None:
            graph = random_graph(nodes, mean=DEGREE, most=MOST_NEIGHBOURS, seed=seed, execution=execution)
        self.graph = graph
        self.rules = _rules(settings, nodes + workload.topics)
        self.state = self._begin(seed, graph)
        self.messages, self.sizes = self.state.messages, self.state.sizes
        self._order = execution.buffer(range(nodes), np.int32)
        self._logs = logs
        self.tallies = execution.filled(TALLIES)
        self.log = execution.filled(1 + logs * LOGGED)

    @property
    def filter_bytes_of_a_node(self) -> int:
        """The bytes of filters that the node with the most neighbours keeps: one set of each neighbour, and its own (P2P-42)."""
        degrees = np.diff(np.asarray(self.graph.offsets))
        return int(degrees.max() + 1) * (self.rules.depth + 1) * -(-self.rules.bits // 8)

    def _begin(self, seed: int, graph: NeighbourGraph) -> QuasarState:
        make, rules = self._execution, self.rules
        nodes, links = len(graph.offsets) - 1, len(graph.ends)
        streams, places = make.filled(nodes + 1), make.filled((nodes + self._topics) * rules.hashes, 0, np.int32)
        make.kernel(begin_all)(streams, places, seed, rules.hashes, rules.bits, int(self.settings.exact))
        # Where all neighbours are told the same it is kept once; otherwise, once for each link.
        owners = graph.back if rules.splits else graph.ends
        wells = make.buffer(np.asarray(owners, np.int64) * rules.set_words)
        offsets, topics = self._subscriptions()
        return QuasarState(
            streams,
            graph.offsets,
            graph.ends,
            graph.back,
            wells,
            heard=make.filled(links, NEVER),
            alive=make.filled(nodes, 1, np.uint8),
            filters=make.filled((links if rules.splits else nodes) * rules.set_words),
            places=places,
            topic_offsets=offsets,
            topics=topics,
            messages=make.filled(nodes * KINDS),
            sizes=make.filled(nodes * KINDS),
        )

    def _subscriptions(self) -> tuple[Buffer, Buffer]:
        lengths = [len(row) for row in self._rows]
        values = np.concatenate([np.asarray(row, np.int32) for row in self._rows])
        return self._execution.buffer(np.cumsum([0, *lengths])), self._execution.buffer(values, np.int32)

    def cycle(self) -> None:
        """Lets every live node tell its neighbours what can be reached over it, in random order."""
        self._now += 1
        self._execution.kernel(update_all)(self.state, self.rules, self._order, self._now)

    def leave(self, nodes: Iterable[int]) -> None:
        """Takes nodes away, which tell nobody."""
        for node in nodes:
            self.state.alive[node] = 0

    def come(self, nodes: Iterable[int]) -> None:
        """Brings nodes back. What they knew of their neighbours counts if it is fresh."""
        for node in nodes:
            self.state.alive[node] = 1

    def change_topics(self, node: int, topics: Iterable[int]) -> None:
        """Lets `node` subscribe to `topics` and to nothing else from now on."""
        for topic in self._rows[node].tolist():
            self._subscribers[topic].discard(node)
        self._rows[node] = np.array(sorted(topics), np.int32)
        for topic in self._rows[node].tolist():
            self._subscribers[topic].add(node)
        offsets, values = self._subscriptions()
        self.state = self.state._replace(topic_offsets=offsets, topics=values)

    def members(self, topic: int) -> list[int]:
        """Returns the live subscribers of `topic`."""
        return [node for node in sorted(self._subscribers[topic]) if self.state.alive[node]]

    def publish(self, topic: int, publisher: int, *, polls: int = 0, looks_for_false_trails: bool = False) -> Dissemination:
        """Disseminates one event in the overlay as it stands.

        - `polls`: so often every member asks another one for what it has missed, after the dissemination (P2P-47).
        - `looks_for_false_trails`: false trails are counted, too; that takes longer.

        Raises OverlayError for a publisher that is not there, or does not subscribe to the topic.
        """
        members = self.members(topic)
        if publisher not in self._subscribers[topic] or not self.state.alive[publisher]:
            raise OverlayError(f"node {publisher} is no live subscriber of topic {topic}: a publisher subscribes to its topic first")
        make, state, rules = self._execution, self.state, self.rules
        nodes = len(self._rows)
        marks, hops, copies = make.filled(nodes, 0, np.uint8), make.filled(nodes, NOT_REACHED, np.int32), make.filled(nodes, 0, np.int32)
        for node in members:
            marks[node] = 1
        truth = make.filled(nodes * (rules.depth + 1) if looks_for_false_trails else 0, 0, np.uint8)
        if looks_for_false_trails:
            make.kernel(find_truth)(state.offsets, state.ends, marks, rules.depth, truth)
        walkers = self._walkers(len(members))
        make.kernel(spread)(state, rules, walkers, marks, topic, publisher, self._now, hops, copies, truth)
        order = make.buffer(members, np.int32)
        for _ in range(polls):
            make.kernel(poll_all)(state, rules, walkers, marks, topic, order, self._now, hops, copies)
        return Dissemination(topic, publisher, np.asarray(hops, np.int32), np.asarray(copies, np.int32))

    def _walkers(self, members: int) -> Walkers:
        make, most = self._execution, int(np.diff(np.asarray(self.graph.offsets)).max())
        branch = self.rules.branch or most
        messages, ids = branch * members + most, members + _SPARE_IDS
        return Walkers(
            heads=make.filled(HEADS),
            node=make.filled(messages, 0, np.int32),
            link=make.filled(messages, 0, np.int32),
            ttl=make.filled(messages, 0, np.int32),
            hops=make.filled(messages, 0, np.int32),
            chain=make.filled(messages, 0, np.int32),
            trail=make.filled(messages, 0, np.int32),
            ids=make.filled(ids, 0, np.int32),
            before=make.filled(ids, 0, np.int32),
            lengths=make.filled(ids, 0, np.int32),
            links=make.filled(most, 0, np.int32),
            offered=make.filled(most),
            negative=make.filled(MOST_NEGATIVE),
            told=make.filled(TOLD),
            tallies=self.tallies,
            log=self.log,
        )


def begin_all(streams: Buffer, places: Buffer, seed: int, hashes: int, bits: int, is_exact: int) -> None:
    """Begins the streams of all nodes and of the world, and finds the places of all ids of nodes and topics."""
    for stream in range(len(streams)):
        begin(streams, stream, seed, stream + 1)
    world = len(streams) - 1
    for number in range(len(places) // hashes):
        if is_exact:
            places[number] = number
        else:
            find_places(places, number * hashes, wide(streams, world), hashes, bits)


def _rules(settings: QuasarSettings, ids: int) -> QuasarRules:
    bits = ids if settings.exact else settings.filter_bytes * 8
    return QuasarRules(
        bits=bits,
        words=-(-bits // WORD_BITS),
        depth=settings.depth,
        hashes=1 if settings.exact else settings.hashes,
        fresh=settings.fresh,
        branch=settings.branch,
        ttl=settings.ttl,
        avoids=int(settings.avoids),
        drops_everywhere=int(settings.drops_everywhere),
        splits=int(settings.splits),
    )
