"""The study of GossipSub: what it claims follows from its runs."""

import numpy as np
import pytest

from overlay.report.studies.gossipsub import GOSSIPSUB, GossipFigures, claims, figures, plots
from overlay.simulator.gossipsub.designer import DesignerRun
from tests.support.tiny_studies import tiny

# Of 100 deliveries, so many before 200 ms and before 300 ms.
GOOD = (38, 98)


def runs(name: str, copies: float, within: tuple[int, int] = GOOD, deliveries: int = 100) -> GossipFigures:
    """Returns the figures of two runs that are alike."""
    early, later = within
    latencies = np.array([100_000] * early + [250_000] * (later - early) + [350_000] * (100 - later), np.int64)
    one = DesignerRun(deliveries, [round(copies * deliveries), 4, 1, 40, 2, 9, 0], latencies, 7.3)
    return figures(name, [one, one], 100)


def test_means_of_runs() -> None:
    found = runs("v1.0", 6.29)
    assert (found.delivered, found.copies, found.mesh) == pytest.approx((100, 6.29, 7.3))
    assert (found.within[200], found.within[300], found.spread) == pytest.approx((38, 98, 0))
    assert found.latencies[0] == (0, 0)
    assert found.latencies[-1] == (600, 100)


@pytest.mark.parametrize(
    ("old", "new", "holds"),
    [
        (runs("v1.0", 6.3), runs("v1.1", 6.6), [True, True, True]),
        (runs("v1.0", 6.7), runs("v1.1", 6.7), [False, False, True]),
        (runs("v1.0", 6.3, deliveries=99), runs("v1.1", 6.4), [False, True, True]),
        (runs("v1.0", 6.3, within=(43, 98)), runs("v1.1", 6.4), [True, True, False]),
        (runs("v1.0", 6.3, within=(37, 92)), runs("v1.1", 6.4), [True, True, False]),
    ],
    ids=["all", "too many messages", "a loss", "too fast", "too slow"],
)
def test_claims_hold_where_numbers_are_near_the_published_ones(old: GossipFigures, new: GossipFigures, holds: list[bool]) -> None:
    same = runs("v1.1-as-simulated", 6.4)
    assert [each.holds for each in claims([old, new, same], is_full=True)] == holds
    assert {each.holds for each in claims([old, new, same], is_full=False)} == {None}


# The kernels may have to be compiled first.
@pytest.mark.timeout(900)
def test_the_curve_of_each_version_is_drawn_beside_what_was_published() -> None:
    (drawn,) = plots(tiny(GOSSIPSUB))
    assert [key.label for key in drawn.keys] == ["v1-0", "v1-1", "v1-1-as-simulated", "published, v1.0"]
