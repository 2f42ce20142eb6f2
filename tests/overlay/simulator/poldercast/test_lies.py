"""What liars send, and what becomes of views."""

import numpy as np
import pytest

from overlay.simulator.compiled import COMPILED, INTERPRETED, Execution
from overlay.simulator.harm import LIES, Misdeed
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.workload import OverlayWorkload
from tests.support.even_workload import even_workload
from tests.support.polder_world import LoggedMessage, logged, views

ROOM = 400_000


def overlay(execution: Execution = INTERPRETED) -> PolderCastOverlay:
    """Returns an overlay of 60 nodes that gossip for 8 cycles."""
    system = PolderCastOverlay(even_workload(nodes=60, topics=8, each=3, seed=2), 2, execution=execution, logs=ROOM)
    system.run(8)
    return system


def told_by(system: PolderCastOverlay, liar: int, misdeed: Misdeed, cycles: int = 4) -> list[LoggedMessage]:
    """Lets one node do wrong for some cycles, and returns what it sends."""
    flags = np.zeros(system.nodes, np.int64)
    flags[liar] = int(misdeed)
    system.misbehave(flags)
    before = len(logged(system))
    system.run(cycles)
    return [message for message in logged(system)[before:] if message.sender == liar and len(message.entries) > 1]


def test_who_offers_itself_is_in_each_place_and_nobody_has_it_twice() -> None:
    """OV-5, P2P-3."""
    system = overlay()
    sent = told_by(system, 7, Misdeed.OFFERS_ITSELF)
    assert sent
    assert all(node == 7 for message in sent for node, _ in message.entries[1:])
    for node in range(60):
        assert all(len(view) == len(set(view)) for view in views(system, node))


def test_who_offers_the_dead_has_found_them_dead() -> None:
    """OV-5: as long as it knows none it is honest."""
    system = overlay()
    honest = told_by(system, 7, Misdeed.OFFERS_THE_DEAD)
    assert {node for message in honest for node, _ in message.entries} > {7}
    system.leave(range(40, 60))
    system.run(12)
    before = len(logged(system))
    system.run(3)
    later = [message for message in logged(system)[before:] if message.sender == 7 and len(message.entries) > 1]
    assert all(message.entries[1][0] >= 40 for message in later)
    assert all(age >= 0 for message in later for _, age in message.entries)


def test_who_lies_about_ages_says_that_all_is_fresh() -> None:
    """OV-5."""
    sent = told_by(overlay(), 7, Misdeed.LIES_ABOUT_AGES)
    assert all(age == 0 for message in sent for _, age in message.entries[1:])
    assert {node for message in sent for node, _ in message.entries[1:]} - {7}


def test_all_lies_together_go_by_turns() -> None:
    """OV-5: the dead and itself, all of them fresh."""
    system = overlay()
    system.leave(range(40, 60))
    told_by(system, 7, LIES, 12)
    sent = [message for message in logged(system)[-2000:] if message.sender == 7 and len(message.entries) > 2][-1]
    assert sent.entries[1][0] >= 40
    assert sent.entries[2] == (7, 0)


def test_a_freerider_gossips_as_before() -> None:
    """OV-5."""
    honest, system = overlay(), overlay()
    told_by(honest, 7, Misdeed.NONE)
    told_by(system, 7, Misdeed.FREERIDES)
    assert logged(honest) == logged(system)


@pytest.mark.parametrize("misdeed", [LIES, Misdeed.FREERIDES | Misdeed.LIES_ABOUT_AGES])
def test_compiled_and_interpreted_liars_send_the_same(misdeed: Misdeed) -> None:
    """OV-1."""
    systems = [overlay(INTERPRETED), overlay(COMPILED)]
    for system in systems:
        system.leave(range(40, 60))
        system.divide(np.arange(60, dtype=np.int8) % 2)
        told_by(system, 7, misdeed, 6)
    assert logged(systems[0]) == logged(systems[1])


def test_a_parted_network_has_no_messages_between_its_sides_and_grows_together_again(circle: OverlayWorkload) -> None:
    """P2P-31: nobody on one side hears of the other while it is apart; later all rings are complete again."""
    system = PolderCastOverlay(circle, 3)
    system.run(30)
    side = (np.arange(400) % 4 == 0).astype(np.int8)
    system.divide(side)
    system.run(10)
    topic = int(np.argmax(circle.subscribers_of.lengths))
    members = system.members(topic)
    done = system.publish(topic, members[0])
    reached = np.flatnonzero(done.hops >= 0)
    assert len(reached) > 1
    assert set(side[reached]) == {side[members[0]]}
    system.divide(np.zeros(400, np.int8))
    system.run(60)
    assert not system.rings().missing.any()


def test_freeriders_cost_events_and_pass_on_their_own(converged: PolderCastOverlay, circle: OverlayWorkload) -> None:
    """OV-5."""
    flags = np.zeros(400, np.int64)
    flags[::3] = int(Misdeed.FREERIDES)
    converged.misbehave(flags)
    try:
        counts = converged.publish_each()
        topic = next(topic for topic in circle.topics_of.lists()[0] if len(converged.members(topic)) > 10)
        own = converged.publish(topic, 0)
        others = [node for node in np.flatnonzero(own.hops > 1) if flags[node]]
    finally:
        converged.misbehave(np.zeros(400, np.int64))
    assert np.asarray(counts.missed).sum() > 0
    assert own.copies.sum() > 1
    assert others or (own.hops >= 0).any()
