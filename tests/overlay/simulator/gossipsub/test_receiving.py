"""What a GossipSub node does with each kind of message."""

import numpy as np
import pytest

from overlay.protocol.gossip_scores import COUNTERS, DELIVERED, FIRST, INVALID, ONE
from overlay.simulator.counters import CONTROL, DUPLICATE, EVENT, KINDS, UNWANTED
from overlay.simulator.gossipsub.options import GossipSubOptions, Version
from overlay.simulator.gossipsub.overlay import GossipSubOverlay
from overlay.simulator.gossipsub.seats import enter_mesh, find_seat
from overlay.simulator.gossipsub.sending import HOP_BITS, MASK_BITS, send, send_over
from overlay.simulator.gossipsub.state import COPY, GRAFT, IHAVE, IWANT, LOST, PROMISE, PRUNE
from overlay.simulator.harm import Misdeed
from tests.support.gossip_world import bond_of, link_of, logged, mesh_of, one_topic, peers_of, settle

SECOND = 1_000_000


def pair(version: Version = "v1.1", nodes: int = 12) -> tuple[GossipSubOverlay, int, int]:
    """Returns an overlay without meshes, a node, and a peer of it."""
    system = one_topic(nodes, GossipSubOptions(version=version))
    return system, 0, peers_of(system.state, 0)[0]


def copy(system: GossipSubOverlay, sender: int, receiver: int, hops: int = 1) -> None:
    """Lets `receiver` receive event 0 from `sender`."""
    send(system.state, COPY, sender, receiver, 0, (bond_of(system.state, receiver, sender) << HOP_BITS) | hops)
    settle(system)


def received(system: GossipSubOverlay, node: int, kind: int) -> int:
    return system.messages[node * KINDS + kind]


@pytest.mark.parametrize("version", ["v1.0", "v1.1"])
def test_a_graft_makes_both_members_of_each_others_mesh(version: Version) -> None:
    system, node, peer = pair(version)
    enter_mesh(system.state, bond_of(system.state, node, peer))
    send_over(system.state, GRAFT, bond_of(system.state, node, peer), 0)
    settle(system)
    assert mesh_of(system.state, peer) == [node]
    assert received(system, peer, CONTROL) > 0


def test_a_graft_within_the_backoff_is_refused_extends_it_and_is_a_misdeed() -> None:
    system, node, peer = pair()
    state = system.state
    theirs = bond_of(state, peer, node)
    state.bonds.backoff_us[theirs] = 1
    send_over(state, GRAFT, bond_of(state, node, peer), 0)
    settle(system)
    assert mesh_of(state, peer) == []
    assert state.links.misbehaved[link_of(state, peer, node)] == ONE
    assert state.bonds.backoff_us[theirs] == state.bonds.backoff_us[bond_of(state, node, peer)] == 60 * SECOND
    assert logged(state)[-1][1:4] == (PRUNE, peer, node)


@pytest.mark.parametrize(("version", "answers"), [("v1.0", 1), ("v1.1", 0)])
def test_a_graft_for_a_topic_that_is_not_subscribed_to_is_answered_by_v1_0_only(version: Version, answers: int) -> None:
    system, node, peer = pair(version)
    state = system.state
    state.seats.is_on[find_seat(state, peer, 0)] = 0
    send_over(state, GRAFT, bond_of(state, node, peer), 0)
    settle(system)
    assert [kind for _, kind, *_ in logged(state)].count(PRUNE) == answers
    assert mesh_of(state, peer) == []


def test_a_graft_into_a_full_mesh_is_refused_unless_the_node_had_dialled_the_peer() -> None:
    system = one_topic(40, GossipSubOptions(dials=10))
    state, node = system.state, 0
    peers = peers_of(state, node)
    for peer in peers[:12]:
        enter_mesh(state, bond_of(state, node, peer))
    for peer, dialled in ((peers[12], 0), (peers[13], 1)):
        state.links.dialled[link_of(state, node, peer)] = dialled
        send_over(state, GRAFT, bond_of(state, peer, node), 0)
        settle(system)
        assert (peer in mesh_of(state, node)) is bool(dialled)


def test_a_prune_that_refuses_offers_peers_and_the_node_connects_to_them() -> None:
    system = one_topic(40)
    state, node = system.state, 0
    peer = peers_of(state, node)[0]
    before = peers_of(state, node)
    send_over(state, PRUNE, bond_of(state, peer, node), 12345 << 1)
    settle(system)
    added = set(peers_of(state, node)) - set(before)
    assert added
    assert added <= set(peers_of(state, peer))
    assert len(added) <= 16


@pytest.mark.parametrize("misdeed", [Misdeed.OFFERS_ITSELF, Misdeed.OFFERS_THE_DEAD])
def test_who_lies_about_peers_gives_nobody_a_connection(misdeed: Misdeed) -> None:
    system = one_topic(40)
    state, node = system.state, 0
    peer = peers_of(state, node)[0]
    gone = peers_of(state, peer)[-1]
    system.leave([gone])
    system.cycle()
    before = peers_of(state, node)
    flags = np.zeros(40, np.int64)
    flags[peer] = int(misdeed)
    system.misbehave(flags)
    send_over(state, PRUNE, bond_of(state, peer, node), 12345 << 1)
    settle(system)
    assert peers_of(state, node) == before


def test_the_first_copy_is_delivered_and_goes_on_and_later_ones_are_duplicates() -> None:
    system, node, peer = pair()
    state = system.state
    others = [each for each in peers_of(state, node) if each != peer][:3]
    for each in (peer, *others):
        enter_mesh(state, bond_of(state, node, each))
    state.events.publisher[0] = others[0]
    copy(system, peer, node)
    assert state.events.arrival_us[node] == 0
    assert state.events.hops[node] == 1
    # Neither back nor to the publisher.
    assert sorted(receiver for _, kind, sender, receiver, *_ in logged(state) if (kind, sender) == (COPY, node)) == sorted(others[1:])
    at = bond_of(state, node, peer) * COUNTERS
    assert (state.bonds.counters[at + FIRST], state.bonds.counters[at + DELIVERED]) == (ONE, ONE)
    copy(system, others[1], node, 5)
    assert state.events.hops[node] == 1
    assert [received(system, node, kind) for kind in (EVENT, DUPLICATE, UNWANTED)] == [1, 1, 0]
    near = bond_of(state, node, others[1]) * COUNTERS
    assert (state.bonds.counters[near + FIRST], state.bonds.counters[near + DELIVERED]) == (0, ONE)


def test_a_copy_of_an_unwanted_topic_goes_nowhere() -> None:
    system, node, peer = pair()
    state = system.state
    enter_mesh(state, bond_of(state, node, peer))
    state.seats.is_on[find_seat(state, node, 0)] = 0
    copy(system, peer, node)
    assert received(system, node, UNWANTED) == 1
    assert state.events.arrival_us[node] == -1


def test_an_invalid_event_is_not_passed_on_and_costs_its_bringer() -> None:
    system, node, peer = pair()
    state = system.state
    for each in peers_of(state, node):
        enter_mesh(state, bond_of(state, node, each))
    state.events.is_valid[0] = 0
    copy(system, peer, node)
    copy(system, peer, node)
    assert state.bonds.counters[bond_of(state, node, peer) * COUNTERS + INVALID] == 2 * ONE
    assert [kind for _, kind, sender, *_ in logged(state) if sender == node].count(COPY) == 0


def test_a_graylisted_peer_is_not_listened_to() -> None:
    system, node, peer = pair()
    state = system.state
    state.links.score[link_of(state, node, peer)] = -81 * SECOND
    copy(system, peer, node)
    send_over(state, GRAFT, bond_of(state, peer, node), 0)
    settle(system)
    assert state.events.arrival_us[node] == -1
    assert mesh_of(state, node) == []


def test_what_is_told_and_not_seen_is_asked_for_and_sent() -> None:
    system, node, peer = pair()
    state = system.state
    copy(system, next(each for each in peers_of(state, peer) if each != node), peer)
    send_over(state, IHAVE, bond_of(state, peer, node), 1)
    settle(system)
    assert state.events.arrival_us[node] == 0
    kinds = [kind for _, kind, *_ in logged(state)]
    assert kinds.count(IWANT) == 1
    send_over(state, IHAVE, bond_of(state, peer, node), 1)
    settle(system)
    assert [kind for _, kind, *_ in logged(state)].count(IWANT) == 1


@pytest.mark.parametrize("score", [-11, 0])
def test_gossip_of_a_peer_below_the_threshold_is_ignored(score: int) -> None:
    system, node, peer = pair()
    state = system.state
    copy(system, next(each for each in peers_of(state, peer) if each != node), peer)
    state.links.score[link_of(state, node, peer)] = score * SECOND
    send_over(state, IHAVE, bond_of(state, peer, node), 1)
    settle(system)
    assert (state.events.arrival_us[node] == 0) is (score == 0)


def test_more_ihaves_than_are_allowed_in_a_heartbeat_are_ignored() -> None:
    system = one_topic(12, GossipSubOptions(most_ihaves=2, patience=1))
    state, node = system.state, 0
    peer = peers_of(state, node)[0]
    system.misbehave(np.full(12, int(Misdeed.FREERIDES)))
    copy(system, next(each for each in peers_of(state, peer) if each != node), peer)
    for _ in range(4):
        send_over(state, IHAVE, bond_of(state, peer, node), 1)
    settle(system)
    assert [kind for _, kind, *_ in logged(state)].count(IWANT) == 2


@pytest.mark.parametrize(("keeps_it", "misbehaved"), [(True, 0), (False, ONE)])
def test_a_promise_that_is_broken_is_a_misdeed(keeps_it: bool, misbehaved: int) -> None:
    system, node, peer = pair()
    state = system.state
    copy(system, next(each for each in peers_of(state, peer) if each != node), peer)
    if not keeps_it:
        flags = np.zeros(12, np.int64)
        flags[peer] = int(Misdeed.FREERIDES)
        system.misbehave(flags)
    send_over(state, IHAVE, bond_of(state, peer, node), 1)
    settle(system)
    state.clock[0] += 3 * SECOND
    settle(system)
    assert state.links.misbehaved[link_of(state, node, peer)] == misbehaved
    assert PROMISE not in [kind for _, kind, *_ in logged(state)]


def test_events_that_do_not_exist_are_promises_that_are_broken() -> None:
    system = one_topic(20)
    flags = np.zeros(20, np.int64)
    flags[4] = int(Misdeed.LIES_ABOUT_AGES)
    system.misbehave(flags)
    system.run(8)
    state = system.state
    told = {receiver for _, kind, sender, receiver, *_ in logged(state) if kind == IHAVE and sender == 4}
    assert told
    assert all(state.links.misbehaved[link_of(state, node, 4)] > 0 for node in told if node in peers_of(state, 4))


def test_only_so_many_events_are_sent_to_who_asks() -> None:
    system = one_topic(12, GossipSubOptions(most_served=1))
    state, node = system.state, 0
    peer = peers_of(state, node)[0]
    copy(system, next(each for each in peers_of(state, peer) if each != node), peer)
    for _ in range(3):
        send_over(state, IWANT, bond_of(state, node, peer), 1)
    settle(system)
    assert received(system, node, EVENT) + received(system, node, DUPLICATE) == 1


def test_messages_over_a_lost_connection_and_to_the_dead_are_lost() -> None:
    system, node, peer = pair()
    state = system.state
    before = state.tallies[LOST]
    send_over(state, GRAFT, bond_of(state, peer, node), 0)
    state.links.is_up[link_of(state, node, peer)] = 0
    settle(system)
    system.leave([peer])
    send_over(state, GRAFT, bond_of(state, node, peer), 0)
    settle(system)
    assert state.tallies[LOST] == before + 2
    assert mesh_of(state, node) == []


def test_an_ihave_has_room_for_many_positions() -> None:
    assert (1 << MASK_BITS) * (1 << MASK_BITS) <= 1 << 62
