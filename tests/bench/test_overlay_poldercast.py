"""The benchmark of PolderCast measures a small overlay, and its targets are those that were set."""

from bench.micro.overlay_poldercast import PolderPlan, measure
from bench.suite import BENCHMARKS
from bench.suite.overlay_poldercast import SIZES


def test_all_that_is_asked_for_is_measured() -> None:
    """No test judges whether times are kept."""
    found = measure(PolderPlan(nodes=300, cycles=3))
    assert found.pairs == 4800
    assert found.cycles == 3
    assert 0 < found.incomplete <= 1
    assert min(found.cycles_s, found.events_s) > 0
    assert found.peak_bytes > 1e6
    assert found.times_faster == 0


def test_rings_that_are_complete_end_it_before_the_most_cycles() -> None:
    assert measure(PolderPlan(nodes=300, cycles=100)).cycles < 100


def test_the_published_size_and_ten_times_that_have_targets() -> None:
    """OV-6."""
    targets = {each.nodes: (each.cycles_s, each.events_s) for each in SIZES if each.cycles_s is not None}
    assert targets == {10_000: (60.0, 0.5), 100_000: (1200.0, 10.0)}
    assert "overlay_poldercast" in BENCHMARKS
