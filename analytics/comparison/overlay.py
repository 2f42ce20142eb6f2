"""Two curves in one plot: as counted, and in units of their mean."""

from typing import Final

import numpy as np
from matplotlib.axes import Axes

from analytics.figures import Figure
from analytics.report.canvas import INK, drawing, logarithmic
from analytics.report.curves import Column, Curve
from analytics.report.cycle_plot import ticks
from analytics.report.distribution_plot import COUNTED
from analytics.report.mean_plot import some
from analytics.report.plot import Key, Plot, cloud, lines

from .distance import over_mean
from .scores import Side, profile

MOST_STEPS: Final = 1000
MOST_MEANS: Final = 800


def overlay(figure: Figure, a: Side, b: Side, names: tuple[str, str]) -> list[Plot]:
    """Draws both exact curves: two plots for a distribution, one for means, one for each line that both have.

    `a`, `b`: the sides of `figure`. `names`: theirs, for the key.
    """
    keys = tuple(Key(name, style, "points" if figure.kind == "mean" else "line") for style, name in enumerate(names))
    match figure.kind:
        case "ccdf":
            return [_distributions(figure, a.curve, b.curve, keys, in_means=in_means) for in_means in (False, True)]
        case "mean":
            return [_means(figure, a.curve, b.curve, keys)]
        case "line" | "cycle":
            both = [series for series in a.curve.series if series in b.curve.series]
            return [_profiles(figure, series, a, b, keys) for series in both]


def steps(values: Column, counts: Column) -> tuple[Column, Column]:
    """Returns the CCDF of the values above 0 as x and y.

    It is thinned to `MOST_STEPS` values, evenly spread on a logarithmic axis, both ends among them.
    """
    order = np.argsort(values)
    x, n = values[order], counts[order]
    # Summed from the greatest value on: what has each value or more.
    ccdf = n[::-1].cumsum()[::-1] / n.sum()
    x, ccdf = x[x > 0], ccdf[x > 0]
    if len(x) <= MOST_STEPS:
        return x, ccdf
    wanted = np.searchsorted(x, np.geomspace(x[0], x[-1], MOST_STEPS)).clip(max=len(x) - 1)
    kept = np.unique(np.append(wanted, (0, len(x) - 1)))
    return x[kept], ccdf[kept]


def _distributions(figure: Figure, a: Curve, b: Curve, keys: tuple[Key, ...], *, in_means: bool) -> Plot:
    with drawing(f"compare-{figure.key}-{in_means}", figure.title) as drawn:
        logarithmic(drawn.axes)
        for style, curve in enumerate((a, b)):
            value, count = curve["value"], curve["count"]
            x, ccdf = steps(over_mean(value, count) if in_means else value, count)
            lines(drawn.axes, x, ccdf, style, steps=True)
        _label(drawn.axes, f"{COUNTED[figure.key]}{', over their mean' * in_means}", figure.y.replace(">=", "≥"))
    return Plot(drawn.svg, keys)


def _means(figure: Figure, a: Curve, b: Curve, keys: tuple[Key, ...]) -> Plot:
    with drawing(f"compare-{figure.key}", figure.title) as drawn:
        logarithmic(drawn.axes)
        for style, curve in enumerate((a, b)):
            shown = some(curve.where((curve["value"] > 0) & (curve["mean"] > 0)), MOST_MEANS)
            cloud(drawn.axes, shown["value"], shown["mean"], style, size=3.2, opacity=0.6)
        _label(drawn.axes, figure.x, f"mean of {figure.y}")
    return Plot(drawn.svg, keys)


def _profiles(figure: Figure, series: str, a: Side, b: Side, keys: tuple[Key, ...]) -> Plot:
    weekly = figure.key == "weekly"
    with drawing(f"compare-{figure.key}-{series}", f"{figure.title}, {series}") as drawn:
        for style, side in enumerate((a, b)):
            found = profile(figure, side, series)
            lines(drawn.axes, np.array([*found], dtype=np.float64), over_mean(*_weighted([*found.values()])), style)
        drawn.axes.set_ylim(bottom=0)
        ticks(drawn.axes, weekly=weekly)
        _label(drawn.axes, "day of the week" if weekly else "hour of the day", f"{series}, over its mean")
    return Plot(drawn.svg, keys)


def _weighted(values: list[float]) -> tuple[Column, Column]:
    return np.array(values), np.ones(len(values))


def _label(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
