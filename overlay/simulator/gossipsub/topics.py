"""An event of GossipSub on each topic, one after the other. Compiled or interpreted."""

from ...protocol.buffer import Buffer
from ..event_counts import EventCounts, TopicMembers, draw_publisher, find_live, note_event
from .options import GossipSubRules
from .running import spread
from .state import NOBODY, GossipEvents, GossipSubState


def publish_each(
    state: GossipSubState, rules: GossipSubRules, of: TopicMembers, streams: Buffer, seed: int, first: int, counts: EventCounts
) -> None:
    """Publishes one event on each topic, by a random live subscriber, and adds what comes of them to `counts`.

    - `state`: with room for one event.
    - `of`: the subscribers of all topics.
    - `streams`, `seed`, `first`: the event on topic t has the number `first + t`, of which `streams[0]` draws its publisher.
    """
    for topic in range(len(counts.wanted)):
        size = find_live(state.nodes.alive, of, topic)
        if size > 0:
            publisher = draw_publisher(streams, 0, seed, first + topic, of, size)
            spread(state, rules, publisher, topic)
            note_event(counts, of, topic, size, publisher, state.events.hops, state.events.copies)
            forget_event(state.events)


def forget_event(events: GossipEvents) -> None:
    """Makes room for the next event."""
    for at in range(len(events.hops)):
        events.arrival_us[at] = events.hops[at] = NOBODY
        events.copies[at] = 0
