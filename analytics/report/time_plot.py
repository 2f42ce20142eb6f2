"""Plots of lines over time, in the trace's own time zone, with weekends shaded."""

from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, DayLocator
from matplotlib.ticker import FuncFormatter

from analytics.figures import Figure
from analytics.numbers import number
from analytics.summary import WorkloadSummary

from .canvas import INK, SHADE, drawing, logarithmic
from .curves import Curve
from .plot import Key, Plot, lines

S_PER_DAY: Final = 86_400
MS_PER_DAY: Final = 1000 * S_PER_DAY
# Above this, the smaller of two lines is nothing but a floor on a linear axis.
LARGEST_RATIO: Final = 20
_MOST_DAYS_SHADED: Final = 70
_MOST_DAYS_TICKED: Final = 21
_MOST_DAYS_IN_HOURS: Final = 4
_MOST_DAYS_IN_SECONDS: Final = 0.01
_MOST_DAYS_IN_TENTHS: Final = 5 / S_PER_DAY
_FORMATS: Final = ((21.0, "%a %-d"), (200.0, "%-d %b"), (1500.0, "%b %Y"))


def plot(figure: Figure, curve: Curve, summary: WorkloadSummary) -> Plot:
    """Draws the plot of a `line`.

    `figure`: which one. `curve`: its lines. `summary`: tells the time zone. The axis of y is logarithmic where the lines lie more than
    `LARGEST_RATIO` apart, and then a note says so.
    """
    zone = ZoneInfo(summary.manifest.time_zone)
    with drawing(f"report-{figure.key}", figure.title) as drawn:
        for style, name in enumerate(curve.series):
            one = curve.of(name)
            lines(drawn.axes, one["time_ms"] / MS_PER_DAY, one["value"], style)
        notes = scale_y(drawn.axes, is_steep(curve))
        if len(curve):
            _time_axis(drawn.axes, float(curve["time_ms"].min()) / MS_PER_DAY, float(curve["time_ms"].max()) / MS_PER_DAY, zone)
        drawn.axes.set_xlabel(f"time in {zone.key}", color=INK)
        drawn.axes.set_ylabel(figure.y, color=INK)
    return Plot(drawn.svg, tuple(Key(name, style) for style, name in enumerate(curve.series)), notes)


def is_steep(curve: Curve) -> bool:
    """Returns whether the largest values of the lines lie more than `LARGEST_RATIO` apart."""
    highest = [float(curve.of(name)["value"].max(initial=0.0)) for name in curve.series]
    above = [value for value in highest if value > 0]
    return bool(above) and max(above) / min(above) > LARGEST_RATIO


def weekends(start: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    """Returns the weekends from `start` to `end`: Saturday to Monday, midnight by the clock of their time zone, cut at both ends."""
    midnight = datetime.combine(start.date(), datetime.min.time(), start.tzinfo)
    saturday = midnight - timedelta(days=(start.weekday() + 2) % 7)
    found = []
    while saturday < end:
        monday = saturday + timedelta(days=2)
        if monday > start:
            found.append((max(saturday, start), min(monday, end)))
        saturday += timedelta(days=7)
    return found


def tick_label(at: datetime, span_days: float) -> str:
    """Labels a tick on an axis of `span_days`: `18:00:05.5`, `18:00:05`, `18:00`, `Sat 12`, `12 Jan`, `Jan 2013` or `2013`."""
    if span_days <= _MOST_DAYS_IN_TENTHS:
        return f"{at:%H:%M:%S.%f}"[:-5]
    if span_days <= _MOST_DAYS_IN_SECONDS:
        return f"{at:%H:%M:%S}"
    if span_days <= _MOST_DAYS_IN_HOURS and (at.hour or at.minute):
        return f"{at:%H:%M}"
    return at.strftime(next((form for most, form in _FORMATS if span_days <= most), "%Y"))


def scale_y(axes: Axes, steep: bool) -> tuple[str, ...]:
    """Makes the axis of y linear from 0, or logarithmic where it is `steep`. Returns the notes that a reader needs."""
    if steep:
        logarithmic(axes, x=False)
        return ("The axis of y is logarithmic, because the lines lie far apart.",)
    axes.set_ylim(0, 1.06 * max(axes.dataLim.y1, 0.0) or 1.0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    return ()


def _time_axis(axes: Axes, start: float, end: float, zone: ZoneInfo) -> None:
    """Labels the axis of time from `start` to `end` (days since 1970)."""
    end = end if end > start else start + 1 / 24
    axes.set_xlim(start, end)
    span = end - start
    axes.xaxis.set_major_locator(AutoDateLocator(tz=zone, minticks=3, maxticks=7))  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_label(_local(value, zone), span)))
    if span <= _MOST_DAYS_TICKED:
        axes.xaxis.set_minor_locator(DayLocator(tz=zone))  # type: ignore[no-untyped-call]
    if span <= _MOST_DAYS_SHADED:
        for begin, finish in weekends(_local(start, zone), _local(end, zone)):
            axes.axvspan(begin.timestamp() / S_PER_DAY, finish.timestamp() / S_PER_DAY, color=SHADE, linewidth=0, zorder=0)


def _local(days: float, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(days * S_PER_DAY, zone)
