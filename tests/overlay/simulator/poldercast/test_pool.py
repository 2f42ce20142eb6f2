"""The pool of a step: everybody whom a node knows, once."""

import pytest

from overlay.protocol.view import CELL, NODE
from overlay.simulator.compiled import INTERPRETED, numbers
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.poldercast.pool import FRESH, nearest, union, view, without
from overlay.simulator.poldercast.state import CYCLON, MODULES, RINGS, VICINITY
from tests.support.even_workload import even_workload
from tests.support.polder_world import views

NODES = 40


@pytest.fixture(scope="module")
def system() -> PolderCastOverlay:
    """A small overlay after some cycles."""
    made = PolderCastOverlay(even_workload(nodes=NODES, topics=8, each=3, seed=2), 2, execution=INTERPRETED)
    made.run(6)
    return made


def known(system: PolderCastOverlay, size: int) -> list[int]:
    """Returns the nodes in the pool."""
    return [system.state.pool[at * CELL + NODE] for at in range(size)]


@pytest.mark.parametrize("module", [CYCLON, VICINITY, RINGS])
def test_the_union_has_everybody_in_the_views_once(system: PolderCastOverlay, module: int) -> None:
    for node in range(NODES):
        found = known(system, union(system.state, system.settings, node, module))
        assert sorted(found) == sorted(set().union(*views(system, node)))
        first, size = view(system.state, system.settings, node, module)
        assert found[:size] == [system.state.cells[(first + at) * CELL + NODE] for at in range(size)] == views(system, node)[module]


def test_a_node_can_be_taken_out(system: PolderCastOverlay) -> None:
    size = union(system.state, system.settings, 0, CYCLON)
    before = known(system, size)
    left = without(system.state, size, before[0])
    assert set(known(system, left)) == set(before[1:])
    assert without(system.state, left, before[0]) == left


def test_the_nearest_share_topics_and_the_nearest_of_all_come_first(system: PolderCastOverlay) -> None:
    state = system.state
    topics: list[set[int]] = [set() for _ in range(NODES)]
    for topic in range(system.topics):
        for node in system.members(topic):
            topics[node].add(topic)
    state = state._replace(priorities=INTERPRETED.filled(len(state.priorities), 4))
    for node in range(NODES):
        size = union(state, system.settings, node, VICINITY)
        found = nearest(state, system.settings, node, size, state.current[node], FRESH, 5)
        pool = known(system, size)
        # Where all priorities are the same, the number of topics that they share decides.
        shared = [len(topics[node] & topics[pool[state.picks[at]]]) for at in range(found)]
        assert shared == sorted((len(topics[node] & topics[other]) for other in pool), reverse=True)[:5]
        assert not any(numbers(state.marks))
        assert state.counts[node * MODULES + VICINITY] <= system.settings.vicinity
