"""The benchmarks run: a real server, a real generator, and what the reader is shown."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from bench.__main__ import main
from bench.generator import generating
from bench.plan import GeneratorPlan, Go
from bench.process import BenchError
from bench.servers.segue import one_process
from bench.setting import BenchSetting, two_cores
from bench.shape import WorkloadShape
from bench.table import MarkdownTable, spread, verdict


@pytest.fixture
def setting(tmp_path: Path) -> BenchSetting:
    server_core, generator_core = two_cores()
    return BenchSetting(server_core=server_core, generator_core=generator_core, state=tmp_path, scratch=tmp_path)


@pytest.mark.e2e
@pytest.mark.slow
def test_a_short_run_against_a_real_server_loses_nothing_and_measures_something(setting: BenchSetting) -> None:
    with one_process(setting) as target:
        plan = GeneratorPlan(
            target=target, shape=WorkloadShape(clients=20, topics=50, mean=10), publishing="ndjson", batch=4, window=16, warmup_s=0.1
        )
        with generating(plan, setting.generator_core) as generator:
            assert generator.ready.clients == 20
            result = generator.run(Go(seconds=0.3))
            again = generator.run(Go(seconds=0.1))
    for each in (result, again):
        assert (each.audit.lost, each.audit.duplicated, each.audit.misrouted) == (0, 0, 0)
        assert (each.refused, each.stalls, each.closed) == (0, 0, {})
        assert each.audit.expected >= each.delivered > 0
        assert 0 < each.p50_ms <= each.p99_ms <= each.max_ms


@pytest.mark.e2e
@pytest.mark.slow
def test_an_open_loop_publishes_at_its_rate_and_bursts_besides(setting: BenchSetting) -> None:
    with one_process(setting) as target:
        plan = GeneratorPlan(
            target=target, shape=WorkloadShape(clients=4, topics=10, mean=3), publishing="single", rate=200, publishers=2, warmup_s=0.0
        )
        with generating(plan, setting.generator_core) as generator:
            result = generator.run(Go(seconds=0.5, burst_every_s=0.2, samples=True))
    assert result.audit.lost == 0
    assert 60 < result.publications_per_s < 240  # what is due, not what the server could take
    assert result.bursts
    assert len(result.samples) == result.delivered


@pytest.mark.e2e
@pytest.mark.slow
def test_a_generator_that_cannot_connect_says_why(setting: BenchSetting) -> None:
    with one_process(setting) as target:
        gone = target
    plan = GeneratorPlan(target=msgspec.structs.replace(gone, pids=[]), publishing="single")
    with pytest.raises(BenchError, match="ConnectionRefusedError"), generating(plan, setting.generator_core):
        pass


def test_an_unknown_benchmark_is_refused_with_the_names_that_there_are() -> None:
    answer = CliRunner().invoke(main, ["one_proces"])
    assert answer.exit_code == 2
    assert "one_process" in answer.output


def test_a_table_is_markdown_with_the_median_and_the_range() -> None:
    table = MarkdownTable(
        "Title", ["who", "how much"], [["us", spread([3.0, 1.0, 2.0], ".1f")], ["them", spread([4.0], ".1f")]], ["A note."]
    )
    assert str(table).splitlines() == [
        "### Title",
        "",
        "| who  | how much      |",
        "| ---- | ------------- |",
        "| us   | 2.0 (1.0-3.0) |",
        "| them | 4.0           |",
        "",
        "A note.",
    ]
    assert (verdict(0.6, 0.7), verdict(0.8, 0.7), verdict(5, 4, most=False)) == ("<= 0.7: kept", "<= 0.7: MISSED", ">= 4: kept")
