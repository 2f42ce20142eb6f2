"""Events in an overlay whose rings are complete: everybody who wants one gets it, and nobody else."""

import numpy as np
import pytest
from numpy.typing import NDArray

from overlay.simulator.compiled import COMPILED, INTERPRETED, numbers
from overlay.simulator.event_counts import EventCounts, crowded_share
from overlay.simulator.poldercast.measuring import begin_event, unwanted
from overlay.simulator.poldercast.options import Mode, Sources, SpreadOptions
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.poldercast.publishing import new_spread, publish, targets
from overlay.simulator.system import Dissemination
from overlay.simulator.workload import OverlayWorkload
from tests.support.even_workload import even_workload
from tests.support.polder_world import view


def mean_hops(counts: EventCounts) -> float:
    """Returns the hops of a delivery, in the mean."""
    return float(np.asarray(counts.hops).sum()) / float(np.asarray(counts.got).sum())


def mean_received(counts: EventCounts) -> float:
    """Returns how often an event is received by one who gets it from others, in the mean."""
    return float(np.asarray(counts.received).sum()) / float(np.asarray(counts.got).sum())


def sent(done: Dissemination) -> int:
    """Returns how many copies of an event were received."""
    return int(done.copies.sum())


@pytest.mark.parametrize("sources", ["both", "none"])
@pytest.mark.parametrize("fanout", range(2, 11))
def test_every_event_reaches_every_subscriber_and_nobody_else(converged: PolderCastOverlay, fanout: int, sources: Sources) -> None:
    """P2P-10, P2P-11, P2P-12: on each topic, with random links and without."""
    before = unwanted(converged.state)
    counts = converged.publish_each(how=SpreadOptions(fanout=fanout, sources=sources))
    assert numbers(counts.reached) == numbers(counts.wanted)
    assert unwanted(converged.state) == before == 0
    assert mean_received(counts) <= fanout


def test_an_event_is_received_by_its_subscribers_only(converged: PolderCastOverlay) -> None:
    """P2P-11."""
    for topic in range(0, converged.topics, 37):
        members = converged.members(topic)
        done = converged.publish(topic, members[0])
        assert np.flatnonzero(done.hops >= 0).tolist() == members
        assert set(np.flatnonzero(done.copies)) <= set(members)
        assert done.hops[members[0]] == 0
        assert done.missed(np.array(members, np.int32)).tolist() == []


@pytest.mark.parametrize("fanout", [2, 3, 5, 10])
@pytest.mark.parametrize("mode", ["mixed", "union"])
def test_how_many_copies_a_node_sends(converged: PolderCastOverlay, circle: OverlayWorkload, mode: Mode, fanout: int) -> None:
    """P2P-9: in a union exactly as many as the fanout where there are so many targets, otherwise all; mixed never more."""
    state, settings, how = converged.state, converged.settings, SpreadOptions(fanout=fanout, mode=mode).settings()
    event = new_spread(converged.nodes, settings, COMPILED)
    ring_of = circle.topics_of.lists()
    exact = 0
    for node in range(0, 400, 17):
        topic = ring_of[node][0]
        bay = state.bays[node]
        ring = {state.slots[bay], state.slots[bay + 2]}
        for sender in (-1, state.slots[bay], state.slots[bay + 2], next(each for each in range(400) if each not in ring)):
            begin_event(state, 1, node)
            total = targets(state, settings, how, event, node, sender, topic)
            chosen = [int(event.chosen[at]) for at in range(total)]
            known = {each for each in view(converged, node, 0) + view(converged, node, 1) if topic in ring_of[each]}
            allowed = (ring | known) - {sender}
            assert len(set(chosen)) == total <= fanout
            assert ring - {sender} <= set(chosen) <= allowed
            if mode == "union":
                others = fanout - 1 if sender in ring else fanout - 2
                assert total == len(ring - {sender}) + min(others, len(known - ring - {sender}))
                exact += total == fanout
    assert mode == "mixed" or exact > 10


def test_later_copies_cause_none(converged: PolderCastOverlay) -> None:
    """P2P-9: each node sends once, however often it receives."""
    event = new_spread(converged.nodes, converged.settings, COMPILED)
    reached = COMPILED.kernel(publish)(
        converged.state, converged.settings, SpreadOptions(fanout=4).settings(), event, converged.members(5)[0], 5
    )
    copies: NDArray[np.int32] = np.asarray(event.copies)
    passed: NDArray[np.int32] = np.asarray(event.sent)
    assert copies.sum() == passed.sum()
    assert passed.max() <= 4
    assert (copies > 1).any()
    assert np.count_nonzero(passed) <= reached


def test_more_copies_make_it_faster_and_dearer(converged: PolderCastOverlay) -> None:
    """P2P-13, P2P-14: Vicinity only is fastest and dearest, Cyclon only flat, both between; their union like Vicinity only."""
    ways: list[tuple[Sources, Mode]] = [("cyclon", "mixed"), ("vicinity", "mixed"), ("both", "mixed"), ("both", "union")]
    found = {
        (sources, mode): [converged.publish_each(how=SpreadOptions(fanout=f, sources=sources, mode=mode), rounds=5) for f in (2, 3, 5, 10)]
        for sources, mode in ways
    }
    hops = {key: [mean_hops(each) for each in counts] for key, counts in found.items()}
    copies = {key: [mean_received(each) for each in counts] for key, counts in found.items()}
    for key in (("both", "mixed"), ("both", "union")):
        assert hops[key] == sorted(hops[key], reverse=True)
        assert copies[key] == sorted(copies[key])
    for at in (1, 2, 3):
        assert copies["cyclon", "mixed"][at] < copies["both", "mixed"][at] < copies["vicinity", "mixed"][at]
        assert hops["cyclon", "mixed"][at] > hops["both", "mixed"][at]
        assert abs(hops["both", "union"][at] / hops["vicinity", "mixed"][at] - 1) < 0.1


def test_delays_grow_with_the_logarithm_of_the_subscribers(converged: PolderCastOverlay) -> None:
    """P2P-15, in small."""
    counts = converged.publish_each(rounds=10)
    size = np.asarray(counts.wanted) / 10
    delay = np.asarray(counts.hops) / np.maximum(1, np.asarray(counts.reached) - 10)
    kept = size > 1
    straight, logarithmic = (np.corrcoef(x[kept], delay[kept])[0, 1] ** 2 for x in (size, np.log(size)))
    assert logarithmic > 0.9
    assert logarithmic > straight + 0.1


def test_a_fifth_of_deliveries_comes_four_times_with_vicinity_only_and_fewer_with_both(
    converged: PolderCastOverlay, circle: OverlayWorkload
) -> None:
    """P2P-16, in small: at fanout 3, of 400 nodes; those with most topics receive fewer with both at each fanout."""
    rich = circle.topics_of.lengths > np.quantile(circle.topics_of.lengths, 0.95)
    copies = {}
    for fanout in (3, 6, 10):
        for sources in ("vicinity", "both"):
            counts = converged.publish_each(3, SpreadOptions(fanout=fanout, sources=sources))
            copies[sources] = float((np.asarray(counts.received) / np.maximum(1, np.asarray(counts.got)))[rich].mean())
            if fanout == 3:
                copies[f"share, {sources}"] = crowded_share(counts)
        assert copies["both"] < copies["vicinity"]
    assert 0.15 <= copies["share, vicinity"] <= 0.25
    assert copies["share, both"] < copies["share, vicinity"] - 0.02


def test_a_ring_that_lost_a_node_is_passed_by_stand_bys_when_that_is_known() -> None:
    """2.2, P2P-31: dead neighbours leave the bays, and all live subscribers are reached again."""
    system = PolderCastOverlay(even_workload(nodes=100, topics=10, each=3, seed=4), 4)
    system.run(40)
    system.leave(range(0, 100, 10))
    cycles = 0
    while system.rings().missing.any():
        system.cycle()
        cycles += 1
    assert 0 < cycles < 40
    counts = system.publish_each(how=SpreadOptions(sources="none"))
    assert numbers(counts.reached) == numbers(counts.wanted)


def test_who_notices_that_a_neighbour_is_dead_sends_to_the_next_one() -> None:
    """2.2: each third node of a ring is dead, so one of two stand-bys is there; without notice the ring is cut."""
    missed = []
    for notices in (False, True):
        how = SpreadOptions(sources="none", notices=notices)
        system = PolderCastOverlay(even_workload(nodes=60, topics=4, each=2, seed=4), 4, how=how, execution=INTERPRETED)
        system.run(25)
        ring = sorted(system.members(0), key=lambda node: system.state.ids[node])
        system.leave(ring[::3])
        done = system.publish(0, ring[1])
        missed.append(len(done.missed(np.array(system.members(0), np.int32))))
    assert missed[0] > 0
    assert missed[1] == 0
