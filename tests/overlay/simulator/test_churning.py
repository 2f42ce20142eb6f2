"""Runs under churn and harm: who is there, and whose misses count."""

from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray

from overlay.protocol.buffer import Buffer
from overlay.simulator.churn.cycles import CycleChurn
from overlay.simulator.churning import ChurnedCycle, ChurningPlan, MissCounts, run_churning
from overlay.simulator.compiled import INTERPRETED
from overlay.simulator.event_counts import EventCounts, as_arrays, new_event_counts
from overlay.simulator.harm import Partition
from overlay.simulator.latency.latency import MessageLatency
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.system import Dissemination
from overlay.simulator.workload import OverlayWorkload, workload
from tests.support.even_workload import even_workload

NOBODY = np.empty(0, np.int64)


def churn(*cycles: tuple[list[int], list[int]], late_ms: int = 30_000) -> CycleChurn:
    """Returns churn of (who leaves, who comes) in each cycle; all who come do so `late_ms` before its end."""
    coming = [np.array(come, np.int64) for _, come in cycles]
    return CycleChurn([np.array(leave, np.int64) for leave, _ in cycles], coming, [np.full(len(each), late_ms) for each in coming])


class ForgetfulOverlay:
    """An overlay in which a publisher's event reaches all who are there and on its side, except those in `misses`."""

    def __init__(self, work: OverlayWorkload, misses: Iterable[int]) -> None:
        self.messages: Buffer = [0] * 4 * work.nodes
        self.sizes: Buffer = [0] * 4 * work.nodes
        self.alive, self.side, self.flags = np.ones(work.nodes, bool), np.zeros(work.nodes, np.int8), np.zeros(work.nodes, np.int64)
        self._work, self._misses, self.cycles, self.publishers = work, list(misses), 0, list[int]()

    def cycle(self) -> None:
        """Counts."""
        self.cycles += 1

    def leave(self, nodes: Iterable[int]) -> None:
        """Takes nodes away."""
        self.alive[list(nodes)] = False

    def come(self, nodes: Iterable[int]) -> None:
        """Brings them back."""
        self.alive[list(nodes)] = True

    def change_topics(self, node: int, topics: Iterable[int]) -> None:
        """Raises, because churn changes none."""
        raise AssertionError(node, topics)

    def misbehave(self, flags: NDArray[np.int64]) -> None:
        """Keeps the flags."""
        self.flags = flags

    def divide(self, side: NDArray[np.int8]) -> None:
        """Keeps the sides."""
        self.side = side

    def publish(self, topic: int, publisher: int, latency: MessageLatency | None = None) -> Dissemination:
        """Reaches everybody else within a hop."""
        assert self.alive[publisher]
        self.publishers.append(publisher)
        hops = np.full(self._work.nodes, -1, np.int32)
        of = self._work.subscribers_of
        members = of.values[of.offsets[topic] : of.offsets[topic + 1]]
        hops[members[self.alive[members] & (self.side[members] == self.side[publisher])]] = 1
        hops[self._misses] = -1
        hops[publisher] = 0
        return Dissemination(topic, publisher, hops, (hops > 0).astype(np.int32))

    def publish_each(self, rounds: int = 1) -> EventCounts:
        """Publishes by random nodes that are there, and counts who got what and who missed it."""
        counts, chances = new_event_counts(self._work.nodes, self._work.topics, INTERPRETED), np.random.default_rng(self.cycles)
        for topic in range(rounds * self._work.topics):
            live = [node for node in range(self._work.nodes) if self.alive[node]]
            done = self.publish(topic % self._work.topics, int(chances.choice(live)))
            for node in live:
                counts.missed[node] += done.hops[node] < 0
                counts.got[node] += done.hops[node] > 0
        return as_arrays(counts)


@pytest.fixture
def everybody() -> OverlayWorkload:
    """Six nodes that all have both topics."""
    return workload(np.repeat(np.arange(6), 2), np.tile([0, 1], 6))


def outcomes(work: OverlayWorkload, plan: ChurningPlan, misses: Iterable[int] = ()) -> tuple[list[ChurnedCycle], ForgetfulOverlay]:
    """Returns what came of a plan."""
    system = ForgetfulOverlay(work, misses)
    return list(run_churning(system, work, plan)), system


def test_who_is_there_publishes_and_is_judged(everybody: OverlayWorkload) -> None:
    plan = ChurningPlan(churn=churn(([], [0, 1, 2, 3]), ([0], [4]), ([], [])), before=5)
    found, system = outcomes(everybody, plan)
    assert [(each.present, each.came, each.left) for each in found] == [(4, 0, 0), (4, 1, 1), (4, 0, 0)]
    assert system.cycles == 5 + 3
    assert len(system.publishers) == 2 * 3
    assert {*system.publishers} <= {0, 1, 2, 3, 4}
    assert [each.misses.by_node for each in found] == [0, 0, 0]


def test_misses_are_counted_by_node_and_by_delivery(everybody: OverlayWorkload) -> None:
    """Node 3 misses all that others publish."""
    plan = ChurningPlan(churn=churn(([], [0, 1, 2, 3])))
    (only,), system = outcomes(everybody, plan, misses=[3])
    missed = sum(publisher != 3 for publisher in system.publishers)
    assert only.misses == only.settled == MissCounts(nodes=4, missing=1, deliveries=2 * 3, missed=missed)
    assert only.misses.by_node == 0.25
    assert only.misses.by_delivery == missed / 6


@pytest.mark.parametrize(("late_ms", "judged"), [(9_999, 4), (10_000, 5)])
def test_who_came_within_ten_seconds_is_not_judged_and_within_the_cycle_not_settled(
    everybody: OverlayWorkload, late_ms: int, judged: int
) -> None:
    """The warm-up of PC 6.6."""
    found, _ = outcomes(everybody, ChurningPlan(churn=churn(([], [0, 1, 2, 3]), ([], [4]), late_ms=late_ms)))
    assert found[0].misses.nodes == 4
    assert (found[1].misses.nodes, found[1].settled.nodes) == (judged, 4)


def test_who_misbehaves_is_not_judged(everybody: OverlayWorkload) -> None:
    """OV-5."""
    flags = np.array([0, 0, 0, 1, 0, 0])
    (only,), system = outcomes(everybody, ChurningPlan(churn=churn(([], [*range(6)])), flags=flags), misses=[3])
    assert system.flags.tolist() == flags.tolist()
    assert (only.misses.nodes, only.misses.missing) == (5, 0)


def test_a_parted_network_is_whole_again_in_time(everybody: OverlayWorkload) -> None:
    side = np.array([0, 0, 0, 1, 1, 1], np.int8)
    plan = ChurningPlan(churn=churn(([], [*range(6)]), *[([], [])] * 3), partition=Partition(1, 2, side))
    found, _ = outcomes(everybody, plan)
    assert [each.misses.missed for each in found] == [0, 6, 6, 0]


def test_what_poldercast_misses_is_counted_in_each_cycle() -> None:
    work = even_workload(nodes=120, topics=30, each=4, seed=1)
    plan = ChurningPlan(churn=churn(([], [*range(100)]), ([3, 4, 5], [100, 101]), ([], [])), before=40)
    one = PolderCastOverlay(work, 1)
    told: list[int] = []
    found = list(run_churning(one, work, plan, told.append))
    assert told == [0, 1, 2]
    assert [each.present for each in found] == [100, 99, 99]
    assert found[0].misses.missed == 0
    assert found[1].settled.nodes == 97
    assert found[0].misses.deliveries == sum(len(one_by) for one_by in work.topics_of.lists()[:100]) - 30
