"""Problems that nobody can mean are refused by all that solve or judge them, and capacity without end serves all."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

from analytics.planning.errors import PlanError
from analytics.planning.instance import Instance, instance
from analytics.planning.satisfaction.b3m import greedy_b3m
from analytics.planning.satisfaction.bound import bounds
from analytics.planning.satisfaction.cuckoo import cuckoo
from analytics.planning.satisfaction.curve import curve
from analytics.planning.satisfaction.exact import exact
from analytics.planning.satisfaction.fb3m import greedy_by, greedy_fb3m
from analytics.planning.satisfaction.improved import improved
from analytics.planning.satisfaction.relaxed import relaxed_bound
from analytics.planning.satisfaction.solution import evaluate

FOUND: Final = instance(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([3, 4]))
Judge = Callable[[Instance, Any, Any, Any], float]
OF_ANY_METRIC: Final[dict[str, Judge]] = {
    "improved": lambda *problem: improved(*problem).value,
    "cuckoo": lambda *problem: cuckoo(*problem).value,
    "exact": lambda *problem: exact(*problem).value,
    "relaxed": relaxed_bound,
}
ALL: Final[dict[str, Judge]] = OF_ANY_METRIC | {
    "b3m": lambda found, threshold, capacity, _: greedy_b3m(found, threshold, capacity).value,
    "fb3m": lambda found, threshold, capacity, _: greedy_fb3m(found, threshold, capacity).value,
    "gain": lambda found, threshold, capacity, _: greedy_by(found, threshold, capacity, "gain").solution.value,
    "bounds": lambda found, threshold, capacity, _: bounds(found, threshold, capacity).b3m,
}


@pytest.mark.parametrize("judge", ALL.values(), ids=ALL)
@pytest.mark.parametrize(
    ("threshold", "capacity", "says"),
    [
        (1 << 63, 5, "the threshold is 9223372036854775808; it must be 2\\^60 events or less"),
        (0, 5, "the threshold is 0; it must be 1 event or more"),
        (2.5, 5, "the threshold is 2.5; it must be a whole number of events"),
        (float("nan"), 5, "the threshold is nan"),
        (3, -1, "the capacity is -1; it must be 0 deliveries or more"),
        (3, 5.5, "the capacity is 5.5; it must be a whole number of deliveries"),
        (3, float("nan"), "the capacity is nan"),
        (3, float("inf"), "the capacity is inf"),
    ],
)
def test_a_threshold_and_a_capacity_that_nobody_can_mean_are_refused(judge: Judge, threshold: Any, capacity: Any, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        judge(FOUND, threshold, capacity, "b3m")


@pytest.mark.parametrize("judge", ALL.values(), ids=ALL)
@pytest.mark.parametrize("metric", ["b3m", "fb3m"])
def test_capacity_beyond_64_bits_and_numbers_of_numpy_will_do(judge: Judge, metric: str) -> None:
    assert judge(FOUND, np.int64(3), 1 << 80, metric) == 2
    assert judge(FOUND, 3, np.int32(0), metric) == 0


@pytest.mark.parametrize("judge", OF_ANY_METRIC.values(), ids=OF_ANY_METRIC)
def test_an_unknown_metric_is_refused(judge: Judge) -> None:
    with pytest.raises(PlanError, match="there is no metric 'x'; take b3m or fb3m"):
        judge(FOUND, 3, 5, "x")


def test_what_topics_are_worth_is_told_of_topics_that_there_are() -> None:
    assert evaluate(FOUND, 7, np.array([0, 1])) == (2, 2.0)
    with pytest.raises(PlanError, match="threshold is 0"):
        evaluate(FOUND, 0, np.array([0]))
    for topics in ([5], [-1], [0, 2]):
        with pytest.raises(PlanError, match="topics must be numbered from 0 to 1"):
            evaluate(FOUND, 7, np.array(topics))
        with pytest.raises(PlanError, match="topics must be numbered from 0 to 1"):
            curve(FOUND, 7, np.array(topics), "b3m")
    with pytest.raises(PlanError, match="no metric 'x'"):
        curve(FOUND, 7, np.array([0]), "x")  # type: ignore[arg-type]
