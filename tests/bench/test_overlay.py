"""Benchmarks of the overlay laboratory, in small: what they measure, and which targets they name."""

import pytest

from bench.micro import overlay_quasar as quasar_micro
from bench.micro import overlay_scribe as scribe_micro
from bench.suite import overlay_quasar, overlay_scribe


def test_scribe_is_timed_with_what_it_delivers() -> None:
    figures = scribe_micro.measure(300)
    assert figures.deliveries > 300
    assert figures.churned == 200
    assert min(figures.plain().values()) > 0


def test_quasar_is_timed_over_all_sizes_and_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quasar_micro, "SIZES", (256, 512))
    figures = quasar_micro.measure(2)
    assert figures.events == 2 * 3 * 2
    assert figures.messages > figures.events
    assert figures.seconds > 0


def test_targets_are_those_of_full_size() -> None:
    kept = scribe_micro.ScribeFigures(built=9.0, published=0.1, deliveries=1000, cycle=0.4, churned=4000)
    late = scribe_micro.ScribeFigures(built=11.0, published=0.1, deliveries=1000, cycle=0.5, churned=4000)
    told = [[row[2] for row in overlay_scribe.tabled([each], overlay_scribe.NODES).rows] for each in (kept, late)]
    assert told == [["<= 10: kept", "", "", "<= 600: kept"], ["<= 10: MISSED", "", "", "<= 600: MISSED"]]
    assert not any(row[2] for row in overlay_scribe.tabled([late], 1000).rows)
    slow = quasar_micro.QuasarFigures(seconds=181.0, events=1800, messages=10_000)
    assert overlay_quasar.tabled([slow], overlay_quasar.RUNS).rows[0][2] == "<= 180: MISSED"
    assert overlay_quasar.tabled([slow], 10).rows[0][2] == ""
