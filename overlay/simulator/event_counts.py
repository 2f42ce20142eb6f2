"""The outcome of one event on each topic, for every system alike: who was to get it, who did, over how many hops, in how many copies."""

from typing import Final, NamedTuple

import numpy as np

from ..protocol.buffer import Buffer
from ..protocol.chance import begin, below
from .compiled import Execution

# Streams of events have numbers that no node and nothing else in the world has.
FIRST_EVENT: Final = 1 << 50
# Deliveries are counted by hops up to here; more count as so many.
MOST_HOPS: Final = 1023
# So many copies of one event are many: PC 6.4 tells of the nodes that get them.
MANY: Final = 4


class EventCounts(NamedTuple):
    """The outcome of one event on each topic.

    - By topic: live subscribers (`wanted`), who has it (`reached`), the sum of their `hops`, and the `copies` that they received.
    - By node: the events that it `got` from others, those of them that came in MANY copies or more (`crowded`), the copies that it
      `received` of all, and the events that it `missed`.
    - `by_hops`: how many deliveries took so many hops.
    """

    wanted: Buffer
    reached: Buffer
    hops: Buffer
    copies: Buffer
    got: Buffer
    crowded: Buffer
    received: Buffer
    missed: Buffer
    by_hops: Buffer


class TopicMembers(NamedTuple):
    """The subscribers of all topics, end to end: those of topic t begin at `starts[t]` and end at `starts[t + 1]`.

    `live`: room for the places in `members` of those who are there, of one topic.
    """

    members: Buffer
    starts: Buffer
    live: Buffer


def new_event_counts(nodes: int, topics: int, execution: Execution) -> EventCounts:
    """Returns counts of nothing."""
    return EventCounts(
        wanted=execution.filled(topics),
        reached=execution.filled(topics),
        hops=execution.filled(topics),
        copies=execution.filled(topics),
        got=execution.filled(nodes),
        crowded=execution.filled(nodes),
        received=execution.filled(nodes),
        missed=execution.filled(nodes),
        by_hops=execution.filled(MOST_HOPS + 1),
    )


def as_arrays(counts: EventCounts) -> EventCounts:
    """Returns the same counts as arrays of NumPy, whichever way they were counted."""
    return EventCounts(*(np.asarray(each) for each in counts))


def find_live(alive: Buffer, of: TopicMembers, topic: int) -> int:
    """Notes which subscribers of the topic are there, in the order of `members`. Returns how many those are."""
    size = 0
    for at in range(of.starts[topic], of.starts[topic + 1]):
        if alive[of.members[at]] == 1:
            of.live[size] = at
            size += 1
    return size


def draw_publisher(streams: Buffer, at: int, seed: int, number: int, of: TopicMembers, size: int) -> int:
    """Returns a random one of the `size` subscribers that `find_live` has found, who publishes the event with this number."""
    begin(streams, at, seed, FIRST_EVENT + number)
    return of.members[of.live[below(streams, at, size)]]


def note_reached(counts: EventCounts, topic: int, node: int, publisher: int, hops: int, copies: int) -> None:
    """Adds one subscriber that has the event on `topic` of `publisher`, after so many `hops` and in so many `copies`."""
    counts.reached[topic] += 1
    counts.hops[topic] += hops
    counts.copies[topic] += copies
    counts.received[node] += copies
    if node != publisher:
        counts.got[node] += 1
        counts.crowded[node] += copies >= MANY
        counts.by_hops[min(hops, MOST_HOPS)] += 1


def note_missed(counts: EventCounts, of: TopicMembers, size: int, hops: Buffer) -> None:
    """Adds those of the `size` live subscribers whose `hops` say that the event has not been there."""
    for at in range(size):
        node = of.members[of.live[at]]
        if hops[node] < 0:
            counts.missed[node] += 1


def note_event(counts: EventCounts, of: TopicMembers, topic: int, size: int, publisher: int, hops: Buffer, copies: Buffer) -> None:
    """Adds one event, of whose `size` live subscribers `hops` and `copies` tell, by node, what each has received."""
    counts.wanted[topic] += size
    for at in range(size):
        node = of.members[of.live[at]]
        if hops[node] >= 0:
            note_reached(counts, topic, node, publisher, hops[node], copies[node])
    note_missed(counts, of, size, hops)


def mean_hops(counts: EventCounts) -> float:
    """Returns over how many nodes a delivery went, in the mean; 0 without any."""
    return float(np.asarray(counts.hops).sum()) / max(1, int(np.asarray(counts.got).sum()))


def mean_copies(counts: EventCounts) -> float:
    """Returns in how many copies an event came to one who got it from others, in the mean; 0 without any."""
    return float(np.asarray(counts.received).sum()) / max(1, int(np.asarray(counts.got).sum()))


def crowded_share(counts: EventCounts) -> float:
    """Returns the share of deliveries in MANY copies or more; 0 without any."""
    return float(np.asarray(counts.crowded).sum()) / max(1, int(np.asarray(counts.got).sum()))


def missed_share(counts: EventCounts) -> float:
    """Returns the share of deliveries that were missed; 0 where nobody wanted anything."""
    missed, got = int(np.asarray(counts.missed).sum()), int(np.asarray(counts.got).sum())
    return missed / max(1, missed + got)
