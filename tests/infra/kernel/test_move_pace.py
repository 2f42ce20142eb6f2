"""Pace: pauses behind parts of planned work, which are bounded."""

import pytest

from infra.kernel.move_pace import LEAST_S, MovePace, has_time
from infra.kernel.ring import Ring


def test_who_works_through_many_topics_pauses_behind_each_part_as_long_as_it_has() -> None:
    pace = MovePace(1e-4, 1.0)
    assert pace.after(100) == pytest.approx(0.01)
    assert pace.after(20) == pytest.approx(0.002)


def test_few_topics_cost_no_pause() -> None:
    """DPS-15: in a small site a step takes no longer."""
    assert [MovePace(1e-4, 1.0).after(topics) for topics in (0, 1, 9)] == [0.0] * 3
    assert MovePace(1e-4, 1.0).after(10) == pytest.approx(LEAST_S)


def test_all_pauses_together_are_bounded_and_a_rest_is_used() -> None:
    """DPS-15: what moves is held for no longer than that on top."""
    pace = MovePace(1e-4, 0.035)
    assert [pace.after(100) for _ in range(5)] == pytest.approx([0.01, 0.01, 0.01, 0.005, 0.0])
    assert MovePace(1.0, 0.0).after(1) == 0.0


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"b1": 256, "b2": 256}, {"b1": 256, "b2": 256, "b3": 32}, True),
        ({"b1": 256, "b2": 256}, {"b1": 256, "b2": 248}, True),
        ({"b1": 256, "b2": 8}, {"b1": 256}, True),
        ({"b1": 256, "b2": 256}, {"b1": 256, "b2": 224}, False),
        ({"b1": 256, "b2": 32}, {"b1": 256}, False),
        ({"b1": 256, "b2": 256, "b3": 0}, {"b1": 256, "b2": 224, "b3": 32}, False),
    ],
)
def test_who_comes_and_who_is_drained_by_plan_has_time_and_who_is_stopped_has_none(
    before: dict[str, int], after: dict[str, int], *, expected: bool
) -> None:
    """DPS-16: a broker that is asked to stop has half of `drain_s` for all of its steps, and one that is gone serves nothing meanwhile."""
    assert has_time(Ring(before, shares=before), Ring(after, shares=after)) == expected
