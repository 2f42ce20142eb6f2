"""An event whose messages take time, in a PolderCast overlay that stands still meanwhile."""

from ...protocol.buffer import Buffer
from ...protocol.profile import NONE
from ..agenda import AT_US, RECEIVER, SENDER, EventAgenda, add, take
from ..latency.latency import one_way_us
from .options import PolderSettings, SpreadSettings
from .publishing import SpreadState, begin_at, pass_on, receive
from .state import PolderState, hears


def publish_timed(
    state: PolderState,
    settings: PolderSettings,
    how: SpreadSettings,
    event: SpreadState,
    agenda: EventAgenda,
    latency: tuple[Buffer, Buffer, Buffer, Buffer],
    arrival_us: Buffer,
    publisher: int,
    topic: int,
) -> int:
    """Lets an event spread, and notes when its first copy comes to each. Returns how many have it: they stand in the queue.

    - `agenda`: empty, with room for all copies.
    - `latency`: the four buffers of a `MessageLatency`.
    - `arrival_us`: by node, in microseconds after publishing.
    """
    reached = begin_at(event, publisher)
    arrival_us[publisher] = 0
    _send_on(state, agenda, latency, event, publisher, 0, pass_on(state, settings, how, event, publisher, NONE, topic))
    while take(agenda):
        node, sender, now_us = agenda.entry[RECEIVER], agenda.entry[SENDER], agenda.entry[AT_US]
        before, reached = reached, receive(state, event, sender, node, topic, reached)
        if reached > before:
            arrival_us[node] = now_us
            _send_on(state, agenda, latency, event, node, now_us, pass_on(state, settings, how, event, node, sender, topic))
    return reached


def _send_on(
    state: PolderState,
    agenda: EventAgenda,
    latency: tuple[Buffer, Buffer, Buffer, Buffer],
    event: SpreadState,
    node: int,
    now_us: int,
    total: int,
) -> None:
    """Adds the copies to those whom the node has chosen, as they will arrive."""
    settings, table_us, host_of, streams = latency
    for at in range(total):
        if hears(state, node, event.chosen[at]):
            took_us = one_way_us(settings, table_us, host_of, streams, node, event.chosen[at])
            add(agenda, now_us + took_us, 0, event.chosen[at], node, 0, 0)
