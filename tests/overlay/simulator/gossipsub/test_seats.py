"""Seats and meshes: who has one, and what stands in it."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol.gossip_scores import COUNTERS, FAILED, NOT_IN_MESH, ONE
from overlay.simulator.gossipsub.options import MESH_ROOM, GossipSubOptions, ScoreOptions
from overlay.simulator.gossipsub.seats import can_reach, enter_mesh, find_seat, is_active, leave_mesh, mesh_time, peer_of, take_seat
from overlay.simulator.gossipsub.state import NOW, SEATS
from overlay.simulator.pair_table import ABSENT
from tests.support.gossip_world import bond_of, mesh_of, one_topic, peers_of


def test_a_node_has_one_seat_for_a_topic_and_keeps_it() -> None:
    system = one_topic(5)
    state = system.state
    assert find_seat(state, 3, 1) == ABSENT
    seat = take_seat(state, 3, 1)
    assert (find_seat(state, 3, 1), state.seats.node[seat], state.seats.topic[seat]) == (seat, 3, 1)
    state.seats.is_on[seat] = 0
    assert take_seat(state, 3, 1) == seat
    assert state.seats.is_on[seat] == 1
    assert state.tallies[SEATS] == 6


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8)), max_size=30))
def test_a_mesh_is_a_set(steps: list[tuple[bool, int]]) -> None:
    system = one_topic(10, GossipSubOptions(dials=9))
    state, model = system.state, set[int]()
    for enters, place in steps:
        peer = peers_of(state, 0)[place]
        if enters and peer not in model:
            assert enter_mesh(state, bond_of(state, 0, peer))
            model.add(peer)
        elif not enters:
            leave_mesh(state, system.rules, bond_of(state, 0, peer))
            model.discard(peer)
    assert sorted(mesh_of(state, 0)) == sorted(model)


def test_a_mesh_is_bounded() -> None:
    system = one_topic(MESH_ROOM + 3, GossipSubOptions(dials=MESH_ROOM + 2))
    taken = [enter_mesh(system.state, bond_of(system.state, 0, peer)) for peer in range(1, MESH_ROOM + 3)]
    assert taken == [True] * MESH_ROOM + [False] * 2


def test_time_in_the_mesh_and_what_was_lacking_in_it_are_counted() -> None:
    system = one_topic(5, GossipSubOptions(scores=ScoreOptions(delivery_least=2.0, delivery_active_s=10.0)))
    state = system.state
    bond = bond_of(state, 0, peers_of(state, 0)[0])
    assert mesh_time(state, bond) == NOT_IN_MESH
    enter_mesh(state, bond)
    state.clock[NOW] += 11_000_000
    assert mesh_time(state, bond) == 11_000_000
    leave_mesh(state, system.rules, bond)
    assert state.bonds.counters[bond * COUNTERS + FAILED] == 4 * ONE
    leave_mesh(state, system.rules, bond)
    assert state.bonds.counters[bond * COUNTERS + FAILED] == 4 * ONE


def test_a_bond_is_active_while_both_are_connected_and_subscribe() -> None:
    system = one_topic(5)
    state = system.state
    peer = peers_of(state, 0)[0]
    bond = bond_of(state, 0, peer)
    assert peer_of(state, bond) == peer
    assert is_active(state, bond)
    state.seats.is_on[find_seat(state, peer, 0)] = 0
    assert not is_active(state, bond)


def test_the_dead_and_those_on_the_other_side_cannot_be_reached() -> None:
    state = one_topic(5).state
    assert can_reach(state, 0, 1)
    state.nodes.side[1] = 1
    assert not can_reach(state, 0, 1)
    state.nodes.alive[2] = 0
    assert not can_reach(state, 0, 2)
    assert not can_reach(state, 2, 0)
