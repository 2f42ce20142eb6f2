"""Harm that is done to an overlay: nodes that die at once, networks that fall apart, interests that change, and nodes that misbehave.

What is drawn here depends on the seed alone. Drivers act on it.
"""

from enum import IntFlag
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.planning.instance import Rows

from .draws import Array, Draws, Stream
from .errors import OverlayError
from .workload import OverlayWorkload

# OV-5.
SHARES: Final = (0.1, 0.2, 0.3)


class Misdeed(IntFlag):
    """The wrongs that a node does, as bits of its flag; 0 is an honest node."""

    NONE = 0
    FREERIDES = 1
    """It gossips properly, and passes no event on."""
    OFFERS_ITSELF = 2
    """In gossip it sends its own profile in each place."""
    OFFERS_THE_DEAD = 4
    """In gossip it sends nodes that it knows to be dead, where it knows any."""
    LIES_ABOUT_AGES = 8
    """In gossip it says of each entry that it is fresh."""


LIES: Final = Misdeed.OFFERS_ITSELF | Misdeed.OFFERS_THE_DEAD | Misdeed.LIES_ABOUT_AGES


class Partition(NamedTuple):
    """A network in two parts, from cycle `first` to cycle `last`. A message between nodes of different `side` is lost."""

    first: int
    last: int
    side: NDArray[np.int8]

    def holds(self, cycle: int) -> bool:
        """Returns whether the network is apart in `cycle`."""
        return self.first <= cycle <= self.last


class NewInterests(NamedTuple):
    """The `nodes` that have new topics, and the `workload` from then on."""

    nodes: Array
    workload: OverlayWorkload


def deaths(present: Array, share: float, seed: int) -> Array:
    """Returns which of those `present` die at once, in rising order. Raises OverlayError for no share."""
    return _some(present, share, Draws(seed, Stream.DEATH))


def misdeeds(nodes: int, share: float, misdeed: Misdeed, seed: int) -> NDArray[np.int64]:
    """Returns a flag for each node: `misdeed` for a random share of them. A larger share has those of a smaller one, and others.

    Raises OverlayError for no share.
    """
    flags = np.zeros(nodes, np.int64)
    flags[_some(np.arange(nodes), share, Draws(seed, Stream.ROLES))] = int(misdeed)
    return flags


def partition(nodes: int, share: float, first: int, last: int, *, seed: int) -> Partition:
    """Returns a network of which a random `share` of the nodes is apart, from cycle `first` to cycle `last`. Raises OverlayError."""
    if not 0 <= first <= last:
        raise OverlayError(f"a partition from cycle {first} to cycle {last}: give the first cycle and a later one, from 0 on")
    side = np.zeros(nodes, np.int8)
    side[_some(np.arange(nodes), share, Draws(seed, Stream.PARTITION))] = 1
    return Partition(first, last, side)


def new_interests(workload: OverlayWorkload, share: float, seed: int) -> NewInterests:
    """Returns the workload in which a random share of the nodes have passed on their topics in a round, each to the next one.

    So each of them has the topics of another node, and every topic has as many subscribers as before. Raises OverlayError for no share, and
    for one that leaves fewer than two nodes.
    """
    draws = Draws(seed, Stream.INTERESTS)
    nodes = _some(np.arange(workload.nodes), share, draws)
    if len(nodes) < 2:
        raise OverlayError(f"new interests for {share:g} of {workload.nodes} nodes: two nodes or more must change; give a larger share")
    turned = draws.shuffled(nodes)
    source = np.arange(workload.nodes)
    source[turned] = np.roll(turned, 1)
    lengths = workload.topics_of.lengths[source]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    # The place of each value of the new rows in the old ones.
    place = np.arange(offsets[-1]) + np.repeat(workload.topics_of.offsets[source] - offsets[:-1], lengths)
    return NewInterests(nodes, OverlayWorkload(Rows(offsets, workload.topics_of.values[place]), workload.topics))


def _some(nodes: Array, share: float, draws: Draws) -> Array:
    if not 0 <= share <= 1:
        raise OverlayError(f"a share of {share:g}: give 0 to 1, such as 0.1 for a tenth of the nodes")
    return draws.some(nodes, round(share * len(nodes)))
