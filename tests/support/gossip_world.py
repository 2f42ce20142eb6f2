"""Small overlays of GossipSub at hand, interpreted, and what stands in their buffers."""

import numpy as np

from overlay.simulator.compiled import INTERPRETED
from overlay.simulator.gossipsub.links import find_bond
from overlay.simulator.gossipsub.options import MESH_ROOM, GossipSubOptions
from overlay.simulator.gossipsub.overlay import GossipSubOverlay
from overlay.simulator.gossipsub.running import drain
from overlay.simulator.gossipsub.seats import find_seat
from overlay.simulator.gossipsub.sending import LOGGED_PARTS
from overlay.simulator.gossipsub.state import LOGGED, NOBODY, NOW, GossipSubState
from overlay.simulator.pair_table import find_pair
from overlay.simulator.workload import workload

LOGS = LOGGED_PARTS * 100_000


def one_topic(nodes: int, options: GossipSubOptions | None = None, *, seed: int = 1) -> GossipSubOverlay:
    """Returns nodes that all subscribe to topic 0, of two topics, and are connected."""
    of = workload(np.arange(nodes), np.zeros(nodes, np.int64), topics=2)
    return GossipSubOverlay(of, seed, options or GossipSubOptions(), execution=INTERPRETED, logs=LOGS)


def link_of(state: GossipSubState, node: int, other: int) -> int:
    """Returns the link of `node` to `other`."""
    return find_pair(state.links.table, node * len(state.nodes.alive) + other)


def bond_of(state: GossipSubState, node: int, other: int, topic: int = 0) -> int:
    """Returns the bond of `node` with `other`."""
    return find_bond(state, find_seat(state, node, topic), link_of(state, node, other))


def peers_of(state: GossipSubState, node: int) -> list[int]:
    """Returns whom `node` is connected to."""
    found, link = [], state.nodes.first_link[node]
    while link != NOBODY:
        if state.links.is_up[link]:
            found.append(state.links.peer[link])
        link = state.links.following[link]
    return sorted(found)


def mesh_of(state: GossipSubState, node: int, topic: int = 0) -> list[int]:
    """Returns the mesh of `node`."""
    seat = find_seat(state, node, topic)
    bonds = [state.seats.mesh[seat * MESH_ROOM + place] for place in range(state.seats.size[seat])]
    return [state.links.peer[state.bonds.link[bond]] for bond in bonds]


def logged(state: GossipSubState) -> list[tuple[int, ...]]:
    """Returns the messages sent so far: when, kind, sender, receiver, item, detail."""
    end = state.tallies[LOGGED]
    return [tuple(state.log[at + part] for part in range(LOGGED_PARTS)) for at in range(0, end, LOGGED_PARTS)]


def settle(system: GossipSubOverlay) -> None:
    """Lets all messages arrive that are under way."""
    drain(system.state, system.rules, system.state.clock[NOW])
