"""The heartbeat: lost connections, scores, and windows of the cache."""

import pytest

from overlay.protocol.gossip_cache import begins, ends, remember
from overlay.protocol.gossip_scores import BEHAVIOUR_KEEPS, COUNTERS, FIRST, ONE
from overlay.simulator.gossipsub.heartbeat import beat, judge, tend_links
from overlay.simulator.gossipsub.options import GossipSubOptions, ScoreOptions
from overlay.simulator.gossipsub.overlay import GossipSubOverlay
from tests.support.gossip_world import bond_of, link_of, one_topic, peers_of

MILLION = 1_000_000


@pytest.mark.parametrize("patience", [1, 3])
def test_a_silent_connection_is_given_up_after_some_heartbeats(patience: int) -> None:
    system = one_topic(20, GossipSubOptions(patience=patience))
    peer = peers_of(system.state, 0)[0]
    system.leave([peer])
    for number in range(patience + 1):
        assert (peer in peers_of(system.state, 0)) is (number < patience)
        tend_links(system.state, system.rules, 0)


def test_a_lost_connection_is_tried_again_by_who_had_dialled_it() -> None:
    system = one_topic(20)
    state = system.state
    peer = next(each for each in peers_of(state, 0) if state.links.dialled[link_of(state, 0, each)])
    system.leave([peer])
    system.cycle()
    assert peer not in peers_of(system.state, 0)
    system.state.nodes.alive[peer] = 1
    tend_links(system.state, system.rules, 0)
    assert peer in peers_of(system.state, 0)


def scored(system: GossipSubOverlay, node: int, peer: int) -> int:
    judge(system.state, node)
    return system.state.links.score[link_of(system.state, node, peer)]


def test_scores_sum_what_is_known_of_a_peer() -> None:
    system = one_topic(20, GossipSubOptions(scores=ScoreOptions(first_keeps=0.5, behaviour_keeps=0.5, host_most=1, host_weight=-1.0)))
    state = system.state
    peer, other = peers_of(state, 0)[:2]
    assert scored(system, 0, peer) == 0
    state.bonds.counters[bond_of(state, 0, peer) * COUNTERS + FIRST] = 8 * ONE
    assert scored(system, 0, peer) == 4 * MILLION
    assert scored(system, 0, peer) == 2 * MILLION
    state.nodes.opinion[peer] = 3 * ONE
    assert scored(system, 0, peer) == 4 * MILLION
    state.nodes.host[other] = state.nodes.host[peer]
    assert scored(system, 0, peer) == 2_500_000
    state.links.misbehaved[link_of(state, 0, peer)] = 2 * ONE
    assert scored(system, 0, peer) == (250_000 + 3 * MILLION) - MILLION - 10 * MILLION
    assert state.scores[BEHAVIOUR_KEEPS] == 500


def test_windows_of_the_cache_pass_with_the_heartbeats() -> None:
    system = one_topic(6)
    state, rules = system.state, system.rules
    remember(state.nodes.log, state.nodes.marks, 2, rules.log, rules.windows, 0)
    for number in range(rules.windows):
        assert begins(state.nodes.marks, 2, rules.log, rules.windows, rules.windows) == 0
        told = begins(state.nodes.marks, 2, rules.log, rules.windows, rules.gossip_windows)
        assert told == (0 if number < rules.gossip_windows else 1)
        beat(state, rules, 2)
    assert begins(state.nodes.marks, 2, rules.log, rules.windows, rules.windows) == ends(state.nodes.marks, 2, rules.windows) == 1
