"""The lower bounds: no plan undercuts them, the best one included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.errors import PlanError
from analytics.planning.instance import Instance, instance
from analytics.planning.provisioning.bill import bill
from analytics.planning.provisioning.bound import LowerBound, lower_bounds
from analytics.planning.provisioning.terms import Machine, Terms
from tests.support.instances import instances
from tests.support.placements import cheapest_usd, plans, tiny, tiny_terms


@given(instances(), st.integers(1, 30), st.data())
@settings(max_examples=60)
def test_no_algorithm_undercuts_the_bounds(found: Instance, threshold: int, data: st.DataObject) -> None:
    """WA-35 (thesis 7.2.3, theorem 7.3). WA-32: the plans of all algorithms pass the checker."""
    terms = data.draw(tiny_terms(int(found.events.max())))
    published, stronger = lower_bounds(found, threshold, terms)
    for selection, placement in plans(found, threshold, terms):
        plan = bill(found, threshold, selection, placement, terms)
        for bound in (published, stronger):
            assert bound.events <= plan.events
            assert bound.machines <= plan.machines
            assert bound.usd <= plan.usd + 1e-9
    assert published.events <= stronger.events


@given(st.one_of(instances(2, 3), instances(3, 2)), st.integers(1, 20), st.data())
@settings(max_examples=40)
def test_the_best_plan_is_between_the_bounds_and_every_algorithm(found: Instance, threshold: int, data: st.DataObject) -> None:
    """WA-35, on instances small enough to try all plans."""
    terms = data.draw(tiny_terms(int(found.events.max())))
    best = cheapest_usd(found, threshold, terms)
    assert max(bound.usd for bound in lower_bounds(found, threshold, terms)) <= best + 1e-9
    for selection, placement in plans(found, threshold, terms):
        assert best <= bill(found, threshold, selection, placement, terms).usd + 1e-9


def test_each_subscriber_gets_the_threshold_or_the_smallest_topic_and_some_of_it_comes_in() -> None:
    """Subscribers 0 and 1 need 4 (topic 0) and 3 + 2 (two more topics); subscriber 2 has theirs from those."""
    found = instance(np.array([0, 1, 1, 2]), np.array([0, 1, 2, 1]), np.array([4, 3, 2]))
    bounds = lower_bounds(found, 5, tiny(8, rent_usd=2.0, event_usd=1.0))
    assert bounds.published == pytest.approx((4 + 5 + 3, 2, 16.0))
    assert bounds.stronger == pytest.approx((12 + 9, 3, 27.0))


def test_what_others_settled_is_not_counted_again() -> None:
    """Both need 5: topic 0 comes in for the first, and the second may have 3 of 5 from it, so 2 more, or the smallest of the rest."""
    found = instance(np.array([0, 1, 1, 1]), np.array([0, 0, 1, 2]), np.array([3, 4, 5]))
    assert lower_bounds(found, 5, tiny(100)).stronger.events == 3 + 5 + 3 + 4


def test_messages_are_weighed_before_they_are_divided_among_machines() -> None:
    """WA-44: E29. 900 events of 200 bytes are 0.18 megabytes, and a machine of a megabit carries 0.125 of them in a second."""
    terms = Terms(Machine("m", 1.0, 1.0), 0.0, message_bytes=200, hours=1, capacity_s=1)
    found = instance(np.arange(3), np.zeros(3, np.int64), np.array([300]))
    assert lower_bounds(found, 1000, terms).published.machines == 2


def test_nobody_needs_nothing() -> None:
    none = np.empty(0, np.int64)
    assert lower_bounds(instance(none, none, none), 1, tiny(5)) == (LowerBound(0, 0, 0.0), LowerBound(0, 0, 0.0))


def test_a_threshold_below_one_event_and_machines_too_small_for_any_plan_are_refused() -> None:
    """Somebody follows topic 1 only, and nobody has to be served topic 0."""
    found = instance(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([90, 10]))
    with pytest.raises(PlanError, match="threshold is 0; it must be 1 event or more"):
        lower_bounds(found, 0, tiny(20))
    with pytest.raises(PlanError, match="can carry 19 events, and the loudest topic needs 20"):
        lower_bounds(found, 5, tiny(19))
    assert lower_bounds(found, 5, tiny(20)).stronger.events == 30


def test_sums_beyond_32_bits_are_right() -> None:
    """Two subscribers of a topic with 2^58 events."""
    found = instance(np.array([0, 1]), np.array([0, 0]), np.array([1 << 58]))
    assert lower_bounds(found, 1, tiny(1 << 59)).stronger == (3 << 58, 2, 2.0)
