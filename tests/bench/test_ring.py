"""The benchmark of a ring that grows and shrinks, with real processes and few topics."""

from pathlib import Path

import pytest

from bench.runner import Runner
from bench.setting import BenchSetting, two_cores
from bench.suite.ring import PHASES, rings


@pytest.mark.e2e
@pytest.mark.slow
def test_each_phase_of_the_ring_has_its_figures_and_no_event_is_lost(tmp_path: Path) -> None:
    server_core, generator_core = two_cores()
    setting = BenchSetting(server_core=server_core, generator_core=generator_core, state=tmp_path, scratch=tmp_path)
    (table,) = rings(Runner(setting, runs=1, seconds=0.5, peers=(), progress=lambda text: None), topics=500, rate=200.0)
    assert [row[0] for row in table.rows] == list(PHASES.values())
    assert {tuple(row[-3:]) for row in table.rows} == {("0", "0", "0")}  # lost, twice, refused
