"""Means of y over x on logarithmic axes, with a random sample of the single points behind them."""

from typing import Final, NamedTuple

import numpy as np

from analytics.figures import Figure
from analytics.numbers import number
from analytics.summary import WorkloadSummary

from .canvas import INK, drawing, logarithmic
from .curves import Column, Curve
from .plot import Key, Plot, cloud, guide

MOST_POINTS: Final = 1200
MOST_MEANS: Final = 800


class Guide(NamedTuple):
    """A line through the middle of the data, with the slope that the finding of the source is about."""

    slope: float
    label: str


_LINEAR: Final = Guide(1.0, "what grows linearly has this slope")
_FLAT: Final = Guide(0.0, "mean of all topics: where everything would lie without any relation")


def plot(figure: Figure, curve: Curve, points: Curve | None, summary: WorkloadSummary) -> Plot:
    """Draws the plot of a `mean`.

    `figure`: which one. `curve`: its thinned means. `points`: a sample of single points, or None. `summary`: tells which source the guide
    is about. At most `MOST_POINTS` points and `MOST_MEANS` means are drawn, evenly chosen.
    """
    means = some(curve.where((curve["value"] > 0) & (curve["mean"] > 0)), MOST_MEANS)
    keys = [Key("mean at each value of x", 1, "points")]
    notes: tuple[str, ...] = ()
    line = _FLAT if figure.key == "popularity_rate" and summary.manifest.profile != "twitter" else _LINEAR
    with drawing(f"report-{figure.key}", figure.title) as drawn:
        axes = drawn.axes
        logarithmic(axes)
        if points is not None:
            above = points.where((points["x"] > 0) & (points["y"] > 0))
            sample = some(above, MOST_POINTS)
            cloud(axes, sample["x"], sample["y"], 0, size=2.6, opacity=0.35)
            keys.insert(0, Key(f"random sample, {number(len(sample))} drawn", 0, "points"))
            zeros = len(points) - len(above)
            notes = (f"{number(zeros)} points of the sample with value 0 are not drawn.",) * bool(zeros)
        cloud(axes, means["value"], means["mean"], 1, size=3.6, opacity=0.9)
        if len(means) > 1:
            guide(axes, *through_middle(means, line.slope))
            keys.append(Key(line.label, mark="guide"))
        axes.set_xlabel(figure.x, color=INK)
        axes.set_ylabel(figure.y, color=INK)
    return Plot(drawn.svg, tuple(keys), notes)


def through_middle(means: Curve, slope: float) -> tuple[Column, Column]:
    """Returns the ends of a line of that slope from the least x to the largest, whose total over the data is that of the means."""
    x, n = means["value"], means["n"]
    # Weighted by n: the line and the points behind the means then have the same total, however few lie behind the last of them.
    height = float((n * means["mean"]).sum() / (n * x**slope).sum())
    ends = np.array([x.min(), x.max()])
    return ends, height * ends**slope


def some(curve: Curve, most: int) -> Curve:
    """Returns at most `most` rows: every k-th row, the first and the last among them."""
    if len(curve) <= most:
        return curve
    wanted = np.zeros(len(curve), dtype=np.bool_)
    wanted[np.linspace(0, len(curve) - 1, most).astype(np.int64)] = True
    return curve.where(wanted)
