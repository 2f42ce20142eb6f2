"""The plots of the mean day and the mean week."""

from typing import Final

from matplotlib.axes import Axes

from analytics.figures import Figure

from .canvas import INK, drawing
from .curves import Curve
from .plot import Key, Plot, lines
from .time_plot import is_steep, scale_y

DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_HOURS: Final = tuple(range(0, 24, 3))


def plot(figure: Figure, curve: Curve) -> Plot:
    """Draws the plot of a `cycle`."""
    daily = figure.key == "daily"
    with drawing(f"report-{figure.key}", figure.title) as drawn:
        axes = drawn.axes
        for style, name in enumerate(curve.series):
            one = curve.of(name)
            lines(axes, one["hour" if daily else "day"], one["value"], style)
        steep = scale_y(axes, is_steep(curve))
        ticks(axes, weekly=not daily)
        axes.set_xlabel(figure.x, color=INK)
        axes.set_ylabel(figure.y, color=INK)
    return Plot(drawn.svg, tuple(Key(name, style) for style, name in enumerate(curve.series)), steep)


def ticks(axes: Axes, *, weekly: bool) -> None:
    """Labels the axis of x with the days of the week, or with hours of the day."""
    if weekly:
        axes.set_xticks(range(7), DAYS)
    else:
        axes.set_xticks(_HOURS, [f"{hour}:00" for hour in _HOURS])
