"""Weekends, and lines that lie far apart."""

from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from analytics.report.curves import Curve
from analytics.report.time_plot import is_steep, tick_label, weekends

STOCKHOLM = ZoneInfo("Europe/Stockholm")


def day(number: int, hour: int = 0) -> datetime:
    """Returns a day of January 2013, whose first is a Tuesday."""
    return datetime(2013, 1, number, hour, tzinfo=STOCKHOLM)


def test_a_weekend_is_saturday_and_sunday_by_the_clock_of_the_trace() -> None:
    assert weekends(day(10), day(20)) == [(day(12), day(14)), (day(19), day(20))]


def test_a_weekend_that_has_begun_counts_from_the_start() -> None:
    assert weekends(day(13, 12), day(16)) == [(day(13, 12), day(14))]
    assert weekends(day(14), day(18)) == []


def test_a_weekend_in_which_the_clock_is_changed_still_ends_at_midnight() -> None:
    start, end = datetime(2013, 3, 29, tzinfo=STOCKHOLM), datetime(2013, 4, 3, tzinfo=STOCKHOLM)

    [(begin, finish)] = weekends(start, end)

    assert (finish.timestamp() - begin.timestamp()) / 3600 == 47


@pytest.mark.parametrize(
    ("at", "span_days", "told"),
    [
        (day(12, 18), 3 / 86_400, "18:00:00.0"),
        (day(12, 18), 60 / 86_400, "18:00:00"),
        (day(12, 18), 3, "18:00"),
        (day(12), 3, "Sat 12"),
        (day(12), 10, "Sat 12"),
        (day(12), 90, "12 Jan"),
        (day(12), 400, "Jan 2013"),
        (day(12), 3000, "2013"),
    ],
)
def test_a_tick_says_as_much_as_the_span_needs(at: datetime, span_days: float, told: str) -> None:
    assert tick_label(at, span_days) == told


def lines(*highest: float) -> Curve:
    """Returns one constant line for each value."""
    value = np.repeat(np.array(highest, dtype=np.float64), 3)
    return Curve({"value": value}, np.repeat(np.array([f"line {each}" for each in highest], dtype=object), 3))


def test_the_axis_is_logarithmic_only_where_a_linear_one_would_hide_a_line() -> None:
    assert is_steep(lines(100, 1))
    assert not is_steep(lines(100, 10))
    assert not is_steep(lines(100, 0)), "a line without any value has no height"
    assert not is_steep(lines())
