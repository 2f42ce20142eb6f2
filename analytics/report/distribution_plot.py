"""A complementary cumulative distribution on logarithmic axes, with the power law that was fitted to its tail."""

from typing import Final

import numpy as np
from matplotlib.axes import Axes
from scipy.special import zeta

from analytics.figures import Figure
from analytics.numbers import number
from analytics.summary import TailFit, WorkloadSummary

from .canvas import INK, QUIET, drawing, logarithmic
from .curves import Column, Curve
from .plot import Key, Plot, lines

# What is counted where the source has percentages; Twitter's figures have these axes.
COUNTED: Final = {
    "popularity": "subscribers of a topic",
    "size": "topics of a subscriber",
    "rate": "events of a topic",
    "nnr": "events that a subscriber gets",
    "session_length": "seconds",
}
_POINTS: Final = 200
_BOX_BELOW_COUNTS: Final = (0.135, 0.16, 0.845, 0.68)


def plot(figure: Figure, curve: Curve, summary: WorkloadSummary) -> Plot:
    """Draws the plot of a `ccdf`.

    `figure`: which one. `curve`: its thinned curve. `summary`: has the fit and the knee. Nothing is drawn at 0, where logarithmic axes do
    not reach: a note says how much that is.
    """
    shown = curve.where(curve["value"] > 0)
    in_percent = figure.x.startswith("%") and summary.manifest.profile != "twitter"
    share = _percent_per_unit(shown) if in_percent else 1.0
    fit, knee = summary.fits.get(figure.key), summary.measures.get(f"{figure.key}.knee_events")
    with drawing(f"report-{figure.key}", figure.title) as drawn:
        axes = drawn.axes
        logarithmic(axes)
        lines(axes, shown["value"] * share, shown["ccdf"], 0, steps=True)
        keys = [Key("this trace")]
        if fit is not None and fit.tells and len(shown):
            x, y = tail(fit, shown)
            lines(axes, x * share, y, 1)
            keys.append(Key(f"power law from {number(fit.xmin)} on, exponent of the density {fit.alpha:.2f}", 1))
        if knee is not None:
            axes.axvline(knee * share, color=QUIET, linewidth=1.2, dashes=(4, 3))
            keys.append(Key(f"the CCDF breaks at {number(knee * share)}{' %' if in_percent else ''}", mark="guide"))
        axes.set_xlabel(figure.x if in_percent else COUNTED[figure.key], color=INK)
        axes.set_ylabel(figure.y.replace(">=", "≥"), color=INK)
        if in_percent and len(shown):
            _count_axis(axes, COUNTED[figure.key], share)
    return Plot(drawn.svg, tuple(keys), (*_single(shown), *_left_out(curve)))


def tail(fit: TailFit, curve: Curve) -> tuple[Column, Column]:
    """Returns x and y of the fitted law.

    It begins at xmin, as high as the curve is there. It ends at the largest value of `curve`, or where the law falls below the least
    probability of the curve. What is counted is whole, and the law of whole numbers falls faster than a straight line while they are small.
    """
    start = float(curve["ccdf"][curve["value"] >= fit.xmin].max(initial=0.0))
    x = np.unique(np.rint(np.geomspace(fit.xmin, max(fit.xmin, float(curve["value"].max())), _POINTS)))
    y = start * zeta(fit.alpha, x) / zeta(fit.alpha, fit.xmin)
    # Below the last point of the curve there is nothing to compare the law with: it would only stretch the axis.
    drawn = y >= curve["ccdf"].min()
    return x[drawn], y[drawn]


def _percent_per_unit(curve: Curve) -> float:
    return float(curve["percent"][-1] / curve["value"][-1]) if len(curve) else 1.0


def _count_axis(axes: Axes, label: str, share: float) -> None:
    low, high = axes.get_xlim()
    # The second axis has the same ends in counts: one curve is read on both.
    axes.set_position(_BOX_BELOW_COUNTS)
    above = axes.twiny()
    logarithmic(above)
    above.set_xlim(low / share, high / share)
    above.set_xlabel(label, color=QUIET)
    above.tick_params(which="both", color=QUIET, labelcolor=QUIET, labelsize=11, length=3)
    for spine in above.spines.values():
        spine.set_visible(False)


def _single(shown: Curve) -> tuple[str, ...]:
    return (f"All have the same value, {number(shown['value'][0])}: the curve is one point.",) if len(shown) == 1 else ()


def _left_out(curve: Curve) -> tuple[str, ...]:
    zeros = float(curve["count"][curve["value"] <= 0].sum())
    everything = float(curve["count"].sum())
    return (f"{number(zeros)} with value 0 are counted and not drawn.",) if zeros and everything else ()
