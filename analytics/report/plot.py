"""What every plot is made of: its drawing, the key to its lines, and what must be known to read it."""

from typing import Literal, NamedTuple

from matplotlib.axes import Axes

from .canvas import DASHES, QUIET, SERIES
from .curves import Column
from .markup import Html, element, joined


class Key(NamedTuple):
    """What a line is. `style`: number of its colour and dashes. `thin`: a bound; `published`: single marks of others."""

    label: str
    style: int = 0
    mark: Literal["line", "thin", "points", "published", "guide"] = "line"


class Plot(NamedTuple):
    """`notes`: sentences under the plot."""

    svg: Html
    keys: tuple[Key, ...] = ()
    notes: tuple[str, ...] = ()


def lines(axes: Axes, x: Column, y: Column, style: int, *, steps: bool = False) -> None:
    """One line in the style of its number; colour alone never tells lines apart. A line of one point is a dot, or it would not be seen."""
    colour, dash = SERIES[style % len(SERIES)], DASHES[style % len(DASHES)]
    axes.plot(x, y, color=colour, linewidth=1.7, dashes=dash or (None, None), drawstyle="steps-pre" if steps else "default")
    if len(x) == 1:
        cloud(axes, x, y, style % len(SERIES), size=5.0, opacity=1.0)


def cloud(axes: Axes, x: Column, y: Column, style: int, *, size: float, opacity: float) -> None:
    """One point for each pair."""
    axes.plot(x, y, "o", markerfacecolor=(SERIES[style], opacity), markersize=size, markeredgewidth=0)


def guide(axes: Axes, x: Column, y: Column) -> None:
    """A thin line that data are held against."""
    axes.plot(x, y, color=QUIET, linewidth=1.2, dashes=(4, 3))


def legend(keys: tuple[Key, ...]) -> Html:
    """The key to the lines, beneath the plot, so that it never covers them."""
    if not keys:
        return Html()
    return element("ul", *(element("li", _swatch(key), key.label) for key in keys), class_="key")


def _swatch(key: Key) -> Html:
    colour = "var(--quiet)" if key.mark == "guide" else f"var(--series-{key.style % len(SERIES) + 1})"
    if key.mark == "points":
        inside = joined(*(element("circle", cx=str(x), cy="5", r="2.2", fill=colour) for x in (5, 14, 23)))
    elif key.mark == "published":
        inside = element("path", d="M14 1 l4 4 l-4 4 l-4 -4 z", fill="none", stroke=colour, stroke_width="1.6")
    elif key.mark == "thin":
        inside = element("line", x1="0", x2="28", y1="5", y2="5", stroke=colour, stroke_width="1")
    else:
        dashes = (4.0, 3.0) if key.mark == "guide" else DASHES[key.style % len(DASHES)]
        dasharray = " ".join(f"{2 * each:g}" for each in dashes) or "none"
        inside = element("line", x1="0", x2="28", y1="5", y2="5", stroke=colour, stroke_width="2.4", stroke_dasharray=dasharray)
    return element("svg", inside, viewBox="0 0 28 10", width="28", height="10", aria_hidden="true")
