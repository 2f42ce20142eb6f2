"""What a frozen PolderCast overlay is worth: which rings are complete, and what becomes of an event on each topic (PC 6)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...protocol import rings
from ...protocol.buffer import Buffer
from ...protocol.chance import begin, below
from ...protocol.view import CELL, NODE
from ..compiled import Execution
from ..counters import KINDS, UNWANTED
from ..event_counts import FIRST_EVENT, EventCounts, TopicMembers, find_live, note_missed, note_reached
from .options import PolderSettings, SpreadSettings
from .publishing import STEP, SpreadState, clear, publish
from .repairing import repair
from .state import CYCLON, EVENTS, MODULES, PolderState


class OfflineRings(NamedTuple):
    """The rings of all topics as they are to be: `of` has the members in the order of ids, `places` the topic's place in their profiles."""

    of: TopicMembers
    places: Buffer


class RingCounts(NamedTuple):
    """The links to ring neighbours: how many there are to be by topic (`wanted`), and those that are missing by topic and by node."""

    wanted: Buffer
    missing: Buffer
    missing_of: Buffer


def offline_rings(
    ids: NDArray[Any], node: NDArray[Any], topic: NDArray[Any], place: NDArray[Any], topics: int, execution: Execution
) -> OfflineRings:
    """Returns the rings of these subscriptions: of each its node, its topic, and the topic's place in the node's profile."""
    order = np.lexsort((ids[node], topic))
    starts = np.searchsorted(topic[order], np.arange(topics + 1))
    of = TopicMembers(
        members=execution.buffer(node[order], np.int32),
        starts=execution.buffer(starts),
        live=execution.filled(int(np.diff(starts).max())),
    )
    return OfflineRings(of=of, places=execution.buffer(place[order], np.int32))


def new_ring_counts(nodes: int, topics: int, execution: Execution) -> RingCounts:
    """Returns counts of nothing."""
    return RingCounts(execution.filled(topics), execution.filled(topics), execution.filled(nodes))


def count_links(state: PolderState, ring: int, offline: OfflineRings, counts: RingCounts) -> None:
    """Counts the links to ring neighbours, and those that do not lead to the live subscribers with the next higher and lower id yet.

    A topic with one live subscriber has no links.
    """
    for node in range(len(counts.missing_of)):
        counts.missing_of[node] = 0
    for topic in range(len(counts.wanted)):
        size = find_live(state.alive, offline.of, topic)
        counts.wanted[topic] = 2 * size if size > 1 else 0
        counts.missing[topic] = 0
        if size > 1:
            for at in range(size):
                wrong = _wrong(state, ring, offline, at, size)
                counts.missing[topic] += wrong
                counts.missing_of[offline.of.members[offline.of.live[at]]] += wrong


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
        size = find_live(state.alive, offline.of, topic)
        if size > 0:
            begin_event(state, seed, first + topic)
            publisher = offline.of.members[offline.of.live[below(state.streams, stream, size)]]
            reached = publish(state, settings, how, event, publisher, topic)
            reached = repair(state, settings, how.repairs, event, offline.of, size, topic, reached)
            _note(event, offline, topic, size, reached, publisher, counts)
            clear(event, reached)


def count_held(state: PolderState, settings: PolderSettings, marked: Buffer, held: Buffer) -> None:
    """Counts the entries in the views of live nodes that are not marked: for each module, all of them, and those of marked nodes.

    - `marked`: 1 or 0 for each node.
    - `held`: 2 numbers for each module.
    """
    for node in range(len(state.ids)):
        if state.alive[node] == 1 and marked[node] == 0:
            first = state.homes[node]
            for module in range(MODULES):
                for at in range(first, first + state.counts[node * MODULES + module]):
                    held[2 * module] += 1
                    held[2 * module + 1] += marked[state.cells[at * CELL + NODE]]
                first += settings.cyclon if module == CYCLON else settings.vicinity


def unwanted(state: PolderState) -> int:
    """Returns how many events nodes have received without having subscribed."""
    total = 0
    for node in range(len(state.ids)):
        total += state.messages[node * KINDS + UNWANTED]
    return total


def _wrong(state: PolderState, ring: int, offline: OfflineRings, at: int, size: int) -> int:
    """Returns how many of the two links of the ring's live member `at` are wrong."""
    me, place = offline.of.members[offline.of.live[at]], offline.places[offline.of.live[at]]
    after, before = offline.of.members[offline.of.live[(at + 1) % size]], offline.of.members[offline.of.live[(at + size - 1) % size]]
    wrong = 0
    if rings.successor(state.slots, state.bays[me], ring, place) != after:
        wrong += 1
    if rings.predecessor(state.slots, state.bays[me], ring, place) != before:
        wrong += 1
    return wrong


def _note(event: SpreadState, offline: OfflineRings, topic: int, size: int, reached: int, publisher: int, counts: EventCounts) -> None:
    """Adds one event to the counts."""
    counts.wanted[topic] += size
    for at in range(reached):
        node = event.queue[STEP * at]
        note_reached(counts, topic, node, publisher, event.hops[node], event.copies[node])
    if reached < size:
        note_missed(counts, offline.of, size, event.hops)
