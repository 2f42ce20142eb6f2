"""Messages of PolderCast's modules: their entries, their bytes, and whether they arrive."""

import pytest

from overlay.protocol.view import CELL, NODE, ROW, SINCE
from overlay.simulator.compiled import INTERPRETED, numbers
from overlay.simulator.counters import CONTROL, KINDS
from overlay.simulator.poldercast.messages import around, nearest_to, own, send
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.poldercast.pool import FRESH
from overlay.simulator.poldercast.state import CYCLON, RINGS, VICINITY
from overlay.simulator.sizes import ADDRESS, AGE, HEADER, ID, PRIORITY, TOPIC
from tests.support.even_workload import even_workload
from tests.support.polder_world import logged, views


@pytest.fixture
def system() -> PolderCastOverlay:
    """A small overlay after some cycles, with an empty log."""
    made = PolderCastOverlay(even_workload(nodes=30, topics=6, each=3, seed=2), 2, execution=INTERPRETED)
    made.run(4)
    made.state = made.state._replace(log=INTERPRETED.filled(1000))
    return made


def entries(system: PolderCastOverlay, found: int) -> list[int]:
    """Returns the nodes in the message that was written."""
    return [system.state.asked[at * CELL + NODE] for at in range(found)]


def test_vicinitys_message_has_the_sender_first_and_never_the_receiver(system: PolderCastOverlay) -> None:
    """P2P-3."""
    state, settings = system.state, system.settings
    target = views(system, 3)[VICINITY][0]
    found = nearest_to(state, settings, 3, target, state.current[target], FRESH, state.asked)
    told = entries(system, found)
    assert told[0] == 3
    assert 1 < found <= 1 + settings.vicinity_gossip
    assert len(set(told)) == found
    assert set(told[1:]) <= set().union(*views(system, 3)) - {target}
    assert all(state.asked[at * CELL + SINCE] >= 0 for at in range(found))


def test_rings_message_has_nodes_that_share_a_topic_with_the_receiver(system: PolderCastOverlay) -> None:
    state, settings = system.state, system.settings
    target = views(system, 3)[RINGS][0]
    found = around(state, settings, 3, target, state.current[target], state.asked)
    told = entries(system, found)
    neighbours = {node for topic in range(system.topics) if target in system.members(topic) for node in system.members(topic)}
    assert told[0] == 3
    assert 1 < found <= 1 + settings.ring_gossip
    assert set(told[1:]) <= neighbours - {target}


def test_a_message_is_counted_where_it_arrives_and_noted(system: PolderCastOverlay) -> None:
    state = system.state
    before, weighed, sent = state.messages[7 * KINDS + CONTROL], state.sizes[7 * KINDS + CONTROL], state.sent[3]
    own(state, 3, state.asked)
    assert (state.asked[NODE], state.asked[ROW], state.asked[SINCE]) == (3, state.current[3], 0)
    assert send(state, CYCLON, 3, 7, state.asked, 1)
    assert state.messages[7 * KINDS + CONTROL] == before + 1
    assert state.sizes[7 * KINDS + CONTROL] == weighed + HEADER + ADDRESS + ID + AGE + 3 * (TOPIC + PRIORITY)
    assert state.sent[3] == sent + 1
    assert [tuple(each) for each in logged(system)] == [(CYCLON, 3, 7, [(3, 0)])]


def test_a_message_to_somebody_who_is_away_is_sent_and_does_not_arrive(system: PolderCastOverlay) -> None:
    system.leave([7])
    state = system.state
    own(state, 3, state.asked)
    before, sent = numbers(state.messages), state.sent[3]
    assert not send(state, CYCLON, 3, 7, state.asked, 1)
    assert numbers(state.messages) == before
    assert state.sent[3] == sent + 1
