"""The decision service's answers on a generated workload, beside the rule to beat."""

import subprocess
import sys

import numpy as np
import pytest

from analytics.offloading.leftover import Leftover
from analytics.offloading.pairs import Keys, pair
from analytics.offloading.solving import OffloadingProblem, solve
from analytics.planning.instance import instance
from analytics.planning.satisfaction.cuckoo import cuckoo
from analytics.planning.satisfaction.solution import Metric, evaluate
from tests.support.generated import Drawn, drawn


@pytest.fixture(scope="module")
def generated() -> Drawn:
    """Returns a hundredth of the published workload of presence."""
    return drawn("spotify", 0.01, 1)


def problem(of: Drawn, points: int = 3) -> OffloadingProblem:
    """Returns the problem as access points would tell it: each subscriber at one of them, every seventh at two."""
    keys = of.subscriber << 32 | of.topic
    at = [(of.subscriber % points == point) | ((of.subscriber % 7 == 0) & (of.subscriber % points == point - 1)) for point in range(points)]
    parts: list[Keys] = [np.sort(keys[here]) for here in at]
    events = of.events.astype(np.int64)
    return OffloadingProblem(
        parts, events, np.zeros(len(events), np.bool_), events > 0, Leftover(np.zeros(len(events)), np.zeros(len(events)))
    )


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("metric", ["b3m", "fb3m"])
def test_more_are_satisfied_than_by_the_cuckoo_rule_in_the_same_capacity(generated: Drawn, metric: Metric, share: float) -> None:
    """WA-30, and WA-29: the cost is within the capacity, and the value is that of an independent count."""
    whole = instance(generated.subscriber, generated.topic, generated.events)
    threshold = max(1, int(whole.received.mean() / 100))
    capacity = int(whole.cost.sum() * share)
    found = solve(problem(generated), metric, threshold, capacity)
    rule = cuckoo(whole, threshold, capacity, metric)
    places = np.searchsorted(whole.topic_ids, found.served)
    assert int(whole.cost[places].sum()) == found.cost <= capacity
    assert getattr(evaluate(whole, threshold, places), metric) == pytest.approx(found.value)
    assert rule.value < found.value <= found.bound + 1e-6
    assert not found.out[found.served].any()
    assert found.out.sum() == found.topics - len(found.served)


def test_an_answer_that_is_as_good_as_before_moves_nothing(generated: Drawn) -> None:
    """Spec C7: the same again, from the sides of before."""
    first = problem(generated)
    once = solve(first, "b3m", 3, 100_000)
    again = solve(OffloadingProblem(first.pairs, first.events, once.out, first.remembered, first.leftover), "b3m", 3, 100_000)
    assert (again.out == once.out).all()
    assert again.value == once.value


@pytest.mark.parametrize("metric", ["b3m", "fb3m"])
def test_when_rates_change_the_online_answer_is_nearly_as_good(generated: Drawn, metric: Metric) -> None:
    """WA-46, WA-29: from the same sides of before, within the same capacity."""
    first = problem(generated)
    capacity = int(instance(generated.subscriber, generated.topic, generated.events).cost.sum()) // 10
    before = solve(first, metric, 27, capacity, "online").out
    drift = np.random.default_rng(5).lognormal(0, 0.5, len(first.events))
    now = OffloadingProblem(first.pairs, np.ceil(first.events * drift).astype(np.int64), before, first.remembered, first.leftover)
    online, fresh = solve(now, metric, 27, capacity, "online"), solve(now, metric, 27, capacity, "fresh")
    assert online.cost <= capacity
    assert online.value >= 0.95 * fresh.value
    assert (online.out != fresh.out).any()


def test_without_pairs_there_is_nothing_to_decide() -> None:
    found = solve(
        OffloadingProblem([], np.array([3]), np.array([True]), np.array([True]), Leftover(np.zeros(1), np.zeros(1))), "b3m", 3, 10
    )
    assert (found.topics, found.cost, found.value, found.out.tolist()) == (0, 0, 0, [False])


def test_a_pair_is_one_number() -> None:
    assert np.array([5 << 32 | 7]) == pair(5, 7)


COUNT_KERNELS = """
import gc, sys
import subprocess
import sys

import numpy as np
from numba.core.dispatcher import Dispatcher
from analytics.offloading.pairs import pair
from analytics.offloading.leftover import Leftover
from analytics.offloading.solving import OffloadingProblem, solve, warm

def compiled():
    return sum(len(each.signatures) for each in gc.get_objects() if isinstance(each, Dispatcher))

metric, solver = sys.argv[1:]
warm(metric, solver)
before = compiled()
rng = np.random.default_rng(1)
events = rng.integers(0, 9, 300)
keys = np.unique(rng.integers(0, 900, 5000) << 32 | rng.integers(0, 300, 5000))
none = Leftover(np.zeros(300), np.zeros(300))
out = np.zeros(300, np.bool_)
for capacity in (9000, 4000, 100):
    out = solve(OffloadingProblem([keys], events, out, events > 0, none), metric, 7, capacity, solver).out
print(before, compiled() - before, int(out.sum()) > 0)
"""


@pytest.mark.parametrize(("metric", "solver"), [("b3m", "online"), ("fb3m", "fresh")])
def test_no_decision_waits_for_kernels_that_are_compiled_or_loaded(metric: str, solver: str) -> None:
    """In a process of its own: here they have been used before."""
    ran = subprocess.run([sys.executable, "-c", COUNT_KERNELS, metric, solver], capture_output=True, text=True, check=False, timeout=90)
    assert ran.returncode == 0, ran.stderr
    kernels, further, offloads = ran.stdout.split()
    assert (int(kernels) > 0, further, offloads) == (True, "0", "True")
