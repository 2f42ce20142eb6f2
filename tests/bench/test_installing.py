"""The benchmark of subscriptions that are made while topics go on, with few of them."""

from pathlib import Path

import pytest

from bench.runner import Runner
from bench.setting import BenchSetting, two_cores
from bench.suite.installing import WAYS, installs


@pytest.mark.e2e
@pytest.mark.slow
def test_who_recovers_misses_nothing_and_who_waits_for_all_sites_nothing_behind_the_answer(tmp_path: Path) -> None:
    """DPS-5, DPS-6: over 50 ms one way, from another access point and from another site."""
    server_core, generator_core = two_cores()
    setting = BenchSetting(server_core=server_core, generator_core=generator_core, state=tmp_path, scratch=tmp_path)
    table = installs(Runner(setting, runs=1, seconds=0.2, peers=(), progress=lambda text: None), (50,), followers=4)
    rows = {row[1]: dict(zip(table.head, row, strict=True)) for row in table.rows}
    for who, way in WAYS.items():
        row = rows[who]
        assert row["twice"] == "0", who
        if way.recovers:
            assert (row["told true"], row["missed and twice"]) == ("4 of 4", "<= 0: kept"), row
        else:
            assert int(row["missed: before it was asked"]) > 0, row  # they were away, so the others had something to recover
        if way.wait == "all":
            assert row["behind the answer"] == "0", row
