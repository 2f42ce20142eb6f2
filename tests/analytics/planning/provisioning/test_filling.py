"""Filling a number of machines that the volume asks for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.errors import PlanError
from analytics.planning.instance import Instance, instance
from analytics.planning.provisioning.bill import bill
from analytics.planning.provisioning.filling import fill
from analytics.planning.provisioning.gsp import gsp
from tests.support.instances import instances
from tests.support.placements import tiny, tiny_terms


@given(instances(), st.integers(1, 30), st.data())
@settings(max_examples=40)
def test_what_is_filled_passes_the_checker(found: Instance, threshold: int, data: st.DataObject) -> None:
    """WA-32. So few pairs never take many machines more than their volume asks for."""
    terms = data.draw(tiny_terms(int(found.events.max())))
    selection = gsp(found, threshold)
    placement = fill(found, selection, terms)
    if placement is not None:
        bill(found, threshold, selection, placement, terms)


def test_topics_stay_whole_where_they_fit_and_level_what_is_left() -> None:
    """Volumes 60, 50, 40, 30, 10 and 10 fill two machines of 100, and no topic comes in twice."""
    found = instance(np.arange(6), np.arange(6), np.array([30, 25, 20, 15, 5, 5]))
    selection = gsp(found, 30)
    placement = fill(found, selection, tiny(100))
    assert placement is not None
    assert placement.machines == 2
    assert bill(found, 30, selection, placement, tiny(100)).incoming == 100


def test_a_topic_too_large_for_a_machine_goes_on_on_the_next() -> None:
    """Five pairs of 10 events and three to a machine."""
    found = instance(np.arange(5), np.zeros(5, np.int64), np.array([10]))
    placement = fill(found, gsp(found, 10), tiny(40))
    assert placement is not None
    assert placement.machine_of.tolist() == [0, 0, 0, 1, 1]


def test_it_gives_up_when_the_volume_says_little_of_how_many_machines_are_needed() -> None:
    """Of 60 events in and out a machine of 100 has room for one topic only: 40 topics need 40, and their volume asks for 24."""
    found = instance(np.arange(40), np.arange(40), np.full(40, 30))
    assert fill(found, gsp(found, 30), tiny(100)) is None


def test_a_machine_too_small_for_the_loudest_topic_is_refused() -> None:
    """Thesis 7.1.3. Nothing selected needs no machine."""
    found = instance(np.array([0]), np.array([0]), np.array([30]))
    with pytest.raises(PlanError, match="the loudest topic needs 60"):
        fill(found, gsp(found, 30), tiny(59))
    none = np.empty(0, np.int64)
    empty = instance(none, none, none)
    nothing = fill(empty, gsp(empty, 1), tiny(5))
    assert nothing is not None
    assert nothing.machines == 0
