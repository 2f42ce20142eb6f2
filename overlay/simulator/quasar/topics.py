"""An event of Quasar on each topic, one after the other. Compiled or interpreted."""

from ...protocol.buffer import Buffer
from ..agenda import has_lost
from ..event_counts import EventCounts, TopicMembers, draw_publisher, find_live, note_event
from ..system import NOT_REACHED
from .state import QuasarRules, QuasarState
from .walkers import Walkers
from .walks import spread


def publish_each(
    state: QuasarState,
    rules: QuasarRules,
    walkers: Walkers,
    of: TopicMembers,
    streams: Buffer,
    seed: int,
    first: int,
    now: int,
    marks: Buffer,
    hops: Buffer,
    copies: Buffer,
    arrival_us: Buffer,
    truth: Buffer,
    counts: EventCounts,
) -> None:
    """Publishes one event on each topic, by a random live subscriber, and adds what comes of them to `counts`.

    - `of`: the subscribers of all topics.
    - `streams`, `seed`, `first`: the event on topic t has the number `first + t`, of which `streams[0]` draws its publisher.
    - `marks`, `hops`, `copies`, `arrival_us`: room for what `spread` is told and tells of each node, as before any event. `truth` is empty.

    After an event whose messages found no room there is no other.
    """
    for topic in range(len(counts.wanted)):
        size = find_live(state.alive, of, topic)
        if size > 0:
            publisher = draw_publisher(streams, 0, seed, first + topic, of, size)
            mark(of, size, marks, 1)
            spread(state, rules, walkers, marks, topic, publisher, now, hops, copies, arrival_us, truth)
            note_event(counts, of, topic, size, publisher, hops, copies)
            mark(of, size, marks, 0)
            forget(hops, copies, arrival_us)
            if has_lost(walkers.agenda):
                return


def mark(of: TopicMembers, size: int, marks: Buffer, value: int) -> None:
    """Marks the `size` live subscribers that `find_live` has found."""
    for at in range(size):
        marks[of.members[of.live[at]]] = value


def forget(hops: Buffer, copies: Buffer, arrival_us: Buffer) -> None:
    """Makes room for the next event."""
    for node in range(len(hops)):
        hops[node] = arrival_us[node] = NOT_REACHED
        copies[node] = 0
