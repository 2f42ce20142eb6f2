"""One figure of the thesis, drawn anew, as a section of a page."""

from typing import NamedTuple

from analytics.report.document import section
from analytics.report.markup import Html, element, joined
from analytics.report.plot import Plot, legend

from .sheet import Sheet


class Figure(NamedTuple):
    """`source`: its number in the thesis. `published`: what is reported there, in words. `sheet`: the numbers behind it."""

    key: str
    title: str
    source: str
    plots: tuple[Plot, ...]
    published: str = ""
    sheet: Sheet | None = None

    def html(self) -> Html:
        """The plots, their keys, and what was published."""
        numbers = self.sheet.html() if self.sheet else Html()
        drawn = [
            element("figure", plot.svg, legend(plot.keys), *(element("figcaption", note) for note in plot.notes)) for plot in self.plots
        ]
        return section(
            self.key,
            self.title,
            element("p", f"In the thesis: figure {self.source}" if self.source else "Not a figure of the thesis", class_="source"),
            element("div", *drawn, class_="pair") if len(drawn) > 1 else joined(*drawn),
            element("p", joined(element("strong", "Published: "), f"{self.published}.")) if self.published else Html(),
            numbers,
            kind="figure",
        )
