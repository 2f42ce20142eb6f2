"""Figures 6.2 to 6.7 of the thesis, drawn anew beside the published numbers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product

from analytics.report.plot import Plot

from .. import published
from ..satisfaction.case import GreedyLine, SatisfactionRun
from ..satisfaction.solution import Metric
from ..satisfaction.study import SatisfactionStudy
from ..satisfaction.window_study import WindowRun
from .chart import Axis, Series, chart
from .figure import FigureSection
from .satisfaction_tables import NAMES, in_events, is_of_thesis, matched, mean


def figures(study: SatisfactionStudy) -> list[FigureSection]:
    """Returns the figures that the study has numbers for."""
    found = [*(progress(study, metric) for metric in _metrics(study.runs)), ratios(study), times(study)]
    return [each for each in (*found, *(_windows(study) if study.windows else ())) if each.has_lines]


def progress(study: SatisfactionStudy, metric: Metric) -> FigureSection:
    """Returns satisfied subscribers over capacity used."""
    series: list[Series] = []
    for style, line in enumerate(each for each in study.lines if each.metric == metric):
        series.append(Series(f"threshold {line.threshold:,}", _percents(line.capacity_share, line.value_share), style))
        series.append(Series(f"bound at {line.threshold:,}", _percents(line.capacity_share, line.bound_share), style, "thin"))
        series += _marks(study, line, style)
    y = "% of subscribers" + (", in parts" if metric == "fb3m" else " satisfied")
    x = Axis("% of the full capacity used", least=0)
    notes = ("Lines: greedy, topic by topic. Thin ones: the bound of the thesis.",)
    plot = chart(f"progress-{metric}", f"{NAMES[metric]} over capacity", x, Axis(y, least=0), series, notes)
    known = {
        "b3m": "at threshold 27, 72 % of 4.9 M subscribers with 10 % of the capacity, and 86 % at most; the gap to the bound mostly widens",
        "fb3m": "smaller gaps than for B3M; more than 3.5 M of 4.9 M at threshold 27",
    }
    source = "6.2" if metric == "b3m" else "6.4"
    return _figure(study, f"progress-{metric}", f"{NAMES[metric]}: satisfied over capacity", source, plot, known[metric])


def ratios(study: SatisfactionStudy) -> FigureSection:
    """Returns the share of the bounds that is reached at each threshold."""
    series: list[Series] = []
    for style, metric in enumerate(_metrics(study.runs)):
        greedy = _greedy(study.runs, metric, "ratio")
        series.append(Series(f"{NAMES[metric]}, greedy to the bound of the thesis", greedy, 2 * style))
        series.append(Series(f"{NAMES[metric]}, our best to the best bound", _best_ratios(study.runs, metric), 2 * style + 1))
        known = [(float(run.threshold), each.ratio) for each, run in matched(study) if each.metric == metric]
        series.append(Series(f"{NAMES[metric]}, published", known, 2 * style, "published"))
    plot = chart("ratios", "Ratio to the bound", _thresholds(study), Axis("ratio", most=1.0), series)
    told = "B3M 0.87, 0.75, 0.82 and F-B3M up to 0.90 at 1, 10 and 100 % of the mean"
    return _figure(study, "ratios", "Ratio to the bound", "6.3", plot, told)


def times(study: SatisfactionStudy) -> FigureSection:
    """Returns seconds by threshold."""
    series: list[Series] = []
    for style, metric in enumerate(_metrics(study.runs)):
        limit = published.SECONDS[metric]
        series.append(Series(f"{NAMES[metric]} here", _greedy(study.runs, metric, "seconds"), style))
        series += _level(study, f"published limit for {NAMES[metric]}: {limit:g} s", limit)
    plot = chart("times", "Running time of greedy", _thresholds(study), Axis("seconds", True), series)
    known = (
        "one core of a Xeon of 2.13 GHz, 1.1 M topics, 4.9 M subscribers: F-B3M below 20 s, both below 30 s, "
        f"F-B3M without laziness {published.SLOW_SECONDS:g} s"
    )
    return _figure(study, "times", "Running time of greedy", "6.5", plot, known)


def _windows(study: SatisfactionStudy) -> list[FigureSection]:
    threshold = study.windows[0].threshold
    x = Axis("capacity, % of what all active topics take", least=0)
    limit = _level(study, f"published limit: {published.WINDOW_SECONDS:g} s", published.WINDOW_SECONDS)
    times = [*_over_capacity(study, "seconds"), *limit]
    hourly = chart("window-times", "Running time hour by hour", x, Axis("seconds, mean of the hours", True), times)
    least = _level(study, f"published least: {published.WINDOW_RATIO:g}", published.WINDOW_RATIO)
    ratios = [*_over_capacity(study, "ratio"), *least]
    ratio = chart("window-ratios", "Ratio to the bound hour by hour", x, Axis("ratio, mean of the hours", most=1.0), ratios)
    fast = f"a few hundred milliseconds, always below 1 s; F-B3M at least twice as fast as B3M (threshold {threshold}, ten hours)"
    near = "both alike, F-B3M slightly better everywhere, rising with the capacity, 0.7 at least"
    return [
        _figure(study, "window-times", "Running time hour by hour", "6.6", hourly, fast),
        _figure(study, "window-ratios", "Ratio to the bound hour by hour", "6.7", ratio, near),
    ]


def _figure(study: SatisfactionStudy, key: str, title: str, source: str, plot: Plot, known: str) -> FigureSection:
    """Returns a figure of `plot`, with the published result (`known`) where that is about a trace of this shape.

    `key`, `title` and `source` are those of the figure.
    """
    return FigureSection(key, title, source, (plot,), known) if is_of_thesis(study) else FigureSection(key, title, "", (plot,))


def _level(study: SatisfactionStudy, label: str, height: float) -> list[Series]:
    return [Series(label, [(0, height)], mark="level")] if is_of_thesis(study) else []


def _percents(x: list[float], y: list[float]) -> list[tuple[float, float]]:
    return [(100 * left, 100 * right) for left, right in zip(x, y, strict=True)]


def _marks(study: SatisfactionStudy, line: GreedyLine, style: int) -> Iterator[Series]:
    """Returns the published points of that line."""
    at, threshold = 100 * published.CAPACITY_SHARE, line.threshold
    for each in published.SATISFIED if is_of_thesis(study) else ():
        if (each.metric, in_events(study, each.threshold_share)) == (line.metric, threshold):
            known = {f"published at {threshold:,}": each.value, f"published bound at {threshold:,}": each.bound}
            yield from (Series(label, [(at, 100 * share)], style, "published") for label, share in known.items() if share is not None)


def _thresholds(study: SatisfactionStudy) -> Axis:
    return Axis("threshold, events", True, tuple(sorted({float(run.threshold) for run in study.runs})))


def _metrics(runs: Iterable[SatisfactionRun | WindowRun]) -> list[Metric]:
    return list(dict.fromkeys(run.metric for run in runs))


def _greedy(runs: list[SatisfactionRun], metric: Metric, what: str) -> list[tuple[float, float]]:
    """Returns the series of greedy by threshold; `what` takes the number from a run."""
    return sorted((run.threshold, getattr(run, what)) for run in runs if (run.metric, run.algorithm) == (metric, "greedy"))


def _best_ratios(runs: list[SatisfactionRun], metric: Metric) -> list[tuple[float, float]]:
    """Returns the ratio of the best algorithm at each threshold, without the rule to beat."""
    best: dict[int, float] = {}
    for run in runs:
        if run.metric == metric and run.algorithm != "cuckoo":
            best[run.threshold] = max(best.get(run.threshold, 0.0), run.best_ratio)
    return sorted(best.items())


def _over_capacity(study: SatisfactionStudy, what: str) -> list[Series]:
    """Returns the mean of the windows at each capacity, one line for each metric."""
    lines: dict[Metric, list[tuple[float, float]]] = defaultdict(list)
    for metric, share in product(_metrics(study.windows), sorted({run.capacity_share for run in study.windows})):
        values = [getattr(run, what) for run in study.windows if (run.metric, run.capacity_share) == (metric, share)]
        lines[metric].append((100 * share, mean(values)))
    return [Series(f"{NAMES[metric]} here", points, style) for style, (metric, points) in enumerate(lines.items())]
