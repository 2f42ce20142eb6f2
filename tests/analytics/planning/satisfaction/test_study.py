"""What is asked of a workload, as numbers that kernels take."""

from pathlib import Path

import pytest

from analytics.planning.errors import PlanError
from analytics.planning.satisfaction.study import SatisfactionQuestions, in_events, study
from analytics.planning.workload import load
from tests.support.traces import ring


@pytest.mark.parametrize("capacity", [1 << 80, 1e298])
def test_more_capacity_than_all_topics_take_is_what_all_topics_take(tmp_path: Path, capacity: int | float) -> None:
    found = study(load(ring(tmp_path / "t", 6)), SatisfactionQuestions((3,), capacity, ("b3m",), ("greedy",)), lambda _: None)
    assert (found.capacity, found.runs[0].share) == (found.full_capacity, 1.0)


@pytest.mark.parametrize("threshold", [1 << 63, 10**30, 1e28, 1e300])
def test_thresholds_beyond_what_can_be_added_up_are_refused(tmp_path: Path, threshold: int | float) -> None:
    with pytest.raises(PlanError, match="it must be 2\\^60 events or less"):
        study(load(ring(tmp_path / "t", 6)), SatisfactionQuestions((threshold,)), lambda _: None)


def test_thresholds_are_events_or_shares_of_the_mean_and_each_is_there_once(tmp_path: Path) -> None:
    """Six topics with 1 to 6 events: 3.5 each."""
    assert in_events(load(ring(tmp_path / "t", 6)).instance, (7, 2.0, 0.01, 1)) == (7, 1)
