"""The tables of a satisfaction study, and its answers in words."""

from collections import defaultdict
from typing import Final

from .. import published
from ..satisfaction.case import MORE, Run
from ..satisfaction.solution import Metric
from ..satisfaction.study import Study
from ..satisfaction.window_study import OnlineRun, WindowRun
from .sheet import Sheet, amount, percent, ratio, seconds

NAMES: Final[dict[Metric, str]] = {"b3m": "B3M", "fb3m": "F-B3M"}
_HEAD: Final = ("metric", "threshold", "algorithm", "topics", "value", "share", "bound", "ratio", "best bound", "ratio to it", "seconds")


def sheets(study: Study) -> dict[str, Sheet]:
    """All tables, by the names of their sections."""
    hours = {"windows": windows(study.windows)} if study.windows else {}
    return {"solutions": solutions(study), "compared": compared(study), **hours, "online": online(study.online)}


def solutions(study: Study) -> Sheet:
    """Every solution beside its bounds (WA-45)."""
    rows = [
        (
            NAMES[run.metric],
            f"{run.threshold:,}",
            run.algorithm,
            f"{run.topics:,}",
            amount(run.value),
            percent(run.share),
            amount(run.bound),
            ratio(run.ratio),
            amount(run.best_bound),
            ratio(run.best_ratio),
            seconds(run.seconds),
        )
        for run in study.runs
    ]
    notes = (
        "B3M: subscribers that get all they need. F-B3M: the sum of the parts that subscribers get of what they need. "
        "Threshold: events that satisfy; who has fewer needs all of his.",
        "Bound: that of the thesis. Best bound: the tightest known; the true optimum lies between value and best bound.",
    )
    return Sheet("Solutions and their bounds", _HEAD, rows, 3, notes)


def compared(study: Study) -> Sheet:
    """What was published, and what greedy comes to here, where threshold and capacity are the same shares."""
    rows = []
    for each in published.RATIOS if _has_published_capacity(study) else ():
        for run in _greedy(study, each.metric, each.threshold_share):
            here = ratio(run.ratio), ratio(run.best_ratio)
            rows.append((NAMES[each.metric], f"{run.threshold:,}", each.source, f"{each.ratio:.2f}", *here))
    head = ("metric", "threshold", "source", "published ratio", "ratio here", "to the best bound")
    return Sheet("Greedy: published and here", head, rows, 3)


def windows(runs: list[WindowRun]) -> Sheet:
    """Means over the windows, for each capacity."""
    groups: dict[tuple[float, Metric], list[WindowRun]] = defaultdict(list)
    for run in runs:
        groups[run.capacity_share, run.metric].append(run)
    rows = [
        (
            NAMES[metric],
            percent(share),
            ratio(mean([each.ratio for each in group])),
            ratio(min(each.ratio for each in group)),
            seconds(mean([each.seconds for each in group])),
            seconds(max(each.seconds for each in group)),
        )
        for (share, metric), group in sorted(groups.items(), key=lambda item: (item[0][1], item[0][0]))
    ]
    found = {run.start_ms: run for run in runs}.values()
    note = (
        f"{len(found)} windows of one hour, {amount(mean([each.topics for each in found]))} active topics and "
        f"{amount(mean([each.pairs for each in found]))} pairs on average, threshold {runs[0].threshold}."
    )
    return Sheet("Hour by hour", ("metric", "capacity", "ratio", "least ratio", "seconds", "most seconds"), rows, 1, (note,))


def online(runs: list[OnlineRun]) -> Sheet:
    """All windows together, by metric (WA-46)."""
    groups: dict[Metric, list[OnlineRun]] = defaultdict(list)
    for run in runs:
        groups[run.metric].append(run)
    rows = [
        (
            NAMES[metric],
            f"{len(group)}",
            ratio(mean([_kept(each) for each in group])),
            ratio(min(map(_kept, group))),
            amount(mean([float(each.moves) for each in group])),
            seconds(mean([each.seconds for each in group])),
            seconds(mean([each.fresh_seconds for each in group])),
        )
        for metric, group in groups.items()
    ]
    head = ("metric", "windows", "of a fresh value", "least", "moves per window", "seconds", "seconds afresh")
    return Sheet("Online: each hour from the one before", head, rows)


def told(study: Study) -> str:
    """What was planned on, in a sentence."""
    return (
        f"{study.name}, {study.service}: {study.topics:,} topics, {study.subscribers:,} subscribers, {study.pairs:,} pairs, "
        f"{study.events:,} events. Serving all takes {study.full_capacity:,} deliveries; the capacity is {study.capacity:,} "
        f"({percent(study.capacity / study.full_capacity)})."
    )


def best(study: Study) -> list[str]:
    """The best solution of each metric and threshold, in words."""
    found = {(run.metric, run.threshold): run for run in sorted(study.runs, key=lambda run: run.value)}
    return [
        f"{NAMES[run.metric]}, threshold {run.threshold:,}: {run.algorithm} serves {run.topics:,} topics and comes to {amount(run.value)} "
        f"of {study.subscribers:,} subscribers ({percent(run.share)}); nothing can come to more than {amount(run.best_bound)}, "
        f"so this is {ratio(run.best_ratio)} of the optimum or more."
        for run in sorted(found.values(), key=lambda run: (run.metric, run.threshold))
    ]


def more(study: Study) -> list[str]:
    """What a tenth more capacity would bring, in words."""
    unit = {"b3m": "subscribers", "fb3m": "subscribers' worth of parts"}
    return [
        f"{100 * MORE:.0f} % more capacity: {NAMES[each.metric]} at threshold {each.threshold:,} gains {amount(each.more)} "
        f"{unit[each.metric]} ({_gain(each.more, each.value)})."
        for each in study.more
    ]


def mean(values: list[float] | list[int]) -> float:
    """Of one or more values."""
    return sum(values) / len(values)


def _gain(more: float, value: float) -> str:
    return f"{100 * more / value:+.1f} %" if value else "from nothing"


def _kept(run: OnlineRun) -> float:
    return run.value / run.fresh if run.fresh else 1.0


def _has_published_capacity(study: Study) -> bool:
    return abs(study.capacity / study.full_capacity - published.CAPACITY_SHARE) < 0.001


def _greedy(study: Study, metric: Metric, share: float) -> list[Run]:
    threshold = max(1, int(share * study.mean_events))
    return [run for run in study.runs if (run.metric, run.threshold, run.algorithm) == (metric, threshold, "greedy")]
