"""ModifiedGreedyFB3M: lazy or not the same as its twin, never far from the optimum, and as good as in the source."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.errors import PlanError
from analytics.planning.instance import Instance, instance
from analytics.planning.satisfaction import fb3m as fb3m_module
from analytics.planning.satisfaction.b3m import greedy_b3m
from analytics.planning.satisfaction.bound import bounds
from analytics.planning.satisfaction.fb3m import Key, greedy_by, greedy_fb3m
from analytics.planning.satisfaction.relaxed import relaxed
from analytics.planning.satisfaction.window_study import WINDOW_CAPACITIES
from tests.support import twin_fb3m
from tests.support.counted import steps_per_pair
from tests.support.generated import Drawn, drawn
from tests.support.instances import fractions, instances, optimum, small

ONE = instance(np.array([0]), np.array([0]), np.array([5]))
KEYS: tuple[Key, Key] = ("gain", "ratio")


@pytest.fixture(scope="module")
def drawing() -> Drawn:
    return drawn("spotify", 0.01, 1)


@pytest.fixture(scope="module")
def workload(drawing: Drawn) -> Instance:
    return instance(drawing.subscriber, drawing.topic, drawing.events)


@given(instances(8, 12), st.integers(1, 25), st.floats(0, 1), st.sampled_from(KEYS))
@settings(max_examples=150)
def test_lazy_or_not_the_choice_is_that_of_the_twin(found: Instance, threshold: int, share: float, key: Key) -> None:
    """WA-21; WA-31: E4, E5 (the choice is always the best, as worked out anew), E9."""
    capacity = int(found.cost.sum() * share)
    lazy, slow = (greedy_by(found, threshold, capacity, key, lazy=lazy) for lazy in (True, False))
    twin = twin_fb3m.greedy_by(found, threshold, capacity, key)
    assert lazy.solution.topics.tolist() == slow.solution.topics.tolist() == twin.topics.tolist()
    assert (lazy.solution.cost, lazy.solution.value) == (slow.solution.cost, slow.solution.value)
    assert twin.cost == lazy.solution.cost
    assert twin.value == pytest.approx(lazy.solution.value)


def test_lazy_and_slow_give_the_same_and_lazy_works_out_less(workload: Instance) -> None:
    """WA-21 (thesis 6.4.1)."""
    capacity = int(workload.cost.sum()) // 10
    for threshold in (27, 276, 2763):
        for key in KEYS:
            lazy, slow = (greedy_by(workload, threshold, capacity, key, lazy=lazy) for lazy in (True, False))
            assert lazy.solution.topics.tolist() == slow.solution.topics.tolist()
            assert lazy.solution.value == slow.solution.value
            assert 2 * lazy.evaluations < slow.evaluations


def test_a_thousand_random_solutions_are_worth_what_brute_force_says_and_keep_to_the_capacity() -> None:
    """WA-17 (thesis 6.2)."""
    for seed in range(1000):
        found, threshold, capacity = small(seed)
        solution = greedy_fb3m(found, threshold, capacity)
        assert solution.value == pytest.approx(sum(fractions(found, threshold, solution.topics.tolist())))
        assert solution.cost == found.cost[solution.topics].sum() <= capacity


def test_the_value_is_at_least_what_the_theorem_says_of_the_optimum() -> None:
    """WA-19 (thesis 6.4, theorem 6.12): half of 1 - 1/e."""
    for seed in range(150):
        found, threshold, capacity = small(seed)
        best = optimum(found, threshold, capacity)[1]
        assert 0.5 * (1 - np.exp(-1)) * best - 1e-9 <= greedy_fb3m(found, threshold, capacity).value <= best + 1e-9


def test_a_topic_adds_ever_less() -> None:
    """WA-20 (thesis 6.4, theorem 6.10): of two sets of served topics, one within the other."""
    for seed in range(200):
        found, threshold, _ = small(seed)
        order = np.random.default_rng(seed).permutation(len(found.events)).tolist()
        state, last = twin_fb3m.State(found, threshold), order.pop()
        adds = [state.gain(last)]
        for topic in order:
            state.serve(topic)
            adds.append(state.gain(last))
        assert adds == sorted(adds, reverse=True)


def test_what_satisfies_nobody_alone_may_satisfy_somebody_together() -> None:
    """WA-20: so B3M is not submodular."""
    found = instance(np.array([0, 0]), np.array([0, 1]), np.array([1, 1]))
    assert [fractions(found, 2, chosen).count(1.0) for chosen in ([], [0], [1], [0, 1])] == [0, 0, 0, 1]


@pytest.mark.parametrize("followers", [2, 5, 100])
def test_in_the_trap_type_r_satisfies_one_and_both_together_all(followers: int) -> None:
    """WA-22 (thesis 6.4.1): a topic of one event for one, and one of two events for x, in a capacity of 2 x."""
    found = instance(np.arange(followers + 1), np.minimum(np.arange(followers + 1), 1), np.array([1, 2]))
    assert greedy_by(found, 1, 2 * followers, "ratio").solution.value == 1
    assert greedy_fb3m(found, 1, 2 * followers).value == followers


def as_printed(found: Instance, threshold: int, capacity: int) -> float:
    """Runs algorithm 5 of type G to the letter, but for its end. Returns the value of what it serves."""
    state, topics, served, used = twin_fb3m.State(found, threshold), list(range(len(found.events))), [], 0
    values = {topic: state.gain(topic) for topic in topics}
    while topics:
        topic = max(topics, key=values.__getitem__)
        topics.remove(topic)
        if used + state.cost[topic] <= capacity:
            used += state.cost[topic]
            served.append(topic)
            state.serve(topic)
            while topics:
                last, topic = topic, max(topics, key=values.__getitem__)
                values[topic] = state.gain(topic)
                if values[last] == values[topic]:
                    break
    return sum(fractions(found, threshold, served))


@pytest.mark.parametrize(
    ("followers", "events", "capacity", "ours", "printed"),
    [
        pytest.param([[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 6], [0, 1, 2, 4, 7], [0, 1, 3, 4], [8, 9]], [1] * 5, 10, 8, 6, id="E4"),
        pytest.param([[0, 1, 2], [3, 4], [0, 1], [5]], [1, 10, 1, 1], 5, 4, 3, id="E5"),
    ],
)
def test_choosing_by_stale_values_as_printed_is_worse(
    followers: list[list[int]], events: list[int], capacity: int, ours: int, printed: int
) -> None:
    """WA-31: E4, E5. As printed a topic is taken for what it would have added before topic 0, and nothing more fits.

    E4: topics 1 and 2 now add as little as each other, so topic 3 is not looked at. E5: none is after topic 1 did not fit.
    """
    topic = np.repeat(np.arange(len(followers)), [len(each) for each in followers])
    found = instance(np.concatenate(followers), topic, np.array(events))
    assert greedy_by(found, 1, capacity, "gain").solution.value == ours
    assert as_printed(found, 1, capacity) == printed


def test_topics_that_add_nothing_are_not_served_although_there_is_room() -> None:
    """WA-31: E6. As printed all that fits would be served, and then the best of no topics looked for."""
    found = instance(np.array([0, 0]), np.array([0, 1]), np.array([4, 5]))
    for lazy in (True, False):
        assert greedy_fb3m(found, 3, 9, lazy=lazy).topics.tolist() == [0]


def test_without_topics_or_without_capacity_for_any_nothing_is_served() -> None:
    none = np.empty(0, np.int64)
    for found, capacity in ((instance(none, none, none), 5), (ONE, 0), (ONE, 4)):
        solution = greedy_fb3m(found, 1, capacity)
        assert (solution.topics.tolist(), solution.cost, solution.value) == ([], 0, 0)


@pytest.mark.parametrize(("threshold", "capacity", "says"), [(0, 1, "threshold is 0"), (-3, 1, "-3"), (1, -1, "capacity is -1")])
def test_a_problem_that_cannot_be_meant_is_refused(threshold: int, capacity: int, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        greedy_fb3m(ONE, threshold, capacity)


def test_the_ratio_to_the_bound_is_that_of_b3m_or_better(workload: Instance) -> None:
    """WA-24, WA-25 (thesis 6.5.3): at 2763 events 0.86 at least."""
    capacity = int(workload.cost.sum()) // 10
    for threshold, least in ((27, 0.7), (276, 0.7), (2763, 0.86)):
        limit = bounds(workload, threshold, capacity)
        ratio = greedy_fb3m(workload, threshold, capacity).value / limit.fb3m
        assert ratio >= greedy_b3m(workload, threshold, capacity).value / limit.b3m - 0.01
        assert ratio >= least


@pytest.mark.parametrize("rate", [0.3, 1.6])
def test_in_a_single_hour_the_ratio_rises_with_the_capacity(drawing: Drawn, rate: float) -> None:
    """WA-25, WA-27 but for its times (thesis 6.5.4): 20 events, and what is active in one hour of ten days, at night and in the evening.

    The ratio rises at first and then stays above. From 20 % of the capacity on it is 0.7 or more; at 1 % it is hardly more than 0.5,
    where the thesis has 0.7. That is the bound's fault, not the solution's: of the tightest bound that is known, either metric comes to
    0.95 at every capacity.
    """
    hour = np.random.default_rng(1).poisson(drawing.events * (rate / 240))
    found = instance(drawing.subscriber, drawing.topic, hour)
    whole, parts = [], []
    for share in WINDOW_CAPACITIES:
        capacity = round(share * int(found.cost.sum()))
        values, limit = (greedy_b3m(found, 20, capacity).value, greedy_fb3m(found, 20, capacity).value), bounds(found, 20, capacity)
        whole.append(values[0] / limit.b3m)
        parts.append(values[1] / limit.fb3m)
        assert 0.5 <= whole[-1] <= parts[-1]
        assert values[0] >= 0.95 * relaxed(found, 20, capacity, "b3m").bound
        assert values[1] >= 0.95 * relaxed(found, 20, capacity, "fb3m").bound
    for ratios in (whole, parts):
        assert ratios[0] < ratios[1] < min(ratios[2:])
        assert min(ratios[WINDOW_CAPACITIES.index(0.2) :]) >= 0.7


def test_the_work_for_a_pair_leaves_room_in_the_published_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """WA-26, in steps instead of seconds: full size has twelve million pairs, and a step takes 10 ns there (`bench planning`).

    So twenty seconds are 165 steps for a pair. It is little more for four times as many pairs.
    """
    counts = []
    for scale in (0.0005, 0.002):
        drawing = drawn("spotify", scale, 1)
        found = instance(drawing.subscriber, drawing.topic, drawing.events)
        with monkeypatch.context() as patch:
            counts.append(steps_per_pair(patch, fb3m_module, greedy_fb3m, found, (27, 276, 2763)))
    assert max(counts) <= 35
    assert counts[1] <= 1.3 * counts[0]
