"""One figure of the thesis, drawn anew, as a section of a page."""

from typing import NamedTuple

from analytics.report.document import section
from analytics.report.markup import element
from analytics.report.plot import Plot, figures
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
        """Returns the plots, their keys, and the published result."""
        numbers = self.sheet.html() if self.sheet else Html()
        return section(
            self.key,
            self.title,
            element("p", f"In the thesis: figure {self.source}" if self.source else "Not a figure of the thesis", class_="source"),
            figures(self.plots),
            element("p", joined(element("strong", "Published: "), f"{self.published}.")) if self.published else Html(),
            numbers,
            kind="figure",
        )
