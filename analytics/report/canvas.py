"""Plots as SVG that lives inside a page.

The colours are those of the page, words are text, and the same plot gives the same bytes.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from analytics.numbers import decade
from infra.kernel.html import Html

from .markup import element

# Matplotlib wants colours and the page wants names: each of these stands for a variable of page.css.
INK: Final = "#010101"
QUIET: Final = "#010102"
GRID: Final = "#010103"
SHADE: Final = "#010104"
SERIES: Final = ("#0101a1", "#0101a2", "#0101a3", "#0101a4")
DASHES: Final = ((), (6.0, 2.5), (1.5, 2.0), (8.0, 2.0, 1.5, 2.0))
_VARIABLES: Final = {INK: "ink", QUIET: "quiet", GRID: "grid", SHADE: "shade"} | {
    colour: f"series-{number}" for number, colour in enumerate(SERIES, 1)
}
_WIDTH: Final = 460
_HEIGHT: Final = 310
_BOX: Final = (0.135, 0.16, 0.845, 0.82)
_UNITS_PER_INCH: Final = 72
_EPOCH: Final = "1970-01-01T00:00:00"
_FONT: Final = re.compile(r"font-size: [^;\"]*; font-family: [^;\"]*;? ?")
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_DEFAULTS: Final = re.compile(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>", re.DOTALL)
_ID: Final = re.compile(r' id="([^"]+)"')
_USED: Final = re.compile(r"#([^\"')]+)")
# Marks of one line look the same, so their group says how, and not a thousand times each of them.
_FIRST_MARK: Final = re.compile(r"<g([^>]*)>\s*(<use [^>]*?) style=\"([^\"]*)\"/>")
_OTHER_MARK: Final = re.compile(r"(<use [^>]*?) style=\"[^\"]*\"/>")
_SPACE: Final = re.compile(r"\n\s*")


def dashes_of(style: int) -> tuple[float, ...]:
    """Returns the dashes of the line with this number. The fifth line has the colour of the first one, and other dashes."""
    return DASHES[(style + style // len(SERIES)) % len(DASHES)]


class Canvas:
    """A pair of axes, and its SVG when the block of `drawing` is over."""

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        self.svg = Html()


@contextmanager
def drawing(name: str, title: str) -> Iterator[Canvas]:
    """Gives axes to draw on, and puts the SVG into `Canvas.svg` at the end of the block.

    `name` is unlike that of any other drawing on the page: ids of the SVG are made of it. `title` is for those who cannot see the plot.
    """
    # Names come from data, and a $ in one is no formula.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "date.epoch": _EPOCH, "text.parse_math": False}):
        figure = Figure(figsize=(_WIDTH / _UNITS_PER_INCH, _HEIGHT / _UNITS_PER_INCH))
        found = Canvas(figure.add_axes(_BOX))
        _style(found.axes)
        yield found
        written = io.StringIO()
        # Without these, which say when and by what it was written, the same plot is the same bytes.
        about = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(written, format="svg", transparent=True, metadata=about)
    found.svg = _for_page(written.getvalue(), title)


def logarithmic(axes: Axes, *, x: bool = True, y: bool = True) -> None:
    """Makes the axes logarithmic, with a label at whole decades, at most eight of them. `x`, `y`: which of them."""
    axes.set(xscale="log" if x else "linear", yscale="log" if y else "linear")
    for axis in [axes.xaxis] * x + [axes.yaxis] * y:
        axis.set_major_locator(LogLocator(numticks=9))
        axis.set_major_formatter(FuncFormatter(lambda value, _: decade(value)))
        axis.set_minor_locator(LogLocator(subs=(2, 5), numticks=9))
        axis.set_minor_formatter(NullFormatter())


def _style(axes: Axes) -> None:
    axes.set_axisbelow(True)
    axes.grid(color=GRID, linewidth=0.7)
    axes.tick_params(which="both", color=QUIET, labelcolor=INK, labelsize=11, length=3)
    axes.xaxis.labelpad = axes.yaxis.labelpad = 8
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(QUIET)
        spine.set_linewidth(0.8)


def _for_page(written: str, title: str) -> Html:
    """Returns the SVG without what would act on the rest of the page, and without what it says twice."""
    svg = _DEFAULTS.sub("", _COMMENT.sub("", written[written.index("<svg") :]))
    svg = _OTHER_MARK.sub(r"\1/>", _FIRST_MARK.sub(r'<g\1 style="\3">\2/>', _FONT.sub("", svg))).replace("xlink:href", "href")
    used = set(_USED.findall(svg))
    svg = _ID.sub(lambda match: match[0] if match[1] in used else "", svg)
    # Last, when nothing else looks at the text: the stand-in colours become the variables of the page.
    for colour, name in _VARIABLES.items():
        svg = svg.replace(colour, f"var(--{name})")
    inside = _SPACE.sub(" ", svg.partition(">")[2].rpartition("</svg>")[0]).strip()
    return element("svg", Html(inside), class_="plot", viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=title)
