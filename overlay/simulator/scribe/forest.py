"""What the trees of a simulated Scribe are like as a whole, seen from outside."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...protocol.pastry import NOBODY
from .overlay import ScribeOverlay
from .state import ScribeState

# No tree is so deep; whoever finds no rendezvous over so many nodes goes in a circle.
_DEEPEST: Final = 64
# A rendezvous that comes back takes its topics over again within so many cycles.
_SETTLING: Final = 3
_MOST_CYCLES: Final = 100


class Forest(NamedTuple):
    """All trees.

    - By topic: its `relays`, which are in the tree and do not subscribe, and the depth of its tree, -1 for a topic without one.
    - By node: the `seats`, the trees that it is in.
    - `roots`: how many nodes are rendezvous of topics, each counted for each. `stray`: seats from which no way leads up to a rendezvous.
    """

    relays: NDArray[np.int64]
    depths: NDArray[np.int64]
    seats: NDArray[np.int64]
    roots: int
    stray: int


def forest(state: ScribeState) -> Forest:
    """Returns what the trees are like now."""
    nodes, topics = len(state.ids), len(state.keys)
    keys, parents = _taken(state)
    node, topic = keys % nodes, keys // nodes
    is_root = parents == node
    above = np.searchsorted(keys, topic * nodes + parents)
    above = np.where(is_root, np.arange(len(keys)), np.minimum(above, len(keys) - 1))
    # A parent that has no seat itself leads nowhere.
    leads = is_root | (keys[above] == topic * nodes + parents)
    at, steps = np.arange(len(keys)), np.zeros(len(keys), np.int64)
    for _ in range(_DEEPEST):
        onward = ~is_root[at] & leads[at]
        steps[onward] += 1
        at = np.where(onward, above[at], at)
    depths = np.full(topics, -1, np.int64)
    np.maximum.at(depths, topic, steps)
    wants = np.isin(keys, _subscribed(state))
    return Forest(
        relays=np.bincount(topic[~wants], minlength=topics),
        depths=depths,
        seats=np.bincount(node, minlength=nodes),
        roots=int(is_root.sum()),
        stray=int((~is_root[at]).sum()),
    )


def outage(system: ScribeOverlay, topic: int) -> int:
    """Returns for how many cycles an event on `topic` does not reach everybody after its rendezvous has died (P2P-35).

    Afterwards the node is back, and rendezvous again.
    """
    nodes = system.nodes
    keys, parents = _taken(system.state)
    (root,) = (keys % nodes)[(keys // nodes == topic) & (parents == keys % nodes)].tolist()
    system.leave([root])
    members, cycles = np.array(system.members(topic), np.int32), 0
    while cycles < _MOST_CYCLES and len(members) and len(system.publish(topic, int(members[0])).missed(members)):
        system.cycle()
        cycles += 1
    system.come([root])
    for _ in range(_SETTLING):
        system.cycle()
    return cycles


def _taken(state: ScribeState) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the keys of the seats of live nodes that are in a tree, in rising order, and the parents there."""
    keys, in_tree = np.asarray(state.seat_keys, np.int64), np.asarray(state.in_tree) == 1
    found = np.flatnonzero((keys != NOBODY) & in_tree)
    found = found[np.asarray(state.alive)[keys[found] % len(state.ids)] == 1]
    found = found[np.argsort(keys[found])]
    return keys[found], np.asarray(state.parents, np.int64)[found]


def _subscribed(state: ScribeState) -> NDArray[np.int64]:
    """Returns the keys of all subscriptions."""
    firsts, counts = np.asarray(state.topic_firsts, np.int64), np.asarray(state.topic_counts, np.int64)
    node = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(node)) - np.repeat(np.cumsum(counts) - counts, counts)
    topic: NDArray[np.int64] = np.asarray(state.topics, np.int64)[firsts[node] + place]
    found: NDArray[np.int64] = topic * len(counts) + node
    return found
