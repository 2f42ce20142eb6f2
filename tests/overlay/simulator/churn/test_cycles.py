"""Churn by cycle: who leaves, who comes, and who came too late to count."""

import numpy as np
import pytest

from overlay.simulator.churn.cycles import CycleChurn, by_cycle
from overlay.simulator.churn.maker import ChurnShape, make_churn
from overlay.simulator.churn.trace import ChurnTrace
from overlay.simulator.errors import OverlayError


def trace(*changes: tuple[int, int, int]) -> ChurnTrace:
    time_ms, node, on = np.array(changes, np.int64).T
    return ChurnTrace(time_ms, node, on)


def cycles(found: CycleChurn) -> list[tuple[list[int], list[int]]]:
    return [(leaving.tolist(), coming.tolist()) for leaving, coming in zip(found.leaving, found.coming, strict=True)]


def test_changes_are_told_in_the_cycle_that_they_happen_in() -> None:
    found = by_cycle(trace((0, 3, 1), (0, 1, 1), (9, 2, 1), (10, 1, 0), (25, 2, 0), (30, 0, 1)), 10, 3, 4)
    assert cycles(found) == [([], [1, 2, 3]), ([1], []), ([2], [])]


def test_who_returns_in_a_cycle_leaves_and_comes_and_who_only_looks_in_does_neither() -> None:
    found = by_cycle(trace((0, 0, 1), (11, 0, 0), (12, 1, 1), (13, 0, 1), (14, 1, 0), (15, 1, 1), (16, 1, 0)), 10, 2, 2)
    assert cycles(found) == [([], [0]), ([0], [0])]


def test_the_present_are_those_of_the_trace_at_the_end_of_each_cycle() -> None:
    made = make_churn(ChurnShape(nodes=300, days=1.0, crowd=30), 2)
    found = by_cycle(made, 60_000, 1440, 300)
    for cycle in (0, 1, 59, 70, 700, 1079, 1080, 1439):
        on: set[int] = set()
        for time, node, is_on in zip(made.time_ms.tolist(), made.node.tolist(), made.on.tolist(), strict=True):
            if time < 60_000 * (cycle + 1):
                (on.add if is_on else on.discard)(node)
        assert found.present(cycle).tolist() == sorted(on)


def test_nobody_leaves_who_is_not_there_or_comes_who_is() -> None:
    found = by_cycle(make_churn(ChurnShape(nodes=300, days=2.0, crowd=30), 3), 60_000, 2880, 300)
    there: set[int] = set()
    for leaving, coming in cycles(found):
        assert set(leaving) <= there
        there -= set(leaving)
        assert not there & set(coming)
        there |= set(coming)


def test_those_who_came_just_before_the_end_are_fresh() -> None:
    """PC 6.6: the first 10 s after a node's join do not count."""
    found = by_cycle(trace((0, 0, 1), (49_999, 1, 1), (50_001, 2, 1), (50_500, 3, 1), (60_000, 4, 1)), 60_000, 2, 5)
    assert found.fresh(0, 10_000).tolist() == [2, 3]
    assert found.fresh(0, 60_001).tolist() == [0, 1, 2, 3]
    assert found.fresh(1, 10_000).tolist() == []


def test_the_last_coming_counts_for_those_who_return() -> None:
    found = by_cycle(trace((0, 0, 1), (10, 0, 0), (55_000, 0, 1)), 60_000, 1, 1)
    assert cycles(found) == [([], [0])]
    assert found.fresh(0, 10_000).tolist() == [0]


def test_the_dead_leave_if_they_are_there_and_never_come_again() -> None:
    found = by_cycle(trace((0, 0, 1), (0, 1, 1), (15, 1, 0), (25, 2, 1), (35, 1, 1), (36, 0, 0)), 10, 4, 3)
    dead = found.with_deaths(2, np.array([0, 1, 2]))
    assert cycles(dead) == [([], [0, 1]), ([1], []), ([0], []), ([], [])]
    assert cycles(found)[2] == ([], [2])
    assert [len(each) for each in dead.late_ms] == [2, 0, 0, 0]


def test_numbers_that_make_no_sense_are_refused() -> None:
    with pytest.raises(OverlayError, match="the churn has node 7, and the overlay has nodes 0 to 4; give a larger overlay"):
        by_cycle(trace((0, 7, 1)), 10, 1, 5)
    with pytest.raises(OverlayError, match="0 cycles of 10 ms"):
        by_cycle(trace((0, 0, 1)), 10, 0, 5)
    with pytest.raises(OverlayError, match="cycle 3: deaths must be in one of the 2 cycles, 0 to 1"):
        by_cycle(trace((0, 0, 1)), 10, 2, 5).with_deaths(3, np.array([0]))
