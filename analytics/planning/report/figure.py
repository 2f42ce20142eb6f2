"""One figure of the thesis, drawn anew, as a section of a page."""

from typing import NamedTuple

from analytics.report.document import section
from analytics.report.markup import element
from analytics.report.plot import Key, Plot, legend
from infra.kernel.html import Html, joined

from .sheet import Sheet


class FigureSection(NamedTuple):
    """A figure with its plots.

    - `source`: its number in the thesis.
    - `published`: the result of the thesis, in words.
    - `sheet`: the numbers behind it.
    """

    key: str
    title: str
    source: str
    plots: tuple[Plot, ...]
    published: str = ""
    sheet: Sheet | None = None

    @property
    def has_lines(self) -> bool:
        """Returns whether anything is drawn of this trace."""
        return any(key.mark == "line" for plot in self.plots for key in plot.keys)

    def html(self) -> Html:
        """Returns the plots, their keys, and the published result. An entry in the key of the first plot is not repeated in the others."""
        numbers = self.sheet.html() if self.sheet else Html()
        first, *others = self.plots
        drawn = [_drawn(first, first.keys), *(_drawn(each, tuple(key for key in each.keys if key not in first.keys)) for each in others)]
        alone = len(drawn) % 2
        return section(
            self.key,
            self.title,
            element("p", f"In the thesis: figure {self.source}" if self.source else "Not a figure of the thesis", class_="source"),
            *drawn[:alone],
            element("div", *drawn[alone:], class_="pair") if others else Html(),
            element("p", joined(element("strong", "Published: "), f"{self.published}.")) if self.published else Html(),
            numbers,
            kind="figure",
        )


def _drawn(plot: Plot, keys: tuple[Key, ...]) -> Html:
    return element("figure", plot.svg, legend(keys), *(element("figcaption", note) for note in plot.notes))
