"""The checker: says what a plan costs, and which rule one breaks that is none."""

import numpy as np
import pytest

from analytics.planning.errors import PlanError
from analytics.planning.instance import Rows, instance
from analytics.planning.provisioning.bill import bill
from analytics.planning.provisioning.cbp import cbp
from analytics.planning.provisioning.gsp import gsp
from analytics.planning.provisioning.placement import PairPlacement
from analytics.planning.provisioning.selection import Selection
from tests.support.placements import tiny

# Topic 0 (3 events) for subscribers 0 and 1, topic 1 (2 events) for subscribers 1 and 2.
FOUND = instance(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1]), np.array([3, 2]))
TERMS = tiny(9, rent_usd=2.0, event_usd=0.5)


def plan(subscribers_of: list[list[int]], machine_of: list[int], machines: int) -> tuple[Selection, PairPlacement]:
    offsets = np.cumsum([0, *map(len, subscribers_of)])
    values = np.array([v for of in subscribers_of for v in of], dtype=np.int32)
    return Selection(Rows(offsets, values)), PairPlacement(np.array(machine_of, dtype=np.int32), machines)


def test_a_bill_counts_each_topic_in_once_for_each_machine() -> None:
    """WA-32 (thesis 7.1; spec D1): 3 + 3 out and 3 in, and 2 + 2 out and 2 in twice."""
    found = bill(FOUND, 9, *plan([[0, 1], [1, 2]], [0, 0, 1, 2], 3), TERMS)
    assert (found.machines, found.outgoing, found.incoming, found.events) == (3, 10, 7, 17)
    assert (found.rent_usd, found.traffic_usd, found.usd) == pytest.approx((6.0, 8.5, 14.5))


@pytest.mark.parametrize(
    ("subscribers_of", "machine_of", "machines", "message"),
    [
        ([[0, 1], [2]], [0, 0, 1], 2, "subscriber 1 gets 3 events and needs 5; 1 lack any"),
        ([[0, 1], [0, 1, 2]], [0, 0, 1, 1, 1], 2, "topic 1 is served to subscriber 0, who does not follow it"),
        ([[0, 1], [1, 1, 2]], [0, 0, 1, 1, 1], 2, "topic 1 is served to subscriber 1, who does not follow it or has it already"),
        ([[1, 0], [1, 2]], [0, 0, 1, 1], 2, "topic 0 is served to subscriber 0"),
        ([[0, 1], [1, 3]], [0, 0, 1, 1], 2, "subscribers must be numbered from 0 to 2"),
        ([[0, 1]], [0, 0], 1, "the selection has 1 topics and the instance 2"),
        ([[0, 1], [1, 2]], [0, 0, 1], 2, "4 pairs are selected and 3 placed"),
        ([[0, 1], [1, 2]], [0, 0, 2, 1], 2, "machines must be numbered from 0 to 1"),
        ([[0, 1], [1, 2]], [0, 0, 0, 0], 1, "machine 0 carries 15 events and can carry 9"),
        ([[0, 1], [1, 2]], [0, 0, 2, 2], 3, "machine 1 has no pair"),
    ],
)
def test_a_plan_that_breaks_a_rule_is_told_which(
    subscribers_of: list[list[int]], machine_of: list[int], machines: int, message: str
) -> None:
    """WA-32."""
    with pytest.raises(PlanError, match=message):
        bill(FOUND, 9, *plan(subscribers_of, machine_of, machines), TERMS)


def test_an_empty_plan_costs_nothing() -> None:
    none = np.empty(0, np.int64)
    empty = instance(none, none, none)
    selection = gsp(empty, 1)
    assert bill(empty, 1, selection, cbp(empty, selection, TERMS), TERMS).usd == 0
