"""The study of dissemination: its claims follow from its points."""

import numpy as np
import pytest

from overlay.report.studies.dissemination import DISSEMINATION, FANOUTS, WAYS, Points, SpreadPoint, claims, delay_by_size
from overlay.report.study import StudyTable
from overlay.simulator.event_counts import EventCounts
from tests.support.tiny_studies import tiny

EVENTS = np.array([100, 1000, 10_000])
CROWDED = StudyTable(
    name="x", head=("f", "v", "m", "nv", "nm", "rv", "rm"), rows=[(2, 5.0, 1.0, 0.0, 0.0, 2.0, 1.9), (3, 20.0, 2.0, 4.0, 2.0, 3.0, 2.5)]
)


def points(**changed: SpreadPoint) -> Points:
    """Returns points like the pilot's; those named after a way replace its point at fanout 10."""
    curves = {"cyclon": (6.24, 5.86, 1.23, 1.26), "vicinity": (4.12, 2.60, 1.95, 4.10), "mixed": (4.6, 3.0, 1.6, 3.4)}
    curves |= {"union": (4.10, 2.55, 1.96, 4.15), "none": (40.0, 40.0, 1.0, 1.0)}
    found: Points = {}
    for way in WAYS:
        first, last, one, many = curves[way]
        for at, fanout in enumerate(FANOUTS):
            share = (at / (len(FANOUTS) - 1)) ** 0.5
            found[way, fanout] = SpreadPoint(first + (last - first) * share, one + (many - one) * share, 0, 1.0)
        found[way, 10] = changed.get(way, found[way, 10])
    return found


def delays(*, straight: bool = False) -> EventCounts:
    """Returns ten events on each of three topics, whose hops grow with the logarithm of the subscribers, or with their number."""
    mean = EVENTS / 1000 if straight else np.log2(EVENTS)
    none = np.zeros(3, np.int64)
    return EventCounts(10 * EVENTS, 10 * EVENTS, (mean * (10 * EVENTS - 10)).astype(np.int64), none, none, none, none, none, none)


def differs(found: Points, unwanted: int = 0, events: EventCounts | None = None, crowded: StudyTable = CROWDED) -> set[str]:
    """Returns the requirements that are missed at full size."""
    return {each.requirement for each in claims(found, unwanted, events or delays(), crowded, is_full=True) if each.holds is False}


def test_all_claims_hold_for_curves_like_the_pilots() -> None:
    assert differs(points()) == set()


@pytest.mark.parametrize(
    ("changed", "requirement"),
    [
        ({"mixed": SpreadPoint(3.0, 3.4, 1, 1.0)}, {"P2P-10"}),
        ({"none": SpreadPoint(40.0, 1.0, 0, 10.5)}, {"P2P-12"}),
        ({"mixed": SpreadPoint(4.0, 3.4, 0, 1.0)}, {"P2P-13"}),
        ({"mixed": SpreadPoint(2.59, 3.4, 0, 1.0)}, {"P2P-14"}),
        ({"cyclon": SpreadPoint(4.9, 1.26, 0, 1.0)}, {"P2P-14"}),
    ],
    ids=["a miss", "too many copies", "slower", "not between", "not flat"],
)
def test_each_claim_is_missed_alone(changed: dict[str, SpreadPoint], requirement: set[str]) -> None:
    """A judge that is given invented points; the overlay itself is tested in `simulator/poldercast`."""
    assert differs(points(**changed)) == requirement


def test_unwanted_events_straight_delays_and_few_copies_are_seen() -> None:
    """The same, of other numbers."""
    assert differs(points(), unwanted=1) == {"P2P-11"}
    assert differs(points(), events=delays(straight=True)) == {"P2P-15"}
    few = StudyTable(name="x", head=CROWDED.head, rows=CROWDED.rows[:1])
    assert differs(points(), crowded=few) == {"P2P-16"}


def test_delays_are_means_of_deliveries() -> None:
    size, delay = delay_by_size(delays())
    assert size.tolist() == EVENTS.tolist()
    assert delay == pytest.approx(np.log2(EVENTS), rel=0.01)


def test_a_small_overlay_reaches_everybody_and_nobody_else() -> None:
    """P2P-10 to P2P-13."""
    result = tiny(DISSEMINATION)
    held = {each.requirement: each.holds for each in result.claims}
    assert [held[name] for name in ("P2P-10", "P2P-11", "P2P-12")] == [True] * 3
    assert [row[0] for row in result.table("hops").rows] == list(FANOUTS)
