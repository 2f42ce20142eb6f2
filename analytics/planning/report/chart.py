"""One plot of lines, bounds and published numbers, in the style of the reports."""

from collections.abc import Sequence
from math import log10
from textwrap import fill
from typing import Final, Literal, NamedTuple

from matplotlib.axes import Axes
from matplotlib.axis import Axis as PlottedAxis
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from analytics.numbers import number
from analytics.report.canvas import INK, QUIET, SERIES, dashes_of, drawing, logarithmic
from analytics.report.plot import Key, Plot

Mark = Literal["line", "thin", "published", "level"]
_MOST_MARKED = 12
# Between so many decades the labels at decades alone would be one or two.
_FEW_DECADES: Final = 2
# Numbers from here on are so wide that fewer labels have room under a plot.
_WIDE: Final = 10_000
_FEW_LABELS: Final = 5
# So many letters stand beside each other under a plot.
_LINE: Final = 65


class Series(NamedTuple):
    """The points (x, y) of a line.

    - `thin`: a bound, in the colour of the line that it limits.
    - `published`: single marks.
    - `level`: one y for all x, with its label at the line.
    """

    label: str
    points: Sequence[tuple[float, float]]
    style: int = 0
    mark: Mark = "line"


class Axis(NamedTuple):
    """The settings of an axis.

    - `ticks`: the only ones, where they are known.
    - `least`, `most`: its ends.
    - `names`: labels of 0, 1, 2 ... instead of numbers.
    - `is_whole`: there is nothing between whole numbers.
    """

    label: str
    is_log: bool = False
    ticks: tuple[float, ...] = ()
    least: float | None = None
    most: float | None = None
    names: tuple[str, ...] = ()
    is_whole: bool = False


def chart(name: str, title: str, x: Axis, y: Axis, series: Sequence[Series], notes: tuple[str, ...] = ()) -> Plot:
    """Returns the plot, with a key that names each line. Series without points are left out.

    - `name`, `title`: of the plot; the name is that of its file.
    - `x`, `y`: the axes.
    - `series`: the lines.
    - `notes`: are said under the plot.
    """
    series = [each for each in series if each.points]
    with drawing(f"plan-{name}", title) as drawn:
        axes = drawn.axes
        logarithmic(axes, x=x.is_log, y=y.is_log)
        for each in series:
            _draw(axes, each)
        _draw_levels(axes, [each for each in series if each.mark == "level"])
        _scale(axes, x, y)
    return Plot(drawn.svg, tuple(Key(each.label, each.style, each.mark) for each in series if each.mark != "level"), notes, title)


def _draw(axes: Axes, series: Series) -> None:
    """Draws the lines without clipping. All of them lie within, and half a mark at the edge would look like less."""
    colour, dashes = SERIES[series.style % len(SERIES)], dashes_of(series.style)
    x, y = ([point[axis] for point in series.points] for axis in (0, 1))
    match series.mark:
        case "line":
            marker = "o" if len(x) <= _MOST_MARKED else ""
            axes.plot(x, y, color=colour, linewidth=1.7, dashes=dashes or (None, None), marker=marker, markersize=4, clip_on=False)
        case "thin":
            axes.plot(x, y, color=colour, linewidth=0.8, clip_on=False)
        case "published":
            axes.plot(x, y, "D", color=colour, markerfacecolor="none", markersize=7, markeredgewidth=1.5, clip_on=False, zorder=5)


def _draw_levels(axes: Axes, levels: list[Series]) -> None:
    """Draws levels with their labels. The lowest of several has its label under the line, so that labels do not meet."""
    heights = [each.points[0][1] for each in levels]
    for each, height in zip(levels, heights, strict=True):
        is_under = len(levels) > 1 and height == min(heights)
        place, side = ((0, -3), "top") if is_under else ((0, 3), "bottom")
        axes.axhline(height, color=QUIET, linewidth=1.2, dashes=(4, 3))
        axes.annotate(each.label, (1.0, height), place, ("axes fraction", "data"), "offset points", color=QUIET, ha="right", va=side)


def _plain() -> FuncFormatter:
    return FuncFormatter(lambda value, _: number(round(value, 6)))


def _decades(axis: PlottedAxis) -> float:
    """Returns how many powers of ten lie between the ends of the axis."""
    low, high = axis.get_view_interval()
    return log10(high / low)


def _scale(axes: Axes, x: Axis, y: Axis) -> None:
    for axis, about in ((axes.xaxis, x), (axes.yaxis, y)):
        if about.ticks:
            axis.set_major_locator(FixedLocator(about.ticks))
            axis.set_minor_locator(NullLocator())
        if about.is_whole:
            axis.set_major_locator(MaxNLocator(nbins="auto", integer=True))
        if about.ticks or not about.is_log:
            axis.set_major_formatter(_plain())
        elif _decades(axis) < _FEW_DECADES:
            axis.set_minor_formatter(_plain())
    if not (x.ticks or x.is_log or x.names) and axes.get_xlim()[1] >= _WIDE:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=_FEW_LABELS))
    if x.names:
        axes.set_xticks(range(len(x.names)), [fill(name, _LINE // len(x.names), break_long_words=False) for name in x.names])
    if x.ticks and x.is_log:
        axes.set_xlim(min(x.ticks) / 1.6, max(x.ticks) * 1.6)
    for limit, about in ((axes.set_xlim, x), (axes.set_ylim, y)):
        if about.least is not None:
            limit(about.least)
        if about.most is not None:
            limit(None, about.most)
    axes.set_xlabel(x.label, color=INK)
    axes.set_ylabel(y.label, color=INK)
