"""A simulated Quasar: its nodes, and what can be done with them from outside."""

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...protocol.bloom import WORD_BITS, bits_set, find_places
from ...protocol.buffer import Buffer
from ...protocol.chance import begin, wide
from ...protocol.quasar import TOLD
from ..agenda import check_room, new_agenda
from ..compiled import COMPILED, Execution
from ..counters import KINDS
from ..event_counts import EventCounts, as_arrays, new_event_counts
from ..latency.latency import MessageLatency, times_of
from ..neighbours import NeighbourGraph, random_graph
from ..subscriptions import TopicSubscriptions
from ..system import NOT_REACHED, Dissemination
from ..workload import OverlayWorkload
from .state import NEVER, PAPER, QuasarRules, QuasarSettings, QuasarState
from .topics import publish_each
from .updates import update_all
from .walkers import LOGGED, MOST_NEGATIVE, TALLIES, Walkers
from .walks import find_truth, poll_all, spread

DEGREE: Final = 8
MOST_NEIGHBOURS: Final = 10
# Ids to avoid that broken trails may add to those of members.
_SPARE_IDS: Final = 4096
# So many filters are looked at to tell how full they are.
_FILLS: Final = 500


class QuasarOverlay:
    """Quasar on a graph of links, on which every node has told its neighbours nothing yet. See `OverlaySystem`.

    - `workload`: who subscribes to what.
    - `seed`: everything random follows from it.
    - `graph`: the links; otherwise they are drawn, DEGREE of each node in the mean.
    - `away`: nodes that are not there at the beginning.
    - `logs`: so many steps of messages are noted, for tests.
    """

    def __init__(
        self,
        workload: OverlayWorkload,
        seed: int,
        settings: QuasarSettings = PAPER,
        *,
        graph: NeighbourGraph | None = None,
        away: Iterable[int] = (),
        execution: Execution = COMPILED,
        logs: int = 0,
    ) -> None:
        settings.check()
        nodes = workload.nodes
        self.settings, self._execution = settings, execution
        self.nodes, self.topics = nodes, workload.topics
        self._subscriptions = TopicSubscriptions(workload, execution)
        self._now, self._seed, self._published = 0, seed, 0
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
        self.leave(away)

    @property
    def filter_bytes_of_a_node(self) -> int:
        """The bytes of filters that the node with the most neighbours keeps: one set of each neighbour, and its own (P2P-42)."""
        degrees = np.diff(np.asarray(self.graph.offsets))
        return int(degrees.max() + 1) * (self.rules.depth + 1) * -(-self.rules.bits // 8)

    def fill(self) -> float:
        """Returns the share of bits that are set in the farthest filters that nodes send, in the mean of some nodes."""
        rules = self.rules
        wells = np.asarray(self.state.wells)[:: max(1, len(self.graph.ends) // _FILLS)]
        first = (int(well) + rules.depth * rules.words for well in wells)
        found = sum(self._execution.kernel(bits_set)(self.state.filters, at, rules.words) for at in first)
        return float(found) / (len(wells) * rules.bits)

    def _begin(self, seed: int, graph: NeighbourGraph) -> QuasarState:
        make, rules = self._execution, self.rules
        nodes, links = len(graph.offsets) - 1, len(graph.ends)
        streams, places = make.filled(nodes + 1), make.filled((nodes + self.topics) * rules.hashes, 0, np.int32)
        make.kernel(begin_all)(streams, places, seed, rules.hashes, rules.bits, int(self.settings.exact))
        # Where all neighbours are told the same it is kept once; otherwise, once for each link.
        owners = graph.back if rules.splits else graph.ends
        wells = make.buffer(np.asarray(owners, np.int64) * rules.set_words)
        return QuasarState(
            streams,
            graph.offsets,
            graph.ends,
            graph.back,
            wells,
            heard=make.filled(links, NEVER),
            alive=make.filled(nodes, 1, np.uint8),
            side=make.filled(nodes, 0, np.int8),
            flags=make.filled(nodes),
            filters=make.filled((links if rules.splits else nodes) * rules.set_words),
            places=places,
            topic_firsts=self._subscriptions.firsts,
            topic_counts=self._subscriptions.counts,
            topics=self._subscriptions.topics,
            messages=make.filled(nodes * KINDS),
            sizes=make.filled(nodes * KINDS),
        )

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
        """Lets `node` subscribe to `topics` and to nothing else from now on. Raises OverlayError for topics that are none."""
        self._subscriptions.change(node, topics)
        self.state = self.state._replace(topics=self._subscriptions.topics)

    def misbehave(self, flags: NDArray[np.int64]) -> None:
        """Lets each node do the wrongs of its flag from now on (`harm.Misdeed`); `updates` says what lies in gossip are here."""
        for node, flag in enumerate(flags.tolist()):
            self.state.flags[node] = flag

    def divide(self, side: NDArray[np.int8]) -> None:
        """Parts the network: from now on no message passes between nodes of different sides. Equal sides make it whole again."""
        for node, where in enumerate(side.tolist()):
            self.state.side[node] = where

    def members(self, topic: int) -> list[int]:
        """Returns the live subscribers of `topic`."""
        return self._subscriptions.live_members(topic, self.state.alive)

    def publish(
        self,
        topic: int,
        publisher: int,
        latency: MessageLatency | None = None,
        *,
        polls: int = 0,
        looks_for_false_trails: bool = False,
    ) -> Dissemination:
        """Disseminates one event in the overlay as it stands.

        - `latency`: how long messages take; without it they arrive hop by hop.
        - `polls`: so often every member asks another one for what it has missed, after the dissemination (P2P-47). That has no times.
        - `looks_for_false_trails`: false trails are counted, too; that takes longer.

        Raises OverlayError for a publisher that is not there, or does not subscribe to the topic.
        """
        self._subscriptions.check_publisher(topic, publisher, self.state.alive)
        make, state, rules, members, nodes = self._execution, self.state, self.rules, self.members(topic), self.nodes
        marks, hops, copies = make.filled(nodes, 0, np.uint8), make.filled(nodes, NOT_REACHED, np.int32), make.filled(nodes, 0, np.int32)
        arrival_us = make.filled(nodes, NOT_REACHED)
        for node in members:
            marks[node] = 1
        truth = make.filled(nodes * (rules.depth + 1) if looks_for_false_trails else 0, 0, np.uint8)
        if looks_for_false_trails:
            make.kernel(find_truth)(state.offsets, state.ends, marks, rules.depth, truth)
        walkers = self._walkers(len(members), latency)
        make.kernel(spread)(state, rules, walkers, marks, topic, publisher, self._now, hops, copies, arrival_us, truth)
        check_room(walkers.agenda)
        order = make.buffer(members, np.int32)
        for _ in range(polls):
            make.kernel(poll_all)(state, rules, walkers, marks, topic, order, self._now, hops, copies)
        times = np.asarray(arrival_us, np.int64) if latency else None
        return Dissemination(topic, publisher, np.asarray(hops, np.int32), np.asarray(copies, np.int32), times)

    def publish_each(self, rounds: int = 1) -> EventCounts:
        """Publishes `rounds` events on each topic, by random subscribers, and returns what came of them all (arrays)."""
        make, nodes, of = self._execution, self.nodes, self._subscriptions.by_topic()
        walkers, counts = self._walkers(len(of.live), None), new_event_counts(nodes, self.topics, make)
        marks, copies, truth = make.filled(nodes, 0, np.uint8), make.filled(nodes, 0, np.int32), make.filled(0, 0, np.uint8)
        hops, arrival_us = make.filled(nodes, NOT_REACHED, np.int32), make.filled(nodes, NOT_REACHED)
        streams, publish = make.filled(1), make.kernel(publish_each)
        for _ in range(rounds):
            first, self._published = self._published, self._published + self.topics
            publish(
                self.state, self.rules, walkers, of, streams, self._seed, first, self._now, marks, hops, copies, arrival_us, truth, counts
            )
            check_room(walkers.agenda)
        return as_arrays(counts)

    def _walkers(self, members: int, latency: MessageLatency | None) -> Walkers:
        make, most = self._execution, int(np.diff(np.asarray(self.graph.offsets)).max())
        branch = self.rules.branch or most
        ids = members + _SPARE_IDS
        return Walkers(
            # Never more are under way than copies were made by those who publish.
            agenda=new_agenda(branch * members + most, make),
            times=times_of(latency),
            total=make.filled(1),
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
