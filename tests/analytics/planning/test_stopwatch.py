"""How long something takes, and what is solved before that is asked."""

from analytics.planning.satisfaction.b3m import greedy_b3m
from analytics.planning.stopwatch import timed, trial


def test_what_is_timed_gets_its_arguments_and_its_outcome_comes_back() -> None:
    (inner, inner_s), outer_s = timed(timed, divmod, 7, 2)
    assert inner == (3, 1)
    assert 0 <= inner_s <= outer_s


def test_the_trial_has_somebody_to_satisfy_and_something_to_leave_out() -> None:
    solution = greedy_b3m(trial(), threshold=1, capacity=3)
    assert 0 < len(solution.topics) < len(trial().events)
