"""The page of a comparison: both characterizations figure by figure, in the form of the report."""

from analytics.figures import FIGURES
from analytics.numbers import number
from analytics.report.document import ContentsEntry, document, section
from analytics.report.head import sizes
from analytics.report.markup import element, table
from analytics.report.measure_table import meaning
from analytics.report.plot import Plot, legend
from analytics.summary import WorkloadSummary
from infra.kernel.html import Html, joined

from .result import MEANINGS, ComparisonResult, Score, in_words, thresholds


def render(result: ComparisonResult, a: WorkloadSummary, b: WorkloadSummary, plots: dict[str, list[Plot]]) -> str:
    """Returns the page.

    `result`: what was found. `a`, `b`: the summaries of both. `plots`: by figure key, of the figures that both have.
    """
    return document(
        f"{result.a} and {result.b}: comparison",
        _contents(result),
        _head(result, a, b),
        section("scores", "How far they are apart", score_table(result.scores), *map(_small, (f"In words: {thresholds()}.", *MEANINGS))),
        *(_figure(key, result, plots[key]) for key in FIGURES if key in plots),
        section("missing", "What is not compared", _missing(result)),
        section("measures", "Measures side by side", _measures(result)),
    )


def score_table(scores: list[Score]) -> Html:
    """Returns every score, from the largest distance to the least."""
    rows = [
        (
            element("a", name(score), href=f"#{score.figure}"),
            told(score.distance),
            told(score.shape),
            _optional(score.decades),
            _optional(score.correlation),
        )
        for score in scores
    ]
    return table(("figure", "as counted", "shape alone", "decades", "r"), rows)


def name(score: Score) -> str:
    """Returns `Topic popularity`, or `Publications by service, presence`."""
    title = FIGURES[score.figure].title
    return f"{title}, {score.series}" if score.series else title


def _contents(result: ComparisonResult) -> list[ContentsEntry]:
    worst = {score.figure: in_words(score.distance) for score in reversed(result.scores)}
    compared = [ContentsEntry(key, figure.title, worst[key]) for key, figure in FIGURES.items() if key in worst]
    return [
        ContentsEntry("scores", "How far they are apart"),
        *compared,
        ContentsEntry("missing", "What is not compared"),
        ContentsEntry("measures", "Measures side by side"),
    ]


def _head(result: ComparisonResult, a: WorkloadSummary, b: WorkloadSummary) -> Html:
    both = ((result.a, a), (result.b, b))
    told = (
        joined(element("h3", name), element("p", summary.manifest.source, class_="source"), sizes(summary.measures))
        for name, summary in both
    )
    return element(
        "header", element("p", "Comparison of two workloads", class_="kicker"), element("h1", f"{result.a} and {result.b}"), *told
    )


def _figure(key: str, result: ComparisonResult, plots: list[Plot]) -> Html:
    figures = (element("figure", plot.svg, legend(plot.keys)) for plot in plots)
    scores = [score for score in result.scores if score.figure == key]
    return section(key, FIGURES[key].title, element("div", *figures, class_="pair"), score_table(scores), kind="figure")


def _missing(result: ComparisonResult) -> Html:
    if not result.missing:
        return element("p", "Nothing: both have every figure.")
    return table(("why", "figures"), [(why, ", ".join(FIGURES[key].title for key in keys)) for why, keys in result.reasons().items()])


def _measures(result: ComparisonResult) -> Html:
    rows = [
        (
            element("code", name),
            number(both.a),
            number(both.b),
            "" if both.ratio is None else number(float(f"{both.ratio:.3g}")),
            meaning(name),
        )
        for name, both in result.measures.items()
    ]
    return table(("measure", result.a, result.b, "ratio", "meaning"), rows)


def _small(text: str) -> Html:
    return element("p", text, class_="source")


def told(distance: float) -> str:
    """Returns `0.031 nearly the same`."""
    return f"{distance:.3f} {in_words(distance)}"


def _optional(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
