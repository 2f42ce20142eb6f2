"""How nodes find peers: at the beginning, when they know too few, and when they come back."""

import numpy as np

from overlay.simulator.gossipsub.discovery import discover, is_connected, known
from overlay.simulator.gossipsub.options import GossipSubOptions
from overlay.simulator.gossipsub.seats import find_seat
from tests.support.gossip_world import link_of, one_topic, peers_of


def test_each_node_has_as_many_connections_as_it_dials_or_more() -> None:
    state = one_topic(60, GossipSubOptions(dials=5)).state
    for node in range(60):
        # Two that dial each other share a connection.
        assert len(peers_of(state, node)) >= 5
        assert known(state, find_seat(state, node, 0)) == len(peers_of(state, node))
    total = sum(len(peers_of(state, node)) for node in range(60))
    assert 520 <= total <= 600


def test_few_nodes_all_know_each_other() -> None:
    state = one_topic(5).state
    assert all(peers_of(state, node) == [each for each in range(5) if each != node] for node in range(5))


def test_who_asks_for_more_peers_gets_others() -> None:
    system = one_topic(60, GossipSubOptions(dials=5))
    state = system.state
    before = peers_of(state, 0)
    discover(state, system.rules, find_seat(state, 0, 0), 3)
    added = set(peers_of(state, 0)) - set(before)
    assert len(added) == 3
    assert all(is_connected(state, 0, each) and is_connected(state, each, 0) for each in added)


def test_a_node_that_comes_back_is_connected_anew() -> None:
    system = one_topic(30)
    system.run(3)
    dialled = [peer for peer in peers_of(system.state, 4) if system.state.links.dialled[link_of(system.state, 4, peer)]]
    system.leave([4])
    system.run(2)
    assert all(4 not in peers_of(system.state, node) for node in range(30) if node != 4)
    system.come([4])
    assert set(peers_of(system.state, 4)) >= set(dialled)
    assert all(4 in peers_of(system.state, peer) for peer in peers_of(system.state, 4))


def test_a_network_that_was_in_two_parts_grows_together() -> None:
    system = one_topic(40)
    system.run(3)
    system.divide((np.arange(40) % 2).astype(np.int8))
    system.run(3)
    assert all((peer - node) % 2 == 0 for node in range(40) for peer in peers_of(system.state, node))
    assert np.count_nonzero(system.publish(0, 6).hops >= 0) == 20
    system.divide(np.zeros(40, np.int8))
    system.run(10)
    assert any((peer - node) % 2 for node in range(40) for peer in peers_of(system.state, node))
    assert np.count_nonzero(system.publish(0, 6).hops >= 0) == 40
