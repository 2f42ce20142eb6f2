"""One plot of lines, bounds and what was published, in the style of the reports."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from analytics.numbers import number
from analytics.report.canvas import DASHES, INK, QUIET, SERIES, drawing, logarithmic
from analytics.report.plot import Key, Plot

Mark = Literal["line", "thin", "published", "level"]
_MOST_MARKED = 12


class Series(NamedTuple):
    """Points (x, y). `thin`: what a line of the same colour cannot surpass. `published`: single marks. `level`: one y for all x."""

    label: str
    points: Sequence[tuple[float, float]]
    style: int = 0
    mark: Mark = "line"


class Axis(NamedTuple):
    """`ticks`: the only ones, where they are known. `least`, `most`: where it begins and ends. `names`: of 0, 1, 2 ..., not numbers."""

    label: str
    is_log: bool = False
    ticks: tuple[float, ...] = ()
    least: float | None = None
    most: float | None = None
    names: tuple[str, ...] = ()


def chart(name: str, title: str, x: Axis, y: Axis, series: Sequence[Series], notes: tuple[str, ...] = ()) -> Plot:
    """The plot, with a key that says what each line is."""
    with drawing(f"plan-{name}", title) as drawn:
        axes = drawn.axes
        logarithmic(axes, x=x.is_log, y=y.is_log)
        for each in series:
            _draw(axes, each)
        _scale(axes, x, y)
    return Plot(drawn.svg, tuple(_key(each) for each in series if each.label), notes)


def _draw(axes: Axes, series: Series) -> None:
    colour, dashes = SERIES[series.style % len(SERIES)], DASHES[series.style % len(DASHES)]
    x, y = ([point[axis] for point in series.points] for axis in (0, 1))
    match series.mark:
        case "line":
            marker = "o" if len(x) <= _MOST_MARKED else ""
            axes.plot(x, y, color=colour, linewidth=1.7, dashes=dashes or (None, None), marker=marker, markersize=4)
        case "thin":
            axes.plot(x, y, color=colour, linewidth=0.8)
        case "published":
            axes.plot(x, y, "D", color=colour, markerfacecolor="none", markersize=7, markeredgewidth=1.5, clip_on=False, zorder=5)
        case "level":
            axes.axhline(y[0], color=QUIET, linewidth=1.2, dashes=(4, 3))


def _key(series: Series) -> Key:
    return Key(series.label, series.style, "guide" if series.mark == "level" else series.mark)


def _scale(axes: Axes, x: Axis, y: Axis) -> None:
    for axis, about in ((axes.xaxis, x), (axes.yaxis, y)):
        if about.ticks:
            axis.set_major_locator(FixedLocator(about.ticks))
            axis.set_minor_locator(NullLocator())
        if about.ticks or not about.is_log:
            axis.set_major_formatter(FuncFormatter(lambda value, _: number(round(value, 6))))
    if x.names:
        axes.set_xticks(range(len(x.names)), x.names)
    if x.ticks and x.is_log:
        axes.set_xlim(min(x.ticks) / 1.6, max(x.ticks) * 1.6)
    for limit, about in ((axes.set_xlim, x), (axes.set_ylim, y)):
        if about.least is not None:
            limit(about.least)
        if about.most is not None:
            limit(None, about.most)
    axes.set_xlabel(x.label, color=INK)
    axes.set_ylabel(y.label, color=INK)
