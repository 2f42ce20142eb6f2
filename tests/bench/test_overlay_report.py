"""The benchmark of the small report runs the command itself, and judges the whole of it alone."""

from pathlib import Path

import pytest

from bench.suite import BENCHMARKS
from bench.suite.overlay_report import MOST_S, SHORT, report, tabled
from bench.whole import CommandCost

QUICK = CommandCost(seconds=MOST_S - 1, cpu_s=200.0, peak_bytes=2_000_000_000)
SLOW = CommandCost(seconds=MOST_S + 1, cpu_s=300.0, peak_bytes=2_000_000_000)


# Its kernels are compiled first.
@pytest.mark.timeout(300)
def test_a_study_is_reported_and_leaves_its_kernels_and_no_page(tmp_path: Path) -> None:
    """No test judges whether times are kept."""
    kernels = tmp_path / "kernels"
    found = report(tmp_path / "report", kernels, SHORT)
    assert min(found.seconds, found.cpu_s, found.peak_bytes) > 0
    assert any(kernels.iterdir())
    assert not (tmp_path / "report").exists()


def test_only_the_whole_report_with_its_kernels_is_judged() -> None:
    rows = tabled({"cold": [SLOW], "warm": [QUICK, SLOW]}, is_whole=True).rows
    assert [row[-1] for row in rows] == ["", "<= 120: MISSED"]
    assert tabled({"cold": [SLOW], "warm": [QUICK]}, is_whole=True).rows[1][-1].endswith("kept")
    assert [row[-1] for row in tabled({"cold": [QUICK], "warm": [QUICK]}, is_whole=False).rows] == ["", ""]
    assert "overlay_report" in BENCHMARKS
