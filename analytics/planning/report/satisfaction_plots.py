"""Figures 6.2 to 6.7 of the thesis, drawn anew with what was published beside them."""

from collections.abc import Iterable

from .. import published
from ..satisfaction.case import Algorithm, Run
from ..satisfaction.solution import Metric
from ..satisfaction.study import Study
from .chart import Axis, Series, chart
from .figure import Figure
from .satisfaction_tables import NAMES, mean


def figures(study: Study) -> list[Figure]:
    """Those that the study has numbers for."""
    metrics = dict.fromkeys(run.metric for run in study.runs)
    found = [progress(study, metric) for metric in metrics]
    found += [ratios(study), times(study)]
    return [*found, *_windows(study)] if study.windows else found


def progress(study: Study, metric: Metric) -> Figure:
    """Satisfied subscribers over capacity used."""
    series: list[Series] = []
    for style, line in enumerate(each for each in study.lines if each.metric == metric):
        x = [100 * each for each in line.capacity_share]
        series.append(Series(f"threshold {line.threshold:,}", x, [100 * each for each in line.value_share], style))
        series.append(Series(f"bound at {line.threshold:,}", x, [100 * each for each in line.bound_share], style, "thin"))
    series += [mark for each in published.SATISFIED if each.metric == metric for mark in _marks(each)]
    y = "% of subscribers" + (", in parts" if metric == "fb3m" else " satisfied")
    plot = chart(
        f"progress-{metric}", f"{NAMES[metric]} over capacity", Axis("% of the full capacity used", least=0), Axis(y, least=0), series
    )
    known = {
        "b3m": "at threshold 27, 72 % of 4.9 M subscribers with 10 % of the capacity, and 86 % at most; the gap to the bound mostly widens",
        "fb3m": "smaller gaps than for B3M; more than 3.5 M of 4.9 M at threshold 27",
    }
    return Figure(
        f"progress-{metric}", f"{NAMES[metric]}: satisfied over capacity", "6.2" if metric == "b3m" else "6.4", (plot,), known[metric]
    )


def ratios(study: Study) -> Figure:
    """What of the bounds each threshold comes to."""
    series: list[Series] = []
    for style, metric in enumerate(dict.fromkeys(run.metric for run in study.runs)):
        series += _ratios(study.runs, metric, "greedy", 2 * style)
        series += _best_ratios(study.runs, metric, 2 * style + 1)
        known = [(max(1.0, each.threshold_share * study.mean_events), each.ratio) for each in published.RATIOS if each.metric == metric]
        x, y = zip(*known, strict=True)
        series.append(Series(f"{NAMES[metric]}, published", x, y, 2 * style, "published"))
    ticks = tuple(sorted({float(run.threshold) for run in study.runs}))
    plot = chart("ratios", "Ratio to the bound", Axis("threshold, events", True, ticks), Axis("ratio", most=1.0), series)
    return Figure(
        "ratios", "Ratio to the bound", "6.3", (plot,), "B3M 0.87, 0.75, 0.82 and F-B3M up to 0.90 at 1, 10 and 100 % of the mean"
    )


def times(study: Study) -> Figure:
    """Seconds by threshold."""
    series = [_times(study.runs, metric, style) for style, metric in enumerate(dict.fromkeys(run.metric for run in study.runs))]
    levels = {f"published limit for {NAMES[metric]}: {limit:g} s": limit for metric, limit in published.SECONDS.items()}
    series += [Series(label, (), (limit,), mark="level") for label, limit in levels.items()]
    ticks = tuple(sorted({float(run.threshold) for run in study.runs}))
    plot = chart("times", "Running time of greedy", Axis("threshold, events", True, ticks), Axis("seconds", True), series)
    known = (
        "one core of a Xeon of 2.13 GHz, 1.1 M topics, 4.9 M subscribers: F-B3M below 20 s, both below 30 s, "
        f"F-B3M without laziness {published.SLOW_SECONDS:g} s"
    )
    return Figure("times", "Running time", "6.5", (plot,), known)


def _windows(study: Study) -> list[Figure]:
    threshold = study.windows[0].threshold
    x = Axis("capacity, % of what all active topics take", least=0)
    seconds = [_over_capacity(study, metric, "seconds", style) for style, metric in enumerate(_metrics(study))]
    limit = Series(f"published limit: {published.WINDOW_SECONDS:g} s", (), (published.WINDOW_SECONDS,), mark="level")
    hourly = chart("window-times", "Running time hour by hour", x, Axis("seconds, mean of the hours", True), [*seconds, limit])
    ratios = [_over_capacity(study, metric, "ratio", style) for style, metric in enumerate(_metrics(study))]
    least = Series(f"published least: {published.WINDOW_RATIO:g}", (), (published.WINDOW_RATIO,), mark="level")
    ratio = chart("window-ratios", "Ratio to the bound hour by hour", x, Axis("ratio, mean of the hours", most=1.0), [*ratios, least])
    fast = f"a few hundred milliseconds, always below 1 s; F-B3M at least twice as fast as B3M (threshold {threshold}, ten hours)"
    near = "both alike, F-B3M slightly better everywhere, rising with the capacity, 0.7 at least"
    return [
        Figure("window-times", "Running time hour by hour", "6.6", (hourly,), fast),
        Figure("window-ratios", "Ratio to the bound hour by hour", "6.7", (ratio,), near),
    ]


def _marks(each: published.Satisfied) -> Iterable[Series]:
    at = (100 * published.CAPACITY_SHARE,)
    if each.value is not None:
        yield Series("published at 1 % of the mean", at, (100 * each.value,), 0, "published")
    if each.bound is not None:
        yield Series("published bound", at, (100 * each.bound,), 0, "published")


def _ratios(runs: list[Run], metric: Metric, algorithm: Algorithm, style: int) -> Iterable[Series]:
    found = sorted((run.threshold, run.ratio) for run in runs if (run.metric, run.algorithm) == (metric, algorithm))
    if found:
        x, y = zip(*found, strict=True)
        yield Series(f"{NAMES[metric]}, greedy to the bound of the thesis", x, y, style)


def _best_ratios(runs: list[Run], metric: Metric, style: int) -> Iterable[Series]:
    """Of the best algorithm at each threshold."""
    best: dict[int, float] = {}
    for run in runs:
        if run.metric == metric:
            best[run.threshold] = max(best.get(run.threshold, 0.0), run.best_ratio)
    if best:
        x, y = zip(*sorted(best.items()), strict=True)
        yield Series(f"{NAMES[metric]}, our best to the best bound", x, y, style)


def _times(runs: list[Run], metric: Metric, style: int) -> Series:
    found = sorted((run.threshold, run.seconds) for run in runs if (run.metric, run.algorithm) == (metric, "greedy"))
    return Series(f"{NAMES[metric]} here", [x for x, _ in found], [y for _, y in found], style)


def _metrics(study: Study) -> list[Metric]:
    return list(dict.fromkeys(run.metric for run in study.windows))


def _over_capacity(study: Study, metric: Metric, what: str, style: int) -> Series:
    shares = sorted({run.capacity_share for run in study.windows})
    y = [mean([getattr(run, what) for run in study.windows if (run.metric, run.capacity_share) == (metric, share)]) for share in shares]
    return Series(f"{NAMES[metric]} here", [100 * share for share in shares], y, style)
