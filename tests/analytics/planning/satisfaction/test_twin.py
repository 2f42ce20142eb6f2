"""The twins of the two greedy algorithms: the same as the definition, with everything computed anew at each step."""

from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.instance import Instance
from analytics.planning.satisfaction.parts import whole
from tests.support.instances import fractions, instances, optimum
from tests.support.twin_b3m import greedy_b3m

problems = given(instances(), st.integers(1, 20), st.floats(0, 1))


def by_definition(found: Instance, threshold: int, capacity: int) -> list[int]:
    """Chooses as spec C3 defines, and computes everything anew at each step."""
    events, cost, remaining = found.events.tolist(), found.cost.tolist(), found.thresholds(threshold).tolist()
    undecided, chosen, used, parts = set(range(len(cost))), [], 0, whole(found)

    def value(topic: int) -> float:
        lacking = [remaining[v] for v in found.subscribers_of.lists()[topic] if remaining[v]]
        return sum(int(min(events[topic], each) * ((parts + 0.5) / each)) for each in lacking) / float(cost[topic])

    while undecided:
        topic = min(undecided, key=lambda each: (-value(each), each))
        if value(topic) == 0:
            break
        undecided.remove(topic)
        if used + cost[topic] <= capacity:
            used += cost[topic]
            chosen.append(topic)
            for v in found.subscribers_of.lists()[topic]:
                remaining[v] = max(0, remaining[v] - events[topic])
    return chosen


@problems
@settings(max_examples=60)
def test_the_choice_is_that_of_the_definition(found: Instance, threshold: int, capacity_share: float) -> None:
    """WA-31: E1 (a topic that does not fit is left for good) and E2 (only undecided topics are valued anew)."""
    capacity = int(found.cost.sum() * capacity_share)
    assert greedy_b3m(found, threshold, capacity).topics.tolist() == by_definition(found, threshold, capacity)


@problems
@settings(max_examples=60)
def test_the_cost_is_within_the_capacity_and_the_satisfied_are_counted_right(found: Instance, threshold: int, share: float) -> None:
    """No choice is better than the best."""
    capacity = int(found.cost.sum() * share)
    solution = greedy_b3m(found, threshold, capacity)
    assert solution.cost == found.cost[solution.topics].sum() <= capacity
    assert solution.value == fractions(found, threshold, solution.topics).count(1.0) <= optimum(found, threshold, capacity)[0]
