"""PolderCast as an overlay: how fast its rings grow, and what is refused."""

import numpy as np

from overlay.simulator.graphs.friends import friends
from overlay.simulator.poldercast.options import PolderOptions
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.workload import OverlayWorkload
from tests.support.even_workload import even_workload


def cycles_to(system: PolderCastOverlay, incomplete: float, most: int = 400) -> int:
    """Returns after how many cycles no more than this share of the rings is incomplete."""
    for cycles in range(most):
        if system.rings().incomplete_share <= incomplete:
            return cycles
        system.cycle()
    raise AssertionError(f"{system.rings().incomplete_share:.1%} of the rings are incomplete after {most} cycles")


def test_rings_are_complete_after_some_cycles_and_without_vicinity_later(circle: OverlayWorkload) -> None:
    """In small: where Cyclon alone shows a node a twentieth of all others, Vicinity cannot be worth a factor of three."""
    fast = cycles_to(PolderCastOverlay(circle, 1), 0.01)
    assert fast <= 40
    assert cycles_to(PolderCastOverlay(circle, 1, PolderOptions(with_vicinity=False)), 0.01) > fast


def test_without_vicinity_a_thousand_nodes_lack_three_times_as_many_links() -> None:
    """P2P-18, P2P-20, in small: 99 % of the rings within 60 cycles; cycles to that end are three times as many in larger overlays only."""
    work = friends(1000, 1).workload()
    usual, without = PolderCastOverlay(work, 1), PolderCastOverlay(work, 1, PolderOptions(with_vicinity=False))
    for each in (usual, without):
        each.run(25)
    assert without.rings().missing_share >= 3 * usual.rings().missing_share > 0
    assert 25 < 25 + cycles_to(usual, 0.01) <= 60


def test_events_reach_all_before_all_rings_are_complete(circle: OverlayWorkload) -> None:
    """P2P-19: with a few rings incomplete, random links make up for them."""
    system = PolderCastOverlay(circle, 1)
    cycles_to(system, 0.02)
    counts = system.publish_each()
    assert system.rings().missing.any()
    assert np.asarray(counts.missed).sum() <= 0.001 * np.asarray(counts.wanted).sum()


def test_nodes_with_many_topics_are_not_much_slower(circle: OverlayWorkload) -> None:
    """P2P-21: in small, the tenth with the most topics against the median node."""
    system, last = PolderCastOverlay(circle, 1), np.zeros(400, int)
    for cycle in range(1, 60):
        system.cycle()
        last[system.rings().missing_of > 0] = cycle
    rich = np.argsort(circle.topics_of.lengths)[-40:]
    assert not system.rings().missing.any()
    assert np.median(last[rich]) <= 3 * np.median(last)


def test_two_nodes_and_one_topic_are_the_least() -> None:
    system = PolderCastOverlay(even_workload(nodes=2, topics=1, each=1, seed=1), 1)
    system.run(3)
    assert not system.rings().missing.any()
    done = system.publish(0, 1)
    assert (done.hops.tolist(), done.copies.tolist()) == ([1, 0], [1, 0])
