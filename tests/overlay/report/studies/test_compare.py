"""The study of all overlays beside each other."""

import pytest

from overlay.report.studies.compare import COMPARE, plots
from overlay.simulator.systems import SYSTEMS
from tests.support.tiny_studies import tiny


# The kernels of all systems may have to be compiled first.
@pytest.mark.timeout(900)
def test_all_systems_are_compared_on_the_same_friends() -> None:
    """OV-4."""
    result = tiny(COMPARE)
    assert [row[0] for row in result.table("costs").rows] == list(SYSTEMS)
    (claim,) = result.claims
    assert claim.requirement == "OV-4"
    assert claim.measured.startswith("200 friends: fewest copies: ")
    assert len(plots(result)) == 3
