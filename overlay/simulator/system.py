"""The face that all simulated overlays have: for commands, for comparisons, and for the contract that every one of them is tested by."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..protocol.buffer import Buffer
from .event_counts import EventCounts
from .latency.latency import MessageLatency

NOT_REACHED = -1


@dataclass(frozen=True, eq=False)
class Dissemination:
    """The outcome of one event, as the simulator sees it and nobody in the overlay does.

    - `hops`: for each node, over how many nodes its first copy came; 0 for the publisher, NOT_REACHED for those without.
    - `copies`: for each node, how many copies it received, whether it wanted them or not.
    - `arrival_us`: for each node, when its first copy came, in microseconds after publishing; NOT_REACHED for those without. None where
      messages took no time.
    """

    topic: int
    publisher: int
    hops: NDArray[np.int32]
    copies: NDArray[np.int32]
    arrival_us: NDArray[np.int64] | None = None

    @property
    def messages(self) -> int:
        """How many copies were received by anybody."""
        return int(self.copies.sum())

    def missed(self, wanted: NDArray[np.int32]) -> NDArray[np.int32]:
        """Returns those of the nodes `wanted` that did not get it."""
        missed: NDArray[np.int32] = wanted[self.hops[wanted] == NOT_REACHED]
        return missed


class OverlaySystem(Protocol):
    """A simulated overlay. Nodes and topics are the numbers of its workload."""

    messages: Buffer
    """Messages received, by node and kind: `counters.KINDS` places for each node."""
    sizes: Buffer
    """The bytes of these messages."""

    def cycle(self) -> None:
        """Lets every live node act once, in random order."""

    def leave(self, nodes: Iterable[int]) -> None:
        """Takes nodes away, which tell nobody."""

    def come(self, nodes: Iterable[int]) -> None:
        """Brings nodes back, with what they remember."""

    def change_topics(self, node: int, topics: Iterable[int]) -> None:
        """Lets `node` subscribe to `topics` and to nothing else from now on."""

    def misbehave(self, flags: NDArray[np.int64]) -> None:
        """Lets each node do the wrongs of its flag from now on (`harm.Misdeed`)."""

    def divide(self, side: NDArray[np.int8]) -> None:
        """Parts the network: from now on no message passes between nodes of different sides. Equal sides make it whole again."""

    def publish(self, topic: int, publisher: int, latency: MessageLatency | None = None) -> Dissemination:
        """Disseminates one event in the overlay as it stands, while nothing else happens.

        `latency`: how long messages take; without it they arrive hop by hop.
        """

    def publish_each(self, rounds: int = 1) -> EventCounts:
        """Publishes `rounds` events on each topic, by random live subscribers, and returns what came of them all (arrays)."""
