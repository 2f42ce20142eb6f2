"""The benchmark of copies at an heir, with real processes and small numbers."""

from pathlib import Path

import pytest

from bench.runner import Runner
from bench.setting import BenchSetting, two_cores
from bench.shape import WorkloadShape
from bench.suite.copies import ONE, copies

SHAPE = WorkloadShape(clients=40, topics=200, mean=20, fixed=True)


@pytest.mark.e2e
@pytest.mark.slow
def test_nothing_goes_wrong_where_each_event_is_copied_first(tmp_path: Path) -> None:
    """DPS-18."""
    server_core, generator_core = two_cores()
    setting = BenchSetting(server_core=server_core, generator_core=generator_core, state=tmp_path, scratch=tmp_path)
    costs, delays = copies(Runner(setting, runs=1, seconds=0.3, peers=(), progress=lambda text: None), SHAPE)
    (row,) = (dict(zip(costs.head, row, strict=True)) for row in costs.rows if row[0] == ONE)
    assert row["wrong"] == "0"
    assert [row[0] for row in delays.rows] == [each[0] for each in costs.rows]
