"""Nodes that change their topics, while others still know the old ones."""

import pytest

from overlay.protocol.profile import PRIORITIES, PROFILE
from overlay.simulator.compiled import numbers
from overlay.simulator.errors import OverlayError
from overlay.simulator.poldercast.measuring import unwanted
from overlay.simulator.poldercast.options import PolderOptions
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.workload import OverlayWorkload
from tests.support.even_workload import even_workload
from tests.support.polder_world import views


def overlay() -> PolderCastOverlay:
    """Returns an overlay of 100 nodes with 3 of 12 topics each, whose rings are complete."""
    system = PolderCastOverlay(even_workload(nodes=100, topics=12, each=3, seed=3), 3)
    system.run(40)
    assert not system.rings().missing.any()
    return system


def cycles_until_complete(system: PolderCastOverlay) -> int:
    """Returns how many cycles it takes until no link is missing."""
    cycles = 0
    while system.rings().missing.any():
        system.cycle()
        cycles += 1
        assert cycles < 200
    return cycles


def test_rings_follow_new_interests(circle: OverlayWorkload) -> None:
    """P2P-32 in part: a tenth of the nodes want what their neighbours by number wanted, and the rings are complete again.

    It takes more cycles than a cold start, and is to take fewer: old copies of profiles stay too long where many topics are.
    """
    system, topics = PolderCastOverlay(circle, 3), circle.topics_of.lists()
    cycles_until_complete(system)
    system.change_many({node: topics[node + 1] for node in range(0, 400, 10)})
    assert system.rings().missing.any()
    assert cycles_until_complete(system) > 0
    counts = system.publish_each()
    assert numbers(counts.reached) == numbers(counts.wanted)


def test_a_node_that_left_a_topic_is_no_subscriber_and_soon_nobody_sends_it_events() -> None:
    """P2P-11: old copies of its profile bring it a few events that it does not pass on, until they are replaced."""
    system = overlay()
    node = system.members(4)[2]
    system.change_topics(node, [])
    assert node not in system.members(4)
    for _ in range(3):
        done = system.publish(4, system.members(4)[0])
        assert done.hops[node] == -1
    system.run(40)
    before = unwanted(system.state)
    system.publish_each(rounds=5)
    assert unwanted(system.state) == before


def test_a_changed_node_keeps_whom_it_knows_and_its_priorities_say_what_it_lacks() -> None:
    system = overlay()
    known = {each for view in views(system, 7) for each in view}
    system.change_topics(7, range(12))
    cyclon, vicinity, rings = views(system, 7)
    assert {*cyclon, *vicinity} <= known
    assert set(rings) <= known
    assert len(rings) > 4
    start = system.state.profiles[PROFILE * system.state.current[7] + PRIORITIES]
    lacking = [int(system.state.priorities[start + place]) for place in range(12)]
    bays = [{system.state.slots[system.state.bays[7] + 4 * place + at] for at in range(4)} - {-1} for place in range(12)]
    assert lacking == [4 - len(bay) for bay in bays]


def test_a_node_that_wants_less_and_then_more_again_finds_its_place() -> None:
    system = overlay()
    for topics in ([1], range(12), [2, 3], range(6)):
        system.change_topics(11, topics)
        assert [topic for topic in range(12) if 11 in system.members(topic)] == list(topics)
        cycles_until_complete(system)


def test_topics_that_there_are_not_are_named() -> None:
    with pytest.raises(OverlayError, match="node 3 is to have topics from 2 to 12, and there are 12"):
        overlay().change_topics(3, [12, 2])


def test_who_announces_new_topics_leaves_old_rings_at_once() -> None:
    """P2P-32: an option; those in the old rings hear of it at once, so hardly a copy of the old profile stays there."""
    stale = []
    for announces in (False, True):
        system = PolderCastOverlay(even_workload(nodes=100, topics=12, each=3, seed=3), 3, PolderOptions(announces=announces))
        system.run(40)
        changed = set(range(0, 100, 10))
        before = {node: set(views(system, node)[2]) for node in changed}
        system.change_many({node: [node % 12, (node + 5) % 12] for node in changed})
        state = system.state
        old = 0
        for node in changed:
            for other in before[node] - changed:
                first = state.homes[other] + system.settings.cyclon + system.settings.vicinity
                rows = [(state.cells[4 * (first + at)], state.cells[4 * (first + at) + 1]) for at in range(state.counts[3 * other + 2])]
                old += sum(each == node and row != state.current[node] for each, row in rows)
        stale.append(old)
        cycles_until_complete(system)
    # Somebody may have left the rings of a node shortly before it changed, because of another one that changed.
    assert stale[0] > 10 * stale[1]
