"""The benchmark of clients that come back, with real processes and small numbers."""

from pathlib import Path

import pytest

from bench.runner import Runner
from bench.setting import BenchSetting, two_cores
from bench.shape import WorkloadShape
from bench.suite.reconnect import JETSTREAM, MISSED, NATS, reconnects

SHAPE = WorkloadShape(clients=40, topics=200, mean=20, fixed=True)


@pytest.mark.e2e
@pytest.mark.slow
def test_all_who_recover_get_what_they_missed_and_are_told_so(tmp_path: Path) -> None:
    server_core, generator_core = two_cores()
    setting = BenchSetting(server_core=server_core, generator_core=generator_core, state=tmp_path, scratch=tmp_path)
    (table,) = reconnects(Runner(setting, runs=1, seconds=0.2, peers=(), progress=lambda text: None), SHAPE, alone=5)
    without, recovered = (dict(zip(table.head, row, strict=True)) for row in table.rows)
    assert recovered["told true"] == "40 of 40"
    assert recovered["missed"] == recovered["replayed"] == without["missed"]
    assert int(recovered["missed"]) >= MISSED * SHAPE.clients


@pytest.mark.e2e
@pytest.mark.slow
def test_clients_of_nats_get_what_they_missed_from_a_stream(tmp_path: Path) -> None:
    server_core, generator_core = two_cores()
    setting = BenchSetting(server_core=server_core, generator_core=generator_core, state=tmp_path, scratch=tmp_path)
    runner = Runner(setting, runs=1, seconds=0.2, peers=("nats",), progress=lambda text: None)
    if why := runner.missing("nats"):
        pytest.skip(why)
    (table,) = reconnects(runner, SHAPE, alone=5)
    *_, nats, streams = (dict(zip(table.head, row, strict=True)) for row in table.rows)
    assert (nats["clients"], streams["clients"]) == (NATS, JETSTREAM)
    assert streams["told true"] == "40 of 40"
    assert streams["missed"] == streams["replayed"] == nats["missed"]
