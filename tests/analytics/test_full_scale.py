"""The published size, whole: minutes of both cores, so it runs only when it is asked for (`-m full`, docs/testing.md)."""

import subprocess
import sys
from pathlib import Path

import pytest

from analytics import summary
from analytics.findings import findings


def analyze(*arguments: str | Path | int) -> str:
    """Returns what `segue analyze` prints."""
    done = subprocess.run([sys.executable, "-m", "segue", "analyze", *map(str, arguments)], capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.full
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("profile", "pairs", "apart"), [("spotify", 12_000_000, set()), ("twitter", 683_500_000, {"nnr"})])
def test_a_trace_of_the_published_size_is_made_and_analysed_on_one_machine(
    tmp_path: Path, profile: str, pairs: int, apart: set[str]
) -> None:
    """WA-4, and WA-5 to WA-15 as the findings judge them. What is apart is told in docs/generator.md."""
    made = analyze("generate", tmp_path / "trace", "--profile", profile, "--scale", 1, "--seed", 1)
    assert "peak memory" in made
    analyze("characterize", tmp_path / "trace", "--out", tmp_path / "report")
    found = summary.read(tmp_path / "report")
    assert found.measures["pairs"] == pairs
    assert found.timings_s
    assert {each.figure for each in findings(found) if each.verdict == "differs"} == apart
