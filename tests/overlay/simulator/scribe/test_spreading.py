"""Events in Scribe, beside the ways that they must take by what the seats say."""

from itertools import pairwise

import numpy as np
import pytest

from overlay.protocol.chance import begin, below
from overlay.protocol.pastry import MOST_STEPS
from overlay.simulator.agenda import check_room, new_agenda
from overlay.simulator.compiled import COMPILED, INTERPRETED, Execution, numbers
from overlay.simulator.errors import OverlayError
from overlay.simulator.event_counts import FIRST_EVENT, new_event_counts
from overlay.simulator.harm import Misdeed, misdeeds
from overlay.simulator.latency.latency import by_link, takes_us, times_of
from overlay.simulator.scribe.overlay import ScribeOverlay
from overlay.simulator.scribe.routing import hop
from overlay.simulator.scribe.spreading import forget_event, new_event, publish_each, spread
from overlay.simulator.scribe.state import ScribeSettings
from overlay.simulator.subscriptions import TopicSubscriptions
from overlay.simulator.system import NOT_REACHED
from overlay.simulator.workload import workload
from tests.support.even_workload import even_workload
from tests.support.scribe_trees import root_of, seats_of, way_down, way_up

NODES, TOPICS, SEED = 200, 30, 5


def overlay(execution: Execution = COMPILED, nodes: int = NODES) -> ScribeOverlay:
    return ScribeOverlay(even_workload(nodes=nodes, topics=TOPICS, each=3, seed=SEED), SEED, execution=execution)


def ways(system: ScribeOverlay, topic: int, publisher: int) -> dict[int, list[int]]:
    """Returns the way of the event from the publisher to each subscriber, by the seats."""
    above = seats_of(system, topic)
    up = way_up(system, topic, publisher)
    assert up[-1] == root_of(system, topic)
    return {node: up + way_down(above, node)[1:] for node in system.members(topic)}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_an_event_comes_to_those_alone_on_whose_way_nobody_is_a_freerider(share: float) -> None:
    """The contract of misbehaviour: a freerider publishes its own events, and gets those of others."""
    system = overlay()
    flags = misdeeds(NODES, share, Misdeed.FREERIDES, 3)
    system.misbehave(flags)
    missed = 0
    for topic in range(TOPICS):
        publisher = system.members(topic)[topic % 5]
        done = system.publish(topic, publisher)
        for node, way in ways(system, topic, publisher).items():
            reached = node == publisher or not any(flags[each] for each in way[1:-1])
            assert (done.hops[node] != NOT_REACHED) == reached, (topic, node, way)
            missed += not reached
    assert (missed > 0) is (share > 0)


def test_events_take_as_long_as_the_messages_of_their_way() -> None:
    """Compiled and interpreted; hops are the same as without latencies."""
    latency = by_link(10, 150, seed=2)
    for system in (overlay(), overlay(INTERPRETED)):
        for topic in range(0, TOPICS, 7):
            publisher = system.members(topic)[0]
            done, plain = system.publish(topic, publisher, latency), system.publish(topic, publisher)
            assert done.arrival_us is not None
            assert plain.arrival_us is None
            assert done.hops.tolist() == plain.hops.tolist()
            for node, way in ways(system, topic, publisher).items():
                if node != publisher:
                    assert done.hops[node] == len(way) - 1
                    assert done.arrival_us[node] == sum(takes_us(latency.times, *link) for link in pairwise(way))
            assert done.arrival_us[publisher] == 0


@pytest.mark.parametrize("execution", [COMPILED, INTERPRETED])
def test_an_event_on_each_topic_is_what_they_are_one_by_one(execution: Execution) -> None:
    """Also where some subscribers are dead, and their trees not yet mended."""
    together, single = overlay(execution, 80), overlay(execution, 80)
    for system in (together, single):
        system.leave(range(0, 80, 9))
    found = together.publish_each(rounds=2)
    reached, hops, copies, missed = [0] * TOPICS, [0] * TOPICS, [0] * TOPICS, np.zeros(80, np.int64)
    for number in range(2 * TOPICS):
        topic, streams = number % TOPICS, [0]
        begin(streams, 0, SEED, FIRST_EVENT + number)
        members = single.members(topic)
        done = single.publish(topic, members[below(streams, 0, len(members))])
        has = done.hops[members] != NOT_REACHED
        reached[topic] += int(has.sum())
        hops[topic] += int(done.hops[members][has].sum())
        copies[topic] += int(done.copies[members][has].sum())
        missed[done.missed(np.array(members, np.int32))] += 1
    assert (numbers(found.reached), numbers(found.hops), numbers(found.copies)) == (reached, hops, copies)
    assert numbers(found.missed) == missed.tolist()
    assert missed.sum() > 0
    assert numbers(found.wanted) == [2 * len(single.members(topic)) for topic in range(TOPICS)]
    assert numbers(together.messages) == numbers(single.messages)


def test_an_event_that_goes_in_a_circle_is_lost() -> None:
    """Nodes that have just lost a third of all others may send it to each other; before, it went on for ever."""
    system = ScribeOverlay(even_workload(nodes=300, topics=30, each=3, seed=4), 4, ScribeSettings(leaves=8))
    for _ in range(2):
        system.cycle()
    system.leave(np.random.default_rng(4).permutation(300)[:90].tolist())
    system.cycle()
    step, live = COMPILED.kernel(hop), [node for node in range(300) if system.state.alive[node]]
    circling = []
    for topic in range(30):
        key = system.state.keys[topic]
        for node in live:
            here = node
            for _ in range(MOST_STEPS):
                here = step(system.state, system.rules, here, key)
            if step(system.state, system.rules, here, key) != here:
                circling.append((topic, node))
    assert circling
    event = new_event(300, times_of(None), COMPILED)
    for topic, node in circling:
        COMPILED.kernel(spread)(system.state, system.rules, event, topic, node)
        assert event.hops[node] == 0
        assert np.asarray(event.copies).sum() == 0
        COMPILED.kernel(forget_event)(event)


def test_messages_that_find_no_room_are_told_whichever_topic_they_were_of() -> None:
    """Each event clears the agenda, so the first one that loses messages is the last: here that of 40 nodes, and not that of one."""
    work = workload(np.append(np.arange(40), 0), np.append(np.zeros(40, np.int64), 1))
    system, of = ScribeOverlay(work, SEED, execution=INTERPRETED), TopicSubscriptions(work, INTERPRETED).by_topic()
    event = new_event(40, times_of(None), INTERPRETED)._replace(agenda=new_agenda(2, INTERPRETED))
    publish_each(system.state, system.rules, event, of, [0], SEED, 0, new_event_counts(40, 2, INTERPRETED))
    with pytest.raises(OverlayError, match="found no room among 2"):
        check_room(event.agenda)


def test_no_event_passes_between_the_sides_of_a_divided_network() -> None:
    """Each side gets a tree of its own; when the network is whole again, so are the trees."""
    system = overlay()
    side = np.array([node % 3 == 0 for node in range(NODES)], np.int8)
    system.divide(side)
    for _ in range(6):
        for topic in range(TOPICS):
            done = system.publish(topic, system.members(topic)[0])
            assert not (done.copies[side != side[done.publisher]]).any()
            assert not (done.hops[side != side[done.publisher]] >= 0).any()
        system.cycle()
    whole = [system.publish(topic, system.members(topic)[0]) for topic in range(TOPICS)]
    for done in whole:
        near = np.array([node for node in system.members(done.topic) if side[node] == side[done.publisher]], np.int32)
        assert not len(done.missed(near))
    system.divide(np.zeros(NODES, np.int8))
    cycles = 0
    while (np.asarray((found := system.publish_each()).reached) < np.asarray(found.wanted)).any():
        system.cycle()
        cycles += 1
        assert cycles < 30
    assert cycles > 0
