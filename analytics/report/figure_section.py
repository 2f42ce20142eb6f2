"""One figure of the report: its plot, what it shows, what was published, and how it was made."""

from pathlib import Path

from analytics.figures import Figure
from analytics.findings import JudgedFinding, sentence
from analytics.numbers import number
from analytics.summary import WorkloadSummary
from infra.kernel.html import Html, joined

from . import cycle_plot, distribution_plot, mean_plot, time_plot
from .curves import points, thinned
from .document import section
from .fit_table import fit_table
from .markup import element
from .plot import Plot, legend
from .verdicts import compared, published


def figure_section(folder: Path, figure: Figure, summary: WorkloadSummary, findings: list[JudgedFinding]) -> Html:
    """Returns the section of `figure`, or says there why it could not be computed.

    `folder`: of the characterization. `findings`: those about this figure. Raises TraceError if its curve cannot be read.
    """
    source = element("p", _in_the_source(figure), class_="source")
    if figure.key not in summary.rows:
        reason = summary.skipped.get(figure.key, "the characterization does not say why")
        return section(figure.key, figure.title, source, element("p", f"Not drawn: {reason}."), published(findings), kind="figure missing")
    drawn = _plot(folder, figure, summary)
    return section(
        figure.key,
        figure.title,
        source,
        element("p", sentence(figure.key, summary), class_="shows"),
        element("figure", drawn.svg, legend(drawn.keys), _caption(folder, figure, drawn, summary)),
        compared(findings),
        fit_table(summary.fits[figure.key]) if figure.key in summary.fits else Html(),
        kind="figure",
    )


def _plot(folder: Path, figure: Figure, summary: WorkloadSummary) -> Plot:
    curve = thinned(folder, figure)
    match figure.kind:
        case "ccdf":
            return distribution_plot.plot(figure, curve, summary)
        case "mean":
            return mean_plot.plot(figure, curve, points(folder, figure), summary)
        case "line":
            return time_plot.plot(figure, curve, summary)
        case "cycle":
            return cycle_plot.plot(figure, curve)


def _in_the_source(figure: Figure) -> str:
    known = {"Spotify": figure.spotify, "Twitter": figure.twitter}
    found = ", ".join(f"{number} ({name})" for name, number in known.items() if number)
    return f"In the thesis: figure {found}" if found else "Not a figure of the thesis"


def _caption(folder: Path, figure: Figure, drawn: Plot, summary: WorkloadSummary) -> Html:
    how = [*drawn.notes, _sentence(summary.binning.get(figure.key, ""))]
    paths = {"CSV as drawn": f"{figure.key}.csv", "sample of points": f"{figure.key}_points.csv", "every row": f"{figure.key}.parquet"}
    links = [element("a", name, href=f"curves/{path}") for name, path in paths.items() if (folder / "curves" / path).exists()]
    rows = element("span", f" {number(summary.rows[figure.key])} rows: ", *(part for link in links for part in (link, " ")))
    return element("figcaption", joined(" ".join(filter(None, how)), rows))


def _sentence(text: str) -> str:
    """Gives a text its capital and its full stop."""
    return text and f"{text[0].upper()}{text[1:].rstrip('.')}."
