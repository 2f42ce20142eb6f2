"""The benchmark of events that take time measures a small burst and the runs of OV-3, and judges them by the targets that were set."""

import pytest

from bench.micro.overlay_events import EventsFigures, EventsPlan, measure
from bench.suite import BENCHMARKS
from bench.suite.overlay_events import table

GOOD = EventsFigures(
    copies=600_000,
    messages=700_000,
    copies_s=1.0,
    delivered=1.0,
    old_s=2.0,
    new_s=3.0,
    old_deliveries=60_000,
    new_deliveries=60_000,
    times_faster=100.0,
)


# The kernels may have to be compiled first.
@pytest.mark.timeout(900)
def test_all_that_is_asked_for_is_measured() -> None:
    """No test judges whether times are kept."""
    found = measure(EventsPlan(events=3, small=2, small_nodes=30))
    assert (found.delivered, found.old_deliveries, found.new_deliveries) == (1.0, 60_000, 60_000)
    assert found.messages >= found.copies > 3 * 999
    assert min(found.copies_s, found.old_s, found.new_s, found.times_faster) > 0


def test_targets_are_told_beside_what_was_measured() -> None:
    rows = {row[0]: row for row in table(GOOD).rows}
    assert rows["copies of events a second"][1] == "600,000"
    assert rows["CPU for a delivery in OV-3, v1.1, µs"][1] == "50.0"
    assert "overlay_events" in BENCHMARKS
