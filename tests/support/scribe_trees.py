"""What the trees of a simulated Scribe look like, read from its seats one by one."""

from overlay.protocol.pastry import NOBODY
from overlay.simulator.scribe.overlay import ScribeOverlay
from overlay.simulator.scribe.routing import hop
from overlay.simulator.scribe.state import find_seat


def seats_of(system: ScribeOverlay, topic: int) -> dict[int, int]:
    """Returns the node above each live node that is in the tree of `topic`; the rendezvous is above itself."""
    found = {}
    for node in range(system.nodes):
        seat = find_seat(system.state, node, topic)
        if seat != NOBODY and system.state.in_tree[seat] and system.state.alive[node]:
            found[node] = int(system.state.parents[seat])
    return found


def root_of(system: ScribeOverlay, topic: int) -> int:
    """Returns the rendezvous of `topic`, of which there is one."""
    (root,) = (node for node, parent in seats_of(system, topic).items() if parent == node)
    return root


def way_up(system: ScribeOverlay, topic: int, node: int) -> list[int]:
    """Returns the nodes from `node` to the rendezvous, over which Pastry routes an event of its own."""
    way = [node]
    while (onward := int(hop(system.state, system.rules, way[-1], system.state.keys[topic]))) != way[-1]:
        way.append(onward)
    return way


def way_down(above: dict[int, int], node: int) -> list[int]:
    """Returns the nodes from the rendezvous to `node`, from what `seats_of` says."""
    way = [node]
    while above[way[-1]] != way[-1]:
        way.append(above[way[-1]])
    return way[::-1]
