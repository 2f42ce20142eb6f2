"""Meshes of GossipSub keep their bounds, whatever happens to nodes, and GRAFT and PRUNE keep to the rules."""

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.protocol.gossip_scores import ONE
from overlay.simulator.gossipsub.meshes import backs_off, candidates, cut, improve, prune, tend_mesh
from overlay.simulator.gossipsub.options import GossipSubOptions, ScoreOptions
from overlay.simulator.gossipsub.overlay import GossipSubOverlay
from overlay.simulator.gossipsub.seats import enter_mesh, find_seat
from overlay.simulator.gossipsub.state import GRAFT, NOW, PRUNE, GossipSubState
from tests.support.gossip_world import bond_of, link_of, logged, mesh_of, one_topic, peers_of, settle

SECOND = 1_000_000
# Whom something happens to, and what.
troubles = st.lists(st.tuples(st.sampled_from(["leave", "come", "drop", "wait"]), st.integers(0, 29)), max_size=12)


@settings(max_examples=20)
@given(troubles, st.integers(1, 1000))
def test_after_a_heartbeat_meshes_are_within_their_bounds_whatever_happens(wanted: list[tuple[str, int]], seed: int) -> None:
    system = one_topic(30, seed=seed)
    state = system.state
    system.run(3)
    for what, node in wanted:
        if what == "leave":
            system.leave([node])
        elif what == "come" and not state.nodes.alive[node]:
            system.come([node])
        elif what == "drop":
            system.change_topics(node, [1])
        system.run(2)
        state = system.state
        check_meshes(system)
    sent = logged(state)
    assert all(sender != receiver for _, _, sender, receiver, *_ in sent)
    check_backoffs(state, sent)


def check_meshes(system: GossipSubOverlay) -> None:
    state, rules = system.state, system.rules
    live = system.members(0)
    for node in live:
        mesh = mesh_of(state, node)
        assert len(set(mesh)) == len(mesh)
        assert node not in mesh
        assert set(mesh) <= set(peers_of(state, node))
        # A GRAFT of a peer that the node has dialled is taken above D_high, until the next heartbeat.
        inbound = [peer for peer in mesh if not state.links.dialled[link_of(state, node, peer)]]
        assert len(mesh) <= rules.high or len(inbound) < len(mesh)
        free = [peer for peer in peers_of(state, node) if peer not in mesh and peer in live]
        unwilling = [peer for peer in free if backs_off(state, bond_of(state, node, peer), rules.slack_us)]
        assert len(mesh) >= rules.low or len(unwilling) == len(free)


def check_backoffs(state: GossipSubState, sent: list[tuple[int, ...]]) -> None:
    """Checks that nobody grafts a peer before the backoff of their last PRUNE for the topic is over, whoever sent it."""
    until: dict[tuple[int, ...], int] = {}
    for now, kind, sender, receiver, bond, detail in sent:
        if kind in (GRAFT, PRUNE):
            key = (state.seats.topic[state.bonds.seat[bond]], *sorted((sender, receiver)))
            if kind == GRAFT:
                assert now >= until.get(key, 0)
            else:
                until[key] = now + (10 if detail & 1 else 60) * SECOND


def test_a_mesh_that_is_too_large_keeps_the_best_and_enough_outbound_peers() -> None:
    system = one_topic(40, GossipSubOptions(dials=10))
    state, node = system.state, 0
    seat, peers = find_seat(state, node, 0), peers_of(state, node)[:14]
    for peer in peers:
        enter_mesh(state, bond_of(state, node, peer))
    best = peers[:4]
    for peer in best:
        state.links.score[link_of(state, node, peer)] = 5 * SECOND
    for peer in peers:
        state.links.dialled[link_of(state, node, peer)] = int(peer in peers[-2:])
    cut(state, system.rules, node, seat)
    kept = mesh_of(state, node)
    assert len(kept) == 6
    assert set(kept) == {*best, *peers[-2:]}
    assert state.seats.size[seat] == 6
    pruned = [receiver for _, kind, _, receiver, *_ in logged(state) if kind == PRUNE]
    assert sorted([*kept, *pruned]) == peers
    assert all(backs_off(state, bond_of(state, node, peer), 0) for peer in pruned)


def test_peers_of_negative_score_are_pruned_and_not_grafted_again() -> None:
    system = one_topic(12, GossipSubOptions(dials=11))
    system.run(3)
    state, node = system.state, 3
    bad = mesh_of(state, node)[0]
    state.nodes.opinion[bad] = -5 * ONE
    for _ in range(80):
        system.cycle()
        assert bad not in mesh_of(state, node)
    assert mesh_of(state, bad) == []


def test_the_quota_of_outbound_peers_is_filled() -> None:
    system = one_topic(30)
    state, node = system.state, 5
    seat = find_seat(state, node, 0)
    inbound = [peer for peer in peers_of(state, node) if not state.links.dialled[link_of(state, node, peer)]][:4]
    for peer in inbound:
        enter_mesh(state, bond_of(state, node, peer))
    assert len(inbound) == 4
    tend_mesh(state, system.rules, node, seat)
    outbound = set(mesh_of(state, node)) - set(inbound)
    assert len(outbound) == 2
    assert all(state.links.dialled[link_of(state, node, peer)] for peer in outbound)


def test_a_poor_mesh_gets_better_peers() -> None:
    system = one_topic(30, GossipSubOptions(dials=10, scores=ScoreOptions(opportunistic_below=2.0)))
    state, node = system.state, 7
    seat, peers = find_seat(state, node, 0), peers_of(state, node)
    for peer in peers[:6]:
        enter_mesh(state, bond_of(state, node, peer))
    good = peers[6:9]
    for peer in good:
        state.links.score[link_of(state, node, peer)] = 3 * SECOND
    improve(state, system.rules, node, seat)
    added = set(mesh_of(state, node)) - set(peers[:6])
    assert len(added) == 2
    assert added <= set(good)
    for peer in peers:
        state.links.score[link_of(state, node, peer)] = 3 * SECOND
    improve(state, system.rules, node, seat)
    assert len(mesh_of(state, node)) == 8


def test_a_pruned_peer_is_no_candidate_until_backoff_and_slack_are_over() -> None:
    system = one_topic(10)
    state, node = system.state, 2
    seat, peer = find_seat(state, node, 0), peers_of(state, 2)[0]
    bond = bond_of(state, node, peer)
    enter_mesh(state, bond)
    prune(state, system.rules, node, bond, False)
    before = candidates(state, system.rules, seat, False, 0)
    state.clock[NOW] += 61 * SECOND - 1
    assert candidates(state, system.rules, seat, False, 0) == before
    state.clock[NOW] += 1
    assert candidates(state, system.rules, seat, False, 0) == before + 1
    settle(system)
