"""What views take from messages, and how a partner is forgotten."""

import pytest

from overlay.protocol.view import CELL, NODE, put
from overlay.simulator.compiled import INTERPRETED
from overlay.simulator.poldercast.messages import own
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.poldercast.state import CYCLON, RINGS, VICINITY
from overlay.simulator.poldercast.uptake import give_up, take_near, take_swap, take_up
from overlay.simulator.workload import OverlayWorkload
from tests.support.even_workload import even_workload
from tests.support.polder_world import view, views

NODES = 40


@pytest.fixture
def work() -> OverlayWorkload:
    """Nodes with three topics each."""
    return even_workload(nodes=NODES, topics=8, each=3, seed=2)


@pytest.fixture
def system(work: OverlayWorkload) -> PolderCastOverlay:
    """A small overlay after some cycles."""
    made = PolderCastOverlay(work, 2, execution=INTERPRETED)
    made.run(8)
    return made


@pytest.fixture
def newborn(work: OverlayWorkload) -> PolderCastOverlay:
    """The same nodes before their first cycle: only Cyclon knows anybody."""
    return PolderCastOverlay(work, 2, execution=INTERPRETED)


def neighbour(system: PolderCastOverlay, node: int) -> int:
    """Returns another subscriber of a topic of the node."""
    return next(other for topic in range(system.topics) if node in (found := system.members(topic)) for other in found if other != node)


def test_a_node_that_is_heard_of_goes_into_rings_where_it_shares_a_topic(newborn: PolderCastOverlay) -> None:
    state, other = newborn.state, neighbour(newborn, 0)
    shared = {node for topic in range(newborn.topics) if 0 in newborn.members(topic) for node in newborn.members(topic)}
    stranger = next(node for node in range(NODES) if node not in shared)
    for node, expected in ((stranger, []), (other, [other])):
        own(state, node, state.asked)
        take_up(state, newborn.settings, 0, node, state.asked, 1, RINGS)
        assert view(newborn, 0, RINGS) == expected


def test_vicinity_keeps_the_sender_and_nobody_twice_nor_itself(newborn: PolderCastOverlay) -> None:
    state, other = newborn.state, neighbour(newborn, 0)
    for _ in range(2):
        own(state, other, state.asked)
        put(state.asked, 1, 0, state.current[0], 3)
        take_near(state, newborn.settings, 0, other, state.asked, 2)
    assert view(newborn, 0, VICINITY).count(other) == 1
    assert 0 not in view(newborn, 0, VICINITY)


def test_cyclon_takes_new_nodes_for_those_that_it_sent(system: PolderCastOverlay) -> None:
    state, settings = system.state, system.settings
    known = view(system, 0, CYCLON)
    new = next(node for node in range(1, NODES) if node not in known)
    own(state, new, state.asked)
    put(state.answer, 0, known[0], state.current[known[0]], 0)
    take_swap(state, settings, 0, new, state.asked, 1, state.answer, 1)
    after = view(system, 0, CYCLON)
    assert new in after
    assert len(after) == min(settings.cyclon, len(known) + 1)
    assert set(known) - set(after) <= {known[0]}


def test_a_partner_that_does_not_answer_leaves_all_views_and_rings(system: PolderCastOverlay) -> None:
    """P2P-7: whom one module knows to be dead, the others do not keep."""
    state, settings = system.state, system.settings
    for node in range(NODES):
        gone = next(other for other in view(system, node, RINGS))
        give_up(state, settings, node, gone)
        assert gone not in set().union(*views(system, node))
        bays = range(state.bays[node], state.bays[node] + settings.ring * state.rooms[node])
        assert gone not in {state.slots[at] for at in bays}
        give_up(state, settings, node, gone)  # nobody there any more: nothing to do
        assert state.cells[state.homes[node] * CELL + NODE] != gone
