"""The study of sizes."""

import pytest

from overlay.report.studies.sizes import SIZES, SizePoint, claims
from tests.support.tiny_studies import tiny


def point(nodes: int, seconds: float) -> SizePoint:
    """Returns an overlay that took so many seconds for 10 cycles."""
    return SizePoint(nodes, 16 * nodes, 10, seconds, 0.1, 0.01, 0.0)


@pytest.mark.parametrize(("power", "holds"), [(1.0, True), (1.25, True), (1.5, False)])
def test_time_grows_with_a_power_near_one(power: float, holds: bool) -> None:
    """OV-6."""
    found = [point(nodes, nodes**power / 1000) for nodes in (1000, 10_000, 100_000)]
    claim = claims(found, is_full=True)[0]
    assert claim.holds is holds
    assert f"power of {power - 1:.2f}" in claim.measured
    assert claims(found, is_full=False)[0].holds is None


def test_small_overlays_are_measured() -> None:
    rows = tiny(SIZES).table("sizes").rows
    assert [row[0] for row in rows] == [200, 400]
    assert all(float(row[3]) > 0 and float(row[5]) <= 1 for row in rows)
