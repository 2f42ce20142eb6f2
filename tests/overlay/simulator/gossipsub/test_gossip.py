"""Gossip: who is told of which events."""

import numpy as np
import pytest

from overlay.protocol.gossip_cache import remember
from overlay.simulator.gossipsub.gossip import choose_targets, gossip, positions
from overlay.simulator.gossipsub.options import GossipSubOptions, Version
from overlay.simulator.gossipsub.seats import enter_mesh, find_seat
from overlay.simulator.gossipsub.sending import BOGUS, MASK, MASK_BITS
from overlay.simulator.gossipsub.state import IHAVE
from overlay.simulator.harm import Misdeed
from tests.support.gossip_world import bond_of, link_of, logged, one_topic, peers_of


@pytest.mark.parametrize(("version", "dials", "told"), [("v1.0", 39, 6), ("v1.1", 39, 9), ("v1.1", 8, 6)])
def test_some_peers_outside_the_mesh_are_told(version: Version, dials: int, told: int) -> None:
    system = one_topic(42, GossipSubOptions(version=version, dials=dials))
    state, node = system.state, 3
    mesh = peers_of(state, node)[:4]
    for peer in mesh:
        enter_mesh(state, bond_of(state, node, peer))
    remember(state.nodes.log, state.nodes.marks, node, system.rules.log, system.rules.windows, 0)
    gossip(state, system.rules, node, find_seat(state, node, 0))
    sent = [(receiver, detail) for _, kind, _, receiver, _, detail in logged(state) if kind == IHAVE]
    assert len({receiver for receiver, _ in sent}) == len(sent) == told
    assert not {receiver for receiver, _ in sent} & set(mesh)
    assert {detail for _, detail in sent} == {1}


def test_who_has_nothing_tells_nothing_except_a_liar() -> None:
    system = one_topic(20)
    state, node = system.state, 3
    gossip(state, system.rules, node, find_seat(state, node, 0))
    assert logged(state) == []
    system.misbehave(np.full(20, int(Misdeed.LIES_ABOUT_AGES)))
    gossip(state, system.rules, node, find_seat(state, node, 0))
    assert {detail >> MASK_BITS for *_, detail in logged(state)} == {BOGUS}


def test_peers_below_the_threshold_are_not_told() -> None:
    system = one_topic(20, GossipSubOptions(dials=19))
    state, node = system.state, 3
    for peer in peers_of(state, node)[2:]:
        state.links.score[link_of(state, node, peer)] = -11_000_000
    assert choose_targets(state, system.rules, node, find_seat(state, node, 0)) == 2


def test_only_events_of_the_topic_are_told_and_many_in_several_messages() -> None:
    system = one_topic(10, GossipSubOptions(log=64))
    state, node = system.state, 3
    for _ in range(40):
        remember(state.nodes.log, state.nodes.marks, node, 64, system.rules.windows, 0)
    assert positions(state, system.rules, node, 0, 0, 5) == 0b11111
    assert positions(state, system.rules, node, 1, 0, 5) == 0
    gossip(state, system.rules, node, find_seat(state, node, 0))
    told = {detail for *_, detail in logged(state)}
    assert {detail >> MASK_BITS for detail in told} == {0, MASK_BITS}
    assert sum((detail & MASK).bit_count() for detail in told) == 40
