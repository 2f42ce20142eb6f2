"""CBP: the same as algorithms 11 and 12 with each option, ends on every input, and no worse than the baseline where it should be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.generator.profile import Name
from analytics.planning.errors import PlanError
from analytics.planning.instance import Instance, instance
from analytics.planning.provisioning.bill import bill
from analytics.planning.provisioning.cbp import PlacementOptions, cbp
from analytics.planning.provisioning.ffbp import ffbp
from analytics.planning.provisioning.gsp import gsp
from analytics.planning.provisioning.prices import books
from tests.support import twin_mcss
from tests.support.generated import drawn
from tests.support.instances import instances
from tests.support.placements import EXAMPLE, SWITCHES, scaled, tiny, tiny_terms
from tests.support.twin_mcss import Machine


@given(instances(), st.integers(1, 30), st.sampled_from(SWITCHES), st.data())
@settings(max_examples=250)
def test_the_placement_is_that_of_the_definition(found: Instance, threshold: int, options: PlacementOptions, data: st.DataObject) -> None:
    """WA-37 (thesis 7.2.2, algorithms 11 and 12; spec D3): each option can be switched on its own.

    WA-44: E18 (the newest machine first), E19 (both orders), E22 and E23 (what fits, with the incoming stream).
    """
    terms = data.draw(tiny_terms(int(found.events.max())))
    selection = gsp(found, threshold)
    placement = cbp(found, selection, terms, options)
    expected = twin_mcss.cbp(found, selection, terms, options, [])
    served = [(topic, v) for topic, of in enumerate(selection.subscribers_of.lists()) for v in of]
    machine_of = dict(zip(served, placement.machine_of.tolist(), strict=True))
    assert machine_of == {pair: at for at, machine in enumerate(expected) for pair in machine.pairs}
    assert placement.machines == len(expected)


def test_the_example_of_the_source_needs_100() -> None:
    """WA-34 (thesis 7.2.2, figure 7.3d): t1 on the machine with 100 free, t2 on the one with 60. WA-44: E28."""
    selection = gsp(EXAMPLE, 1000)
    assert bill(EXAMPLE, 1000, selection, cbp(EXAMPLE, selection, tiny(100)), tiny(100)).events == 40 + 100
    example = instance(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 0, 1]), np.array([20, 10]))
    machines = twin_mcss.cbp(example, gsp(example, 1000), tiny(100), PlacementOptions(), [Machine(60), Machine(100)])
    assert [each.free for each in machines] == [20, 40]


@pytest.mark.parametrize("options", SWITCHES, ids=str)
def test_machines_that_just_take_one_pair_of_the_loudest_topic_are_enough(options: PlacementOptions) -> None:
    """WA-44: E20, E21 and E24 loop for ever where no machine there is can take a pair, or none is left to be placed."""
    found = instance(np.arange(7), np.array([0, 0, 0, 0, 1, 1, 1]), np.array([5, 4]))
    assert cbp(found, gsp(found, 5), tiny(10), options).machines == 7


def test_a_topic_for_all_machines_is_counted_with_what_comes_in() -> None:
    """WA-44: E22 (capacity 10, 6 pairs of 3 events: 2 fit, so 3 machines) and E23 (3 free have room for 2 of 1 event, not 3)."""
    found = instance(np.arange(6), np.zeros(6, np.int64), np.array([3]))
    assert cbp(found, gsp(found, 3), tiny(10)).machines == 3
    found = instance(np.arange(3), np.zeros(3, np.int64), np.array([1]))
    assert cbp(found, gsp(found, 3), tiny(3)).machines == 2


def test_topics_go_by_what_they_cost_or_by_how_loud_they_are() -> None:
    """WA-44: E19. The quiet topic of five subscribers (10 with what comes in) is first by volume, and the loud one of one by rate."""
    found = instance(np.arange(6), np.array([0, 0, 0, 0, 0, 1]), np.array([2, 6]))
    placed = [cbp(found, gsp(found, 6), tiny(12), PlacementOptions(by=by)).machine_of.tolist() for by in ("volume", "rate")]
    assert placed == [[0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 0]]


def test_a_topic_is_split_only_where_that_is_cheaper() -> None:
    """WA-37: option (e). Each topic needs 8 of 10; one pair of the second would fit onto the first machine and cost an event more."""
    found = instance(np.arange(14), np.repeat(np.arange(2), 7), np.array([1, 1]))
    selection, terms = gsp(found, 1), tiny(10, rent_usd=1.0, event_usd=0.1)
    placements = [cbp(found, selection, terms, PlacementOptions(decide=decide)) for decide in (True, False)]
    bills = [bill(found, 1, selection, placement, terms) for placement in placements]
    assert [(each.machines, each.incoming) for each in bills] == [(2, 2), (2, 3)]


def test_a_topic_is_split_where_that_saves_a_machine() -> None:
    """WA-37: option (e). Of 12 and 11 pairs 9 fit onto a machine; the first topic leaves room for 5 of the second."""
    found = instance(np.arange(23), np.repeat(np.arange(2), (12, 11)), np.array([1, 1]))
    machines = [cbp(found, gsp(found, 1), tiny(10, rent_usd, event_usd=0.1)).machines for rent_usd in (1.0, 0.0)]
    assert machines == [3, 4]


@pytest.mark.parametrize(("name", "scale", "less"), [("spotify", 0.002, 10), ("twitter", 0.001, 100)])
def test_first_fit_looks_at_machines_far_more_often(name: Name, scale: float, less: int) -> None:
    """WA-40 (thesis 7.3.5), in machines looked at instead of seconds, with as many machines as at full size.

    First fit looks at each machine up to the one that it takes, for each pair; CBP at the newest for each topic, and at those with most
    room while they take any. (Its heap also passes over entries that are out of date: one for each look, topic and machine at most.)
    """
    drawing = drawn(name, scale, 1)
    found = instance(drawing.subscriber, drawing.topic, drawing.events)
    terms = scaled(books()["ec2-2013"].terms("c3.large"), scale)
    for threshold in (10, 100, 1000):
        selection = gsp(found, threshold)
        looks = int((ffbp(found, selection, terms).machine_of + 1).sum())
        machines = twin_mcss.cbp(found, selection, terms, PlacementOptions(), [])
        assert looks >= less * (len(selection.served()) + sum(machine.looks for machine in machines))


def test_a_machine_that_cannot_take_the_loudest_topic_is_refused() -> None:
    """WA-44: E20. The error names machines that can."""
    found = instance(np.array([0]), np.array([0]), np.array([10]))
    with pytest.raises(PlanError, match=r"take a machine of 1\.053 Mbit/s or more \(such as c3\.large, "):
        cbp(found, gsp(found, 1), tiny(19))


def test_an_empty_selection_needs_no_machine() -> None:
    none = np.empty(0, np.int64)
    found = instance(none, none, none)
    for options in (PlacementOptions(), PlacementOptions(group=False)):
        assert cbp(found, gsp(found, 1), tiny(1), options).machines == 0
