"""Degrees, against a plain walk through what nodes hold."""

import numpy as np
import pytest

from overlay.protocol.pastry import NOBODY
from overlay.simulator.compiled import numbers
from overlay.simulator.degrees import degrees
from overlay.simulator.gossipsub.overlay import GossipSubOverlay
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.quasar.overlay import QuasarOverlay
from overlay.simulator.scribe.overlay import ScribeOverlay
from overlay.simulator.systems import SYSTEMS, new_system
from tests.support.even_workload import even_workload
from tests.support.polder_world import views
from tests.support.scribe_trees import seats_of

NODES, TOPICS = 60, 10
WORKLOAD = even_workload(nodes=NODES, topics=TOPICS, each=3, seed=1)


def test_poldercast_keeps_up_with_everybody_in_its_three_views() -> None:
    system = PolderCastOverlay(WORKLOAD, 1)
    system.run(5)
    assert degrees(system, NODES).tolist() == [len({each for view in views(system, node) for each in view}) for node in range(NODES)]


def test_scribe_keeps_up_with_its_leaves_its_table_and_its_trees() -> None:
    system = ScribeOverlay(WORKLOAD, 1)
    known = [set[int]() for _ in range(NODES)]
    for held in (system.state.leaves, system.state.table):
        for node, row in enumerate(np.asarray(held).reshape(NODES, -1).tolist()):
            known[node] |= set(row)
    for topic in range(TOPICS):
        for node, parent in seats_of(system, topic).items():
            known[node].add(parent)
            known[parent].add(node)
    assert degrees(system, NODES).tolist() == [len(others - {node, NOBODY}) for node, others in enumerate(known)]


def test_quasar_keeps_up_with_its_neighbours() -> None:
    system = QuasarOverlay(WORKLOAD, 1)
    assert degrees(system, NODES).tolist() == np.diff(np.asarray(system.graph.offsets)).tolist()


def test_gossipsub_keeps_up_with_those_whom_it_is_connected_to() -> None:
    system = GossipSubOverlay(WORKLOAD, 1)
    links, known = system.state.links, [set[int]() for _ in range(NODES)]
    for owner, peer, is_up in zip(numbers(links.owner), numbers(links.peer), numbers(links.is_up), strict=True):
        if is_up:
            known[owner].add(peer)
    assert all(node in known[other] for node, others in enumerate(known) for other in others)
    assert degrees(system, NODES).tolist() == [len(others) for others in known]


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_has_degrees(name: str) -> None:
    found = degrees(new_system(name, WORKLOAD, 1), NODES)
    assert len(found) == NODES
    assert 0 < found.max() < NODES
