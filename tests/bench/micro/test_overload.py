"""The benchmark of a site link with too much to do, in small."""

import pytest

from bench.micro.overload import OverloadFigures, OverloadPlan, Policy, measure


def run(policy: Policy, load: float, seconds: float) -> OverloadFigures:
    return measure(OverloadPlan(policy=policy, load=load, seconds=seconds, clients=500))


@pytest.mark.parametrize("policy", ["drop", "batch", "conflate", "gain"])
def test_below_60_percent_everything_comes_at_once(policy: Policy) -> None:
    """DPS-20: whatever is done above."""
    figures = run(policy, 0.5, 0.2)
    assert (figures.events, figures.deliveries, figures.useful) == (1000, figures.due, figures.due)
    assert figures.p50_s < 0.01


def test_at_twice_what_it_carries_the_newest_comes_instead_of_old_ones() -> None:
    """DPS-21: what is dropped first in comes old, so a newer one has been published meanwhile."""
    batched, conflated = run("batch", 2.0, 5.0), run("conflate", 2.0, 5.0)
    assert conflated.useful > 1.3 * batched.useful
    assert conflated.p50_s < batched.p50_s
    assert conflated.events <= 2.0 * batched.events
