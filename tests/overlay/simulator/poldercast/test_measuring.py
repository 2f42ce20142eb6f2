"""What is counted, against counts by hand."""

import numpy as np

from overlay.simulator.poldercast.options import SpreadOptions
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.workload import OverlayWorkload
from tests.support.even_workload import even_workload


def neighbours_by_definition(system: PolderCastOverlay, topic: int) -> dict[int, tuple[int, int]]:
    """Returns the successor and the predecessor that each live subscriber is to have, by sorting."""
    ring = sorted(system.members(topic), key=lambda node: system.state.ids[node])
    return {node: (ring[(at + 1) % len(ring)], ring[at - 1]) for at, node in enumerate(ring)} if len(ring) > 1 else {}


def neighbours(system: PolderCastOverlay, workload: OverlayWorkload, node: int, topic: int) -> tuple[int, int]:
    """Returns the successor and the predecessor that a node has."""
    bay = system.state.bays[node] + 4 * workload.topics_of.lists()[node].index(topic)
    return system.state.slots[bay], system.state.slots[bay + 2]


def test_links_that_are_missing_are_those_that_sorting_does_not_find() -> None:
    """P2P-1, P2P-18: while nothing is known, while rings grow, and with dead nodes."""
    workload = even_workload(nodes=80, topics=25, each=4, seed=2)
    system = PolderCastOverlay(workload, 2)
    for step in range(4):
        found = system.rings()
        for topic in range(25):
            right = neighbours_by_definition(system, topic)
            wrong = {
                node: sum(have != want for have, want in zip(neighbours(system, workload, node, topic), wanted, strict=True))
                for node, wanted in right.items()
            }
            assert (found.wanted[topic], found.missing[topic]) == (2 * len(right), sum(wrong.values()))
        assert found.missing.sum() == found.missing_of.sum()
        assert found.missing_share == found.missing.sum() / found.wanted.sum()
        assert found.incomplete_share == np.mean(found.missing[found.wanted > 0] > 0)
        if step == 2:
            system.leave(range(0, 80, 3))
        else:
            system.run(2)
    assert 0 < found.missing_share < 1


def test_events_on_all_topics_are_counted_as_one_by_one(converged: PolderCastOverlay) -> None:
    """The sums over topics are the sums over nodes."""
    counts = converged.publish_each(how=SpreadOptions(fanout=3), rounds=2)
    assert counts.wanted.tolist() == [2 * len(converged.members(topic)) for topic in range(converged.topics)]  # type: ignore[attr-defined]
    got, received, missed = (np.asarray(each) for each in (counts.got, counts.received, counts.missed))
    wanted, reached, copies = (np.asarray(each) for each in (counts.wanted, counts.reached, counts.copies))
    assert missed.sum() == (wanted - reached).sum() == 0
    assert got.sum() == reached.sum() - 2 * converged.topics == np.asarray(counts.by_hops).sum()
    assert received.sum() == copies.sum()
    assert (np.arange(1024) * np.asarray(counts.by_hops)).sum() == np.asarray(counts.hops).sum()


def test_who_misses_an_event_is_counted() -> None:
    """In an overlay without rings, events reach nobody else."""
    system = PolderCastOverlay(even_workload(nodes=80, topics=25, each=4, seed=2), 2)
    counts = system.publish_each()
    missed, wanted = np.asarray(counts.missed), np.asarray(counts.wanted)
    assert np.asarray(counts.reached).tolist() == [1] * 25
    assert missed.sum() == wanted.sum() - 25
