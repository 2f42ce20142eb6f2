"""Room: how much windows and links have place for. In some lives that is little, and what is in their way is lost, or waits."""

import random
from typing import Final, NamedTuple

import msgspec

from aggregator.options import AggregatorOptions
from broker.options import BrokerOptions
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.runtime.link import MAX_QUEUED_BYTES
from segue.cluster.role_spec import RoleOptions

from .transport import BUFFER_BYTES


class Room(NamedTuple):
    """The room that windows and links have.

    - `events`: so many are kept of one topic. `window_bytes`: so much the window of a broker takes.
    - `broker_bytes`, `aggregator_bytes`: beyond that a link is full, on which a broker or an aggregator sends.
    - `buffer_bytes`: so much is in the buffers of machines besides.
    """

    events: int = WindowBounds().events
    window_bytes: int = 64 << 20
    broker_bytes: int = MAX_QUEUED_BYTES
    aggregator_bytes: int = MAX_QUEUED_BYTES
    buffer_bytes: int = BUFFER_BYTES

    @property
    def keeps_all(self) -> bool:
        """Whether windows have room for all that somebody may miss of few topics."""
        return self[:2] == ENOUGH[:2]

    @property
    def has_full_links(self) -> bool:
        """Whether links of brokers may be full, so that what is recorded waits in the window."""
        return self.broker_bytes < ENOUGH.broker_bytes

    @property
    def gaps(self) -> frozenset[str]:
        """The reasons for which those who are there may miss something though nothing has gone wrong."""
        waits_in_vain = ["expired"] if self.has_full_links and not self.keeps_all else []
        is_dropped = ["too-much"] if self.aggregator_bytes < ENOUGH.aggregator_bytes else []
        return frozenset(waits_in_vain + is_dropped)

    @property
    def losses(self) -> frozenset[str]:
        """The reasons for which those who come back may.

        What has gone for want of memory does not go on to the next owner, either. And where links are full, moves of topics take long.
        """
        has_gone = ["evicted", "owner-lost"] if self.window_bytes < ENOUGH.window_bytes else []
        comes_late = ["late"] if self.has_full_links else []
        return self.gaps.union(has_gone, comes_late)

    def limited(self, options: RoleOptions) -> RoleOptions:
        """Returns `options` with these bounds. No role would take them from a file: an event with the largest payload has no room."""
        if isinstance(options, BrokerOptions):
            window = {kind: msgspec.structs.replace(bounds, events=self.events) for kind, bounds in options.window.items()}
            return msgspec.structs.replace(options, window=window, window_bytes=self.window_bytes, max_link_queue_bytes=self.broker_bytes)
        if isinstance(options, AggregatorOptions):
            return msgspec.structs.replace(options, max_link_queue_bytes=self.aggregator_bytes)
        return options

    def exceeded(self, window: EventWindow, copies_bytes: int) -> str:
        """Returns what of a broker takes more than it may (DPS-2): its window, or what it keeps for others; empty if nothing does."""
        if len(window) and window.used_bytes > self.window_bytes:
            return f"the window takes {window.used_bytes} bytes"
        return f"copies for others take {copies_bytes} bytes" if copies_bytes > self.window_bytes else ""


ENOUGH: Final = Room()
# So many of all lives have little room for something.
LITTLE_SHARE: Final = 0.25
FEW_EVENTS: Final = (ENOUGH.events, 3, 10)
LITTLE_MEMORY: Final = (ENOUGH.window_bytes, 3_000, 12_000)
# For links of brokers, for those of aggregators, and in the buffers of machines.
LINKS: Final = (ENOUGH[2:], (600, ENOUGH.aggregator_bytes, 1_000), (3_000, ENOUGH.aggregator_bytes, 1_000), (600, 600, 1_000))


def drawn_room(rng: random.Random) -> Room:
    """Returns how much room there is in one life."""
    if rng.random() >= LITTLE_SHARE:
        return ENOUGH
    return Room(rng.choice(FEW_EVENTS), rng.choice(LITTLE_MEMORY), *rng.choice(LINKS))
