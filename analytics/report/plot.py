"""The parts of every plot: its drawing, the key to its lines, and the notes that are needed to read it."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from matplotlib.axes import Axes

from infra.kernel.html import Html, joined

from .canvas import QUIET, SERIES, dashes_of
from .curves import Column
from .markup import element


class Key(NamedTuple):
    """An entry of the key to the lines.

    - `label`: its text. `style`: number of the line's colour and dashes.
    - `mark`: how it is drawn. `thin` is a bound, `published` are single marks of others, `guide` is a line that data are compared with.
    """

    label: str
    style: int = 0
    mark: Literal["line", "thin", "points", "published", "guide"] = "line"


class Plot(NamedTuple):
    """A plot as a page shows it. `keys`: the key to its lines. `notes`: sentences under the plot. `title`: what it shows."""

    svg: Html
    keys: tuple[Key, ...] = ()
    notes: tuple[str, ...] = ()
    title: str = ""


def lines(axes: Axes, x: Column, y: Column, style: int, *, steps: bool = False) -> None:
    """Draws one line of `x` and `y` on `axes`, in the style of that number. `steps`: as a staircase.

    Colour alone never tells lines apart. A line of one point is drawn as a dot, because nobody would see it otherwise.
    """
    colour, dash = SERIES[style % len(SERIES)], dashes_of(style)
    axes.plot(x, y, color=colour, linewidth=1.7, dashes=dash or (None, None), drawstyle="steps-pre" if steps else "default")
    if len(x) == 1:
        cloud(axes, x, y, style % len(SERIES), size=5.0, opacity=1.0)


def cloud(axes: Axes, x: Column, y: Column, style: int, *, size: float, opacity: float) -> None:
    """Draws one point for each pair of `x` and `y`, in the colour of number `style`. `size`: in points. `opacity`: 0 to 1."""
    axes.plot(x, y, "o", markerfacecolor=(SERIES[style], opacity), markersize=size, markeredgewidth=0)


def guide(axes: Axes, x: Column, y: Column) -> None:
    """Draws a thin line through `x` and `y` that data are compared with."""
    axes.plot(x, y, color=QUIET, linewidth=1.2, dashes=(4, 3))


def legend(keys: tuple[Key, ...]) -> Html:
    """Returns the key to the lines. It stands beneath the plot, so that it never covers them."""
    if not keys:
        return Html()
    return element("ul", *(element("li", _swatch(key), key.label) for key in keys), class_="key")


def figures(plots: Sequence[Plot], *, titled: bool = False) -> Html:
    """Returns plots that belong together, two in a row where there is room; of an odd number the first one is large.

    An entry in the key of the first plot is not repeated in the others. `titled`: each has its title above it.
    """
    known = plots[0].keys if plots else ()
    drawn = [_figure(each, tuple(key for key in each.keys if not at or key not in known), titled=titled) for at, each in enumerate(plots)]
    alone = len(drawn) % 2
    pairs = element("div", *drawn[alone:], class_="pair") if len(drawn) > alone else Html()
    return joined(*drawn[:alone], pairs)


def _figure(plot: Plot, keys: tuple[Key, ...], *, titled: bool) -> Html:
    title = element("figcaption", element("strong", plot.title)) if titled and plot.title else Html()
    return element("figure", title, plot.svg, legend(keys), *(element("figcaption", note) for note in plot.notes))


def _swatch(key: Key) -> Html:
    colour = "var(--quiet)" if key.mark == "guide" else f"var(--series-{key.style % len(SERIES) + 1})"
    if key.mark == "points":
        inside = joined(*(element("circle", cx=str(x), cy="5", r="2.2", fill=colour) for x in (5, 14, 23)))
    elif key.mark == "published":
        inside = element("path", d="M14 1 l4 4 l-4 4 l-4 -4 z", fill="none", stroke=colour, stroke_width="1.6")
    elif key.mark == "thin":
        inside = element("line", x1="0", x2="28", y1="5", y2="5", stroke=colour, stroke_width="1")
    else:
        dashes = (4.0, 3.0) if key.mark == "guide" else dashes_of(key.style)
        dasharray = " ".join(f"{2 * each:g}" for each in dashes) or "none"
        inside = element("line", x1="0", x2="28", y1="5", y2="5", stroke=colour, stroke_width="2.4", stroke_dasharray=dasharray)
    return element("svg", inside, viewBox="0 0 28 10", width="28", height="10", aria_hidden="true")
