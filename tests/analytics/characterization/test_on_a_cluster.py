"""The same job on a real cluster: a standalone master and two workers, as processes of their own on loopback."""

import subprocess
import sys
from pathlib import Path

import pytest

from analytics import summary
from tests.support.spark_cluster import spark_cluster
from tests.support.traces import ring


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_cluster_finds_what_one_machine_finds(tmp_path: Path) -> None:
    """The job is a process that knows the cluster by its URL alone; workers get the code from it."""
    trace = ring(tmp_path / "trace", users=50)
    options = ["--no-report", "--bootstraps", "0"]
    with spark_cluster(tmp_path, workers=2) as url:
        command = [sys.executable, "-m", "segue", "analyze", "characterize", str(trace), "--out", str(tmp_path / "there"), *options]
        done = subprocess.run([*command, "--master", url, "--memory", "1"], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    there = summary.read(tmp_path / "there")
    assert there.settings["master"] == url
    assert there.measures["pairs"] == 150
    assert there.measures["events"] == 50 * 51 / 2
    assert there.measures["size.max"] == 3
    assert there.rows["popularity"] == 1
