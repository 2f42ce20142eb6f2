"""The face that all simulated overlays have: for commands, for comparisons, and for the contract that every one of them is tested by."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..protocol.buffer import Buffer

NOT_REACHED = -1


@dataclass(frozen=True, eq=False)
class Dissemination:
    """The outcome of one event, as the simulator sees it and nobody in the overlay does.

    - `hops`: for each node, over how many nodes its first copy came; 0 for the publisher, NOT_REACHED for those without.
    - `copies`: for each node, how many copies it received, whether it wanted them or not.
    """

    topic: int
    publisher: int
    hops: NDArray[np.int32]
    copies: NDArray[np.int32]

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

    def publish(self, topic: int, publisher: int) -> Dissemination:
        """Disseminates one event in the overlay as it stands, while nothing else happens."""
