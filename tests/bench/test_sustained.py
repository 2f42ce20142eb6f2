"""The benchmark of a minute's load, with a real process and a small load."""

from pathlib import Path

import pytest

from bench.runner import Runner
from bench.setting import BenchSetting, two_cores
from bench.shape import WorkloadShape
from bench.suite.sustained import MEAN_PER_S, PEAK_PER_S, USED_SHARE, sustained

SHAPE = WorkloadShape(clients=40, topics=200, mean=20, fixed=True)
TARGET_PER_S = 2_000


@pytest.mark.e2e
@pytest.mark.slow
def test_the_reached_rate_is_told_and_the_plan_follows_from_what_a_delivery_costs(tmp_path: Path) -> None:
    """SB-55 in small: everything arrives once at the rate that is asked for, and processes are planned from the CPU that it took."""
    server_core, generator_core = two_cores()
    setting = BenchSetting(server_core=server_core, generator_core=generator_core, state=tmp_path, scratch=tmp_path)
    runner = Runner(setting, runs=1, seconds=1.0, peers=(), progress=lambda text: None)
    load, plan = sustained(runner, SHAPE, TARGET_PER_S)
    (row,) = (dict(zip(load.head, row, strict=True)) for row in load.rows)
    assert row["wrong"] == "0"
    assert int(row["deliveries/s"].replace(",", "")) > TARGET_PER_S / 2
    cpu_s_per_100k = float(row["CPU s / 100 000"])
    for (_, per_s, cores, processes), load_per_s in zip(plan.rows, (MEAN_PER_S, PEAK_PER_S), strict=True):
        assert per_s == f"{load_per_s:,}"
        assert float(cores) == pytest.approx(load_per_s * cpu_s_per_100k / 100_000, abs=0.01)
        assert int(processes) * USED_SHARE >= float(cores) > (int(processes) - 1) * USED_SHARE - 0.01
