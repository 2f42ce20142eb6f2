"""Connections: both ends know of them, and what was known of a peer outlives one that is lost."""

from overlay.protocol.gossip_scores import COUNTERS, FIRST, ONE
from overlay.simulator.compiled import INTERPRETED
from overlay.simulator.counters import CONTROL, KINDS
from overlay.simulator.gossipsub.links import dial, lose
from overlay.simulator.gossipsub.overlay import GossipSubOverlay
from overlay.simulator.gossipsub.seats import enter_mesh
from overlay.simulator.gossipsub.state import HELLO, LINKS, LOST, NO_ROOM, NOW
from tests.support.even_workload import even_workload
from tests.support.gossip_world import bond_of, link_of, mesh_of, one_topic, peers_of


def test_a_connection_has_two_ends_and_a_bond_for_each_topic_of_both() -> None:
    workload = even_workload(nodes=12, topics=5, each=3, seed=2)
    state = GossipSubOverlay(workload, 1, execution=INTERPRETED).state
    topics = [set(row) for row in workload.topics_of.lists()]
    for node in range(12):
        for peer in peers_of(state, node):
            link, twin = link_of(state, node, peer), link_of(state, peer, node)
            assert (state.links.twin[link], state.links.twin[twin]) == (twin, link)
            assert state.links.dialled[link] + state.links.dialled[twin] == 1
            for topic in topics[node] & topics[peer]:
                bond = bond_of(state, node, peer, topic)
                assert state.bonds.twin[bond] == bond_of(state, peer, node, topic)
                assert state.bonds.link[bond] == link
            assert topics[node] & topics[peer]


def test_who_is_connected_is_not_dialled_again_and_the_dead_are_not_reached() -> None:
    system = one_topic(10)
    state = system.state
    peer = peers_of(state, 0)[0]
    before = state.tallies[HELLO]
    assert dial(state, system.rules, 0, peer)
    assert state.tallies[HELLO] == before
    stranger = next((each for each in range(1, 10) if each not in peers_of(state, 0)), 9)
    lose(state, system.rules, link_of(state, 0, peer))
    system.leave([stranger, peer])
    assert not dial(state, system.rules, 0, peer)
    assert (state.tallies[HELLO], state.tallies[LOST]) == (before + 1, 1)


def test_a_handshake_tells_both_ends_topics() -> None:
    system = one_topic(10)
    state = system.state
    peer = peers_of(state, 0)[0]
    lose(state, system.rules, link_of(state, 0, peer))
    before = [system.messages[node * KINDS + CONTROL] for node in (0, peer)]
    assert dial(state, system.rules, 0, peer)
    assert [system.messages[node * KINDS + CONTROL] for node in (0, peer)] == [each + 1 for each in before]


def test_a_lost_peer_is_out_of_the_mesh_and_is_remembered_for_a_while() -> None:
    system = one_topic(10)
    state = system.state
    peer = peers_of(state, 0)[0]
    link, bond = link_of(state, 0, peer), bond_of(state, 0, peer)
    enter_mesh(state, bond)
    state.bonds.counters[bond * COUNTERS + FIRST] = 5 * ONE
    state.links.misbehaved[link] = ONE
    lose(state, system.rules, link)
    assert mesh_of(state, 0) == []
    assert peer not in peers_of(state, 0)
    dial(state, system.rules, 0, peer)
    assert (state.links.misbehaved[link], state.bonds.counters[bond * COUNTERS + FIRST]) == (ONE, 5 * ONE)
    lose(state, system.rules, link)
    state.clock[NOW] += system.rules.retain_us + 1
    dial(state, system.rules, 0, peer)
    assert (state.links.misbehaved[link], state.bonds.counters[bond * COUNTERS + FIRST]) == (0, 0)


def test_a_connection_that_finds_no_room_is_not_made_and_is_told() -> None:
    system = one_topic(40)
    state = system.state
    stranger = next(each for each in range(1, 40) if each not in peers_of(state, 0))
    used = state.tallies[LINKS]
    state.tallies[LINKS] = len(state.links.owner)
    assert not dial(state, system.rules, 0, stranger)
    assert state.tallies[NO_ROOM] == 1
    state.tallies[LINKS] = used
