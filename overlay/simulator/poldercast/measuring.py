"""What a frozen PolderCast overlay is worth: which rings are complete, and what becomes of an event on each topic (PC 6)."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...protocol import rings
from ...protocol.buffer import Buffer
from ...protocol.chance import begin, below
from ..compiled import Execution
from ..counters import KINDS, UNWANTED
from .options import PolderSettings, SpreadSettings
from .publishing import STEP, SpreadState, clear, publish
from .state import EVENTS, PolderState

# Streams of events have numbers that no node and nothing else in the world has.
FIRST_EVENT: Final = 1 << 50
# Deliveries are counted by hops up to here; more count as so many.
MOST_HOPS: Final = 1023


class OfflineRings(NamedTuple):
    """The rings of all topics as they are to be, end to end: `members` in the order of ids, and `places` of the topic in their profiles.

    The ring of topic t begins at `starts[t]` and ends at `starts[t + 1]`. `live`: room for the members of one ring that are alive.
    """

    members: Buffer
    places: Buffer
    starts: Buffer
    live: Buffer


class RingCounts(NamedTuple):
    """The links to ring neighbours: how many there are to be by topic (`wanted`), and those that are missing by topic and by node."""

    wanted: Buffer
    missing: Buffer
    missing_of: Buffer


class EventCounts(NamedTuple):
    """The outcome of one event on each topic.

    - By topic: live subscribers (`wanted`), who has it (`reached`), the sum of their `hops`, and the `copies` that they received.
    - By node: the events that it `got` from others, the copies that it `received` of them, and those that it `missed`.
    - `by_hops`: how many deliveries took so many hops.
    """

    wanted: Buffer
    reached: Buffer
    hops: Buffer
    copies: Buffer
    got: Buffer
    received: Buffer
    missed: Buffer
    by_hops: Buffer


def offline_rings(
    ids: NDArray[Any], node: NDArray[Any], topic: NDArray[Any], place: NDArray[Any], topics: int, execution: Execution
) -> OfflineRings:
    """Returns the rings of these subscriptions: of each its node, its topic, and the topic's place in the node's profile."""
    order = np.lexsort((ids[node], topic))
    starts = np.searchsorted(topic[order], np.arange(topics + 1))
    return OfflineRings(
        members=execution.buffer(node[order], np.int32),
        places=execution.buffer(place[order], np.int32),
        starts=execution.buffer(starts),
        live=execution.filled(int(np.diff(starts).max())),
    )


def new_ring_counts(nodes: int, topics: int, execution: Execution) -> RingCounts:
    """Returns counts of nothing."""
    return RingCounts(execution.filled(topics), execution.filled(topics), execution.filled(nodes))


def new_event_counts(nodes: int, topics: int, execution: Execution) -> EventCounts:
    """Returns counts of nothing."""
    return EventCounts(
        wanted=execution.filled(topics),
        reached=execution.filled(topics),
        hops=execution.filled(topics),
        copies=execution.filled(topics),
        got=execution.filled(nodes),
        received=execution.filled(nodes),
        missed=execution.filled(nodes),
        by_hops=execution.filled(MOST_HOPS + 1),
    )


def count_links(state: PolderState, ring: int, offline: OfflineRings, counts: RingCounts) -> None:
    """Counts the links to ring neighbours, and those that do not lead to the live subscribers with the next higher and lower id yet.

    A topic with one live subscriber has no links.
    """
    for node in range(len(counts.missing_of)):
        counts.missing_of[node] = 0
    for topic in range(len(counts.wanted)):
        size = _find_live(state, offline, topic)
        counts.wanted[topic] = 2 * size if size > 1 else 0
        counts.missing[topic] = 0
        if size > 1:
            for at in range(size):
                wrong = _wrong(state, ring, offline, at, size)
                counts.missing[topic] += wrong
                counts.missing_of[offline.members[offline.live[at]]] += wrong


def begin_event(state: PolderState, seed: int, number: int) -> None:
    """Begins the stream from which the random links of the event follow."""
    begin(state.streams, len(state.ids) + EVENTS, seed, FIRST_EVENT + number)


def publish_each(
    state: PolderState,
    settings: PolderSettings,
    how: SpreadSettings,
    event: SpreadState,
    offline: OfflineRings,
    seed: int,
    first: int,
    counts: EventCounts,
) -> None:
    """Publishes one event on each topic, by a random live subscriber, and adds what comes of them to `counts`.

    The event on topic t has the number `first + t`, from which all its random links follow.
    """
    stream = len(state.ids) + EVENTS
    for topic in range(len(counts.wanted)):
        size = _find_live(state, offline, topic)
        if size > 0:
            begin_event(state, seed, first + topic)
            publisher = offline.members[offline.live[below(state.streams, stream, size)]]
            reached = publish(state, settings, how, event, publisher, topic)
            _note(offline, event, topic, size, reached, publisher, counts)
            clear(event, reached)


def unwanted(state: PolderState) -> int:
    """Returns how many events nodes have received without having subscribed."""
    total = 0
    for node in range(len(state.ids)):
        total += state.messages[node * KINDS + UNWANTED]
    return total


def _find_live(state: PolderState, offline: OfflineRings, topic: int) -> int:
    """Notes which members of the topic's ring are alive, in the order of ids. Returns how many those are."""
    size = 0
    for at in range(offline.starts[topic], offline.starts[topic + 1]):
        if state.alive[offline.members[at]] == 1:
            offline.live[size] = at
            size += 1
    return size


def _wrong(state: PolderState, ring: int, offline: OfflineRings, at: int, size: int) -> int:
    """Returns how many of the two links of the ring's live member `at` are wrong."""
    me, place = offline.members[offline.live[at]], offline.places[offline.live[at]]
    after, before = offline.members[offline.live[(at + 1) % size]], offline.members[offline.live[(at + size - 1) % size]]
    wrong = 0
    if rings.successor(state.slots, state.bays[me], ring, place) != after:
        wrong += 1
    if rings.predecessor(state.slots, state.bays[me], ring, place) != before:
        wrong += 1
    return wrong


def _note(offline: OfflineRings, event: SpreadState, topic: int, size: int, reached: int, publisher: int, counts: EventCounts) -> None:
    """Adds one event to the counts."""
    counts.wanted[topic] += size
    counts.reached[topic] += reached
    for at in range(reached):
        node = event.queue[STEP * at]
        counts.hops[topic] += event.hops[node]
        counts.copies[topic] += event.copies[node]
        counts.received[node] += event.copies[node]
        if node != publisher:
            counts.got[node] += 1
            counts.by_hops[min(event.hops[node], MOST_HOPS)] += 1
    if reached < size:
        for at in range(size):
            node = offline.members[offline.live[at]]
            if event.hops[node] < 0:
                counts.missed[node] += 1
