"""Changed interests: who subscribes is in the mesh, who does no more is silent."""

import pytest

from overlay.simulator.counters import CONTROL, DUPLICATE, EVENT, KINDS, UNWANTED
from overlay.simulator.errors import OverlayError
from overlay.simulator.gossipsub.seats import find_seat
from overlay.simulator.gossipsub.state import GRAFT, PRUNE, TOPICS
from tests.support.gossip_world import bond_of, logged, mesh_of, one_topic, peers_of


def test_who_unsubscribes_tells_its_mesh_and_gets_no_event_any_more() -> None:
    system = one_topic(20)
    system.run(3)
    mesh, before = mesh_of(system.state, 4), len(logged(system.state))
    system.change_topics(4, [])
    assert mesh
    assert {receiver for _, kind, sender, receiver, *_ in logged(system.state)[before:] if (kind, sender) == (PRUNE, 4)} == set(mesh)
    assert all(4 not in mesh_of(system.state, node) for node in range(20))
    system.run(30)
    assert all(4 not in mesh_of(system.state, node) for node in range(20))
    events = [system.messages[4 * KINDS + kind] for kind in (EVENT, DUPLICATE, UNWANTED)]
    copies = system.publish(0, 7).copies
    assert copies[4] == 0
    assert [system.messages[4 * KINDS + kind] for kind in (EVENT, DUPLICATE, UNWANTED)] == events


def test_a_new_topic_has_a_mesh_at_once_and_peers_are_told() -> None:
    system = one_topic(20)
    system.run(3)
    for node in (1, 2, 3):
        system.change_topics(node, [0, 1])
    assert sorted(mesh_of(system.state, 3, 1)) == [1, 2]
    assert GRAFT in [kind for _, kind, *_ in logged(system.state)]
    assert system.sent[TOPICS] >= len(peers_of(system.state, 1))
    assert system.publish(1, 2).copies[[1, 3]].min() > 0


def test_who_subscribes_again_waits_for_the_end_of_the_backoff() -> None:
    system = one_topic(20)
    system.run(3)
    former = mesh_of(system.state, 4)
    system.change_topics(4, [])
    system.change_topics(4, [0])
    assert not set(mesh_of(system.state, 4)) & set(former)
    assert all(system.state.bonds.backoff_us[bond_of(system.state, 4, peer)] > 0 for peer in former)
    system.run(15)
    assert len(mesh_of(system.state, 4)) >= 4


def test_the_same_topics_again_change_nothing() -> None:
    system = one_topic(10)
    system.run(2)
    before = len(logged(system.state)), system.messages[3 * KINDS + CONTROL]
    system.change_topics(3, [0])
    assert (len(logged(system.state)), system.messages[3 * KINDS + CONTROL]) == before
    assert system.state.seats.is_on[find_seat(system.state, 3, 0)] == 1


def test_a_topic_that_is_none_is_refused() -> None:
    with pytest.raises(OverlayError, match="there are 2"):
        one_topic(5).change_topics(0, [2])
