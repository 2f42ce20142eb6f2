"""Pools grow without losing a record."""

import numpy as np

from overlay.simulator.compiled import COMPILED, INTERPRETED, numbers
from overlay.simulator.gossipsub.growth import grown
from overlay.simulator.gossipsub.options import GossipSubOptions
from overlay.simulator.gossipsub.overlay import GossipSubOverlay
from overlay.simulator.gossipsub.seats import find_seat
from overlay.simulator.gossipsub.state import NO_ROOM
from overlay.simulator.harm import Misdeed
from overlay.simulator.workload import workload
from tests.support.even_workload import even_workload
from tests.support.gossip_world import link_of, one_topic, peers_of


def test_records_stay_what_they_are_and_are_found() -> None:
    system = one_topic(30)
    before = [peers_of(system.state, node) for node in range(30)]
    system.state.tallies[NO_ROOM] = 1
    larger = grown(system.state, INTERPRETED, 100)
    assert len(larger.seats.node) >= 130
    assert [peers_of(larger, node) for node in range(30)] == before
    assert [find_seat(larger, node, 0) for node in range(30)] == [find_seat(system.state, node, 0) for node in range(30)]
    assert all(link_of(larger, 0, peer) == link_of(system.state, 0, peer) for peer in before[0])
    assert larger.tallies[NO_ROOM] == 0


def test_pools_with_room_are_left_alone() -> None:
    system = one_topic(30)
    whole = grown(system.state, INTERPRETED)
    assert grown(whole, INTERPRETED) == whole


def test_what_is_promised_over_each_link_finds_room() -> None:
    """Every node tells of events that do not exist, so most links have a promise that is looked at three heartbeats later."""
    nodes = 100
    system = GossipSubOverlay(workload(np.arange(nodes), np.zeros(nodes, np.int64)), 1, GossipSubOptions(dials=60))
    system.misbehave(np.full(nodes, int(Misdeed.LIES_ABOUT_AGES)))
    room = 4096
    for _ in range(4):
        system.cycle()
    assert int((np.asarray(system.state.links.promised) >= 0).sum()) > room


def test_arrays_keep_their_kind() -> None:
    system = GossipSubOverlay(even_workload(nodes=20, topics=3, each=2, seed=1), 1)
    larger = grown(system.state, COMPILED, 1000)
    assert isinstance(larger.seats.mesh, np.ndarray)
    assert larger.seats.mesh.dtype == np.int32
    assert numbers(larger.seats.table.keys) != numbers(system.state.seats.table.keys)
