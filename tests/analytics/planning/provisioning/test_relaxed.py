"""The bound by shares: no plan undercuts it, and it is nearly reached."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.errors import PlanError
from analytics.planning.instance import Instance, instance
from analytics.planning.provisioning.bill import bill
from analytics.planning.provisioning.bound import LowerBound, lower_bounds
from analytics.planning.provisioning.relaxed import relaxed_bound
from analytics.planning.provisioning.terms import Machine, Terms
from tests.support.instances import instances
from tests.support.placements import cheapest_usd, plans, tiny, tiny_terms


@given(instances(), st.integers(1, 30), st.data())
@settings(max_examples=25)
def test_no_algorithm_undercuts_it_and_it_is_above_the_published_one(found: Instance, threshold: int, data: st.DataObject) -> None:
    """WA-35, for the bound beyond the thesis."""
    terms = data.draw(tiny_terms(int(found.events.max())))
    bound = relaxed_bound(found, threshold, terms)
    assert bound.events >= lower_bounds(found, threshold, terms).published.events
    for selection, placement in plans(found, threshold, terms):
        plan = bill(found, threshold, selection, placement, terms)
        assert bound.events <= plan.events
        assert bound.machines <= plan.machines
        assert bound.usd <= plan.usd + 1e-9


@given(st.one_of(instances(2, 3), instances(3, 2)), st.integers(1, 20), st.data())
@settings(max_examples=25)
def test_the_best_plan_does_not_undercut_it(found: Instance, threshold: int, data: st.DataObject) -> None:
    """WA-35, on instances small enough to try all plans."""
    terms = data.draw(tiny_terms(int(found.events.max())))
    assert relaxed_bound(found, threshold, terms).usd <= cheapest_usd(found, threshold, terms) + 1e-9


def test_two_who_can_share_a_topic_pay_half_of_its_incoming_stream_each() -> None:
    """Both need 4 and have topic 0 (4 events) and one of their own with 5: they pay 4 + 2 each, which is what the best plan costs."""
    found = instance(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2]), np.array([4, 5, 5]))
    bounds = lower_bounds(found, 4, tiny(20))
    assert bounds.published.events == 8
    assert relaxed_bound(found, 4, tiny(20)).events == 12


def test_a_topic_that_two_machines_have_to_serve_comes_in_twice() -> None:
    """Five pairs of 10 events, and a machine has room for three pairs beside the incoming stream: 50 events out and 20 in."""
    found = instance(np.arange(5), np.zeros(5, np.int64), np.array([10]))
    assert relaxed_bound(found, 10, tiny(40, rent_usd=2.0)) == LowerBound(70, 2, 4.0)


def test_nobody_needs_nothing_and_a_threshold_below_one_event_is_refused() -> None:
    none = np.empty(0, np.int64)
    empty = instance(none, none, none)
    assert relaxed_bound(empty, 1, tiny(5)) == LowerBound(0, 0, 0.0)
    with pytest.raises(PlanError, match="threshold is 0; it must be 1 event or more"):
        relaxed_bound(empty, 0, tiny(5))


def test_machines_too_small_for_any_plan_are_refused() -> None:
    """Somebody follows topic 1 only, and nobody has to be served topic 0."""
    found = instance(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([90, 10]))
    for terms in (Terms(Machine("m", 1.0, 1.0), 0.0, message_bytes=10**12), tiny(19)):
        with pytest.raises(PlanError, match=f"can carry {terms.capacity} events, and the loudest topic needs 20"):
            relaxed_bound(found, 5, terms)
    assert relaxed_bound(found, 5, tiny(20)).events == 30


def test_sums_beyond_32_bits_are_right() -> None:
    """Two subscribers of a topic with 2^58 events, out and in; floats lose no more than a billionth of it."""
    found = instance(np.array([0, 1]), np.array([0, 0]), np.array([1 << 58]))
    assert (3 << 58) * (1 - 1e-9) <= relaxed_bound(found, 1 << 59, tiny(1 << 60)).events <= 3 << 58
