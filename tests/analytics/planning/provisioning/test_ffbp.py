"""FFBP: the same as algorithm 10, with a topic that is not there yet paid for twice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.errors import PlanError
from analytics.planning.instance import Instance, instance
from analytics.planning.provisioning.bill import bill
from analytics.planning.provisioning.ffbp import ffbp
from analytics.planning.provisioning.gsp import gsp
from tests.support import twin_mcss
from tests.support.instances import instances
from tests.support.placements import EXAMPLE, EXAMPLE_PAIRS, tiny, tiny_terms


@given(instances(), st.integers(1, 30), st.data())
@settings(max_examples=100)
def test_each_pair_is_on_the_first_machine_with_room(found: Instance, threshold: int, data: st.DataObject) -> None:
    """Algorithm 10. WA-44: E17 (a new topic needs room for its incoming stream)."""
    terms = data.draw(tiny_terms(int(found.events.max())))
    selection = gsp(found, threshold)
    placement = ffbp(found, selection, terms)
    by_subscriber = selection.subscribers_of.turned(len(found.topics_of)).lists()
    pairs = [(topic, subscriber) for subscriber, topics in enumerate(by_subscriber) for topic in topics]
    expected = twin_mcss.ffbp(found, pairs, terms.capacity, [])
    served = [(topic, v) for topic, of in enumerate(selection.subscribers_of.lists()) for v in of]
    machine_of = dict(zip(served, placement.machine_of.tolist(), strict=True))
    assert machine_of == {pair: at for at, machine in enumerate(expected) for pair in machine.pairs}
    assert placement.machines == len(expected)


def test_the_example_of_the_source_needs_130() -> None:
    """WA-34 (thesis 7.2.2, figure 7.3b): in the order it is told, and in that of subscribers. WA-44: E28."""
    machines = twin_mcss.ffbp(EXAMPLE, EXAMPLE_PAIRS, 100, [twin_mcss.Machine(60), twin_mcss.Machine(100)])
    assert [each.free for each in machines] == [0, 30]
    selection = gsp(EXAMPLE, 1000)
    assert bill(EXAMPLE, 1000, selection, ffbp(EXAMPLE, selection, tiny(100)), tiny(100)).events == 40 + 130


def test_more_machines_than_fit_into_one_byte_are_told_apart() -> None:
    """Each of 40 topics with two subscribers fills one machine and a half, so each third machine is shared."""
    found = instance(np.arange(80), np.repeat(np.arange(40), 2), np.full(40, 10))
    selection = gsp(found, 10)
    assert ffbp(found, selection, tiny(20)).machines == 80
    assert ffbp(found, selection, tiny(30)).machines == 40
    assert ffbp(found, selection, tiny(50)).machines == 27


def test_a_machine_that_cannot_take_the_loudest_topic_is_refused() -> None:
    found = instance(np.array([0]), np.array([0]), np.array([10]))
    with pytest.raises(PlanError, match="can carry 19 events, and the loudest topic needs 20"):
        ffbp(found, gsp(found, 1), tiny(19))
