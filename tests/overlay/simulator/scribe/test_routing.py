"""Routes end at the node that is nearest to the key, also after deaths, and newcomers are found."""

import numpy as np

from overlay.protocol.chance import begin, wide
from overlay.protocol.ids import apart
from overlay.protocol.pastry import NOBODY
from overlay.simulator.compiled import numbers
from overlay.simulator.scribe.overlay import ScribeOverlay
from overlay.simulator.scribe.routing import hop
from tests.support.even_workload import even_workload

KEYS = 60


def overlay(nodes: int, seed: int = 3) -> ScribeOverlay:
    return ScribeOverlay(even_workload(nodes=nodes, topics=nodes // 4, each=3, seed=seed), seed)


def live(system: ScribeOverlay) -> list[int]:
    return [node for node, alive in enumerate(numbers(system.state.alive)) if alive]


def routes(system: ScribeOverlay) -> list[tuple[int, int, int]]:
    """Returns of some routes where they end, the node that is nearest to the key, and the number of hops."""
    ids, streams, found = numbers(system.state.ids), [0], []
    begin(streams, 0, 8, 0)
    nodes = live(system)
    for number in range(KEYS):
        key, here, hops = wide(streams, 0), nodes[number % len(nodes)], 0
        while (onward := int(hop(system.state, system.rules, here, key))) != here:
            here, hops = onward, hops + 1
            assert hops < 40
        found.append((here, min(nodes, key=lambda node: (apart(ids[node], key), ids[node])), hops))
    return found


def test_routes_end_at_the_nearest_node_in_few_hops() -> None:
    """P2P-33: about log16 of the nodes."""
    found = routes(overlay(600))
    assert all(end == nearest for end, nearest, _ in found)
    assert np.mean([hops for _, _, hops in found]) < 4


def test_routes_end_at_the_nearest_live_node_after_deaths() -> None:
    system = overlay(300)
    system.leave(range(0, 300, 3))
    for _ in range(3):
        system.cycle()
    assert all(end == nearest for end, nearest, _ in routes(system))
    leaves = numbers(system.state.leaves)
    width = system.settings.leaves
    for node in live(system):
        assert all(each == NOBODY or system.state.alive[each] for each in leaves[node * width : (node + 1) * width])


def test_a_newcomer_is_found_by_all() -> None:
    system = overlay(200)
    system.leave(range(40))
    for _ in range(3):
        system.cycle()
    system.come(range(40))
    for _ in range(2):
        system.cycle()
    assert all(end == nearest for end, nearest, _ in routes(system))


def test_nodes_know_few_others_however_many_there_are() -> None:
    """P2P-33: the mean degree grows as the logarithm, by about 15 entries of the table for 16 times the nodes."""
    known = []
    for nodes in (100, 1600):
        state = overlay(nodes).state
        table = np.asarray(state.table).reshape(nodes, -1)
        known.append(float((table != NOBODY).sum(1).mean()))
    assert 8 < known[1] - known[0] < 24
