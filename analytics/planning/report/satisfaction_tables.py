"""The tables of a satisfaction study, and its answers in words."""

from collections import defaultdict
from typing import Final

from .. import published
from ..satisfaction.case import MORE, More, SatisfactionRun
from ..satisfaction.solution import Metric
from ..satisfaction.study import SatisfactionStudy
from ..satisfaction.window_study import OnlineRun, WindowRun
from .sheet import Sheet, amount, percent, ratio, seconds, signed

NAMES: Final[dict[Metric, str]] = {"b3m": "B3M", "fb3m": "F-B3M"}
_HEAD: Final = ("metric", "threshold", "algorithm", "topics", "value", "share", "bound", "ratio", "best bound", "ratio to it", "seconds")
_MORE: Final = f"{100 * MORE:.0f} %"


def sheets(study: SatisfactionStudy) -> dict[str, Sheet]:
    """Returns all tables, by the names of their sections."""
    hours = {"windows": windows(study.windows)} if study.windows else {}
    return {"solutions": solutions(study), "compared": compared(study), **hours, "online": online(study)}


def solutions(study: SatisfactionStudy) -> Sheet:
    """Returns every solution beside its bounds (WA-45)."""
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
        "Threshold: events that satisfy a subscriber; one who has fewer needs all of them.",
        "Bound: that of the thesis. Best bound: the tightest known; the true optimum lies between value and best bound.",
    )
    return Sheet("Solutions and their bounds", _HEAD, rows, 3, notes)


def matched(study: SatisfactionStudy) -> list[tuple[published.PublishedRatio, SatisfactionRun]]:
    """Returns published results of a trace of this shape, each beside our greedy one, where threshold and capacity are the same shares."""
    if not (is_of_thesis(study) and _has_published_capacity(study)):
        return []
    greedy = {(run.metric, run.threshold): run for run in study.runs if run.algorithm == "greedy"}
    known = [(each, greedy.get((each.metric, in_events(study, each.threshold_share)))) for each in published.RATIOS]
    return [(each, run) for each, run in known if run is not None]


def is_of_thesis(study: SatisfactionStudy) -> bool:
    """Returns whether the trace has the shape of the one that the thesis reports."""
    return study.profile == published.SATISFACTION_PROFILE


def in_events(study: SatisfactionStudy, threshold_share: float) -> int:
    """Returns the threshold that is this share of the mean events of a topic."""
    return max(1, int(threshold_share * study.mean_events))


def compared(study: SatisfactionStudy) -> Sheet:
    """Returns the published results and those of greedy here."""
    rows = [
        (NAMES[run.metric], f"{run.threshold:,}", each.source, f"{each.ratio:.2f}", ratio(run.ratio), ratio(run.best_ratio))
        for each, run in matched(study)
    ]
    head = ("metric", "threshold", "source", "published ratio", "ratio here", "to the best bound")
    return Sheet("Greedy: published and here", head, rows, 3)


def windows(runs: list[WindowRun]) -> Sheet:
    """Returns means over the windows, for each capacity."""
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
        f"{amount(mean([each.pairs for each in found]))} pairs on average. Threshold {runs[0].threshold}, "
        "as in the thesis; a capacity is a share of what all active topics of its hour take."
    )
    return Sheet("Hour by hour", ("metric", "capacity", "ratio", "least ratio", "seconds", "most seconds"), rows, 1, (note,))


def online(study: SatisfactionStudy) -> Sheet:
    """Returns all hours but the first together, by metric (WA-46)."""
    groups: dict[Metric, list[OnlineRun]] = defaultdict(list)
    for run in study.online:
        groups[run.metric].append(run)
    share = percent(study.capacity / study.full_capacity)
    rows = [
        (
            NAMES[metric],
            f"{len(hours)}",
            f"{sum(each.anew for each in hours)}",
            ratio(mean([_kept(each) for each in hours])),
            ratio(min(map(_kept, hours))),
            amount(mean([each.moves for each in hours])),
            amount(mean([each.fresh_moves for each in hours])),
            seconds(mean([each.seconds for each in hours])),
            seconds(mean([each.fresh_seconds for each in hours])),
        )
        for metric, (_, *hours) in groups.items()
        if hours
    ]
    head = ("metric", "hours", "anew", "of a fresh value", "least", "moves", "moves afresh", "seconds", "seconds afresh")
    notes = (
        f"Threshold {published.WINDOW_THRESHOLD}, as in the thesis; the capacity is {share} of what all active topics of an hour take. "
        "The first hour has none before it, and counts nowhere here.",
        "Anew: hours in which the online variant took a fresh solution, too. Moves: topics that changed sides from the hour before, on "
        "average; afresh: between fresh solutions.",
    )
    return Sheet("Online: each hour from the one before", head, rows, 1, notes)


def told(study: SatisfactionStudy) -> str:
    """Returns a sentence that says what was planned on."""
    return (
        f"{study.name}, {study.service}: {study.topics:,} topics, {study.subscribers:,} subscribers, {study.pairs:,} pairs, "
        f"{study.events:,} events. Serving all takes {study.full_capacity:,} deliveries; the capacity is {study.capacity:,} "
        f"({percent(study.capacity / study.full_capacity)})."
    )


def short(study: SatisfactionStudy) -> Sheet:
    """Returns the best solution for each metric and threshold, and the effect of a tenth more capacity."""
    gains = {(each.metric, each.threshold): _gain(each) for each in study.more}
    rows = []
    for case in sorted({(run.metric, run.threshold) for run in study.runs}):
        best = max((run for run in study.runs if (run.metric, run.threshold) == case), key=lambda run: run.value)
        known = amount(best.value), percent(best.share), ratio(best.best_ratio)
        rows.append((NAMES[best.metric], f"{best.threshold:,}", best.algorithm, *known, gains[case]))
    head = ("metric", "threshold", "best by", "value", "share", "of the optimum", f"{_MORE} more capacity")
    notes = (
        "Of the optimum: this or more, as nothing can come to more than the best bound.",
        f"{_MORE} more capacity: what greedy gains by it, over greedy without it.",
    )
    return Sheet("In short", head, rows, 3, notes)


def mean(values: list[float] | list[int]) -> float:
    """Returns the mean of one or more values."""
    return sum(values) / len(values)


def _gain(more: More) -> str:
    return f"{amount(more.more)} ({signed(more.more / more.value)})" if more.value else f"{amount(more.more)} (from nothing)"


def _kept(run: OnlineRun) -> float:
    return run.value / run.fresh if run.fresh else 1.0


def _has_published_capacity(study: SatisfactionStudy) -> bool:
    return abs(study.capacity / study.full_capacity - published.CAPACITY_SHARE) < 0.001
