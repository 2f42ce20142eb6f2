"""Figures 7.4 to 7.9 of the thesis, drawn anew beside the published numbers."""

from collections.abc import Callable
from typing import Final

from analytics.numbers import number

from .. import published
from ..provisioning.steps import BASELINE, GREEDY, STEPS, WHOLE
from ..provisioning.study import ProvisionPlan, ProvisionStudy
from .chart import Axis, Series, chart
from .figure import FigureSection
from .provision_tables import GB, PUBLISHED_S, Setting, baseline, bills, by_setting, is_first

_SOURCES: Final = {"spotify": "7.4", "twitter": "7.5"}
_SHORT: Final = ("RSP", "(a)", "(b)", "(c)", "(d)", "(e)", "ours")


def figures(study: ProvisionStudy) -> list[FigureSection]:
    """Returns the figures that the study has numbers for."""
    return [*(ladder(study, setting, plans) for setting, plans in by_setting(study).items() if is_first(study, setting)), times(study)]


def ladder(study: ProvisionStudy, setting: Setting, plans: list[ProvisionPlan]) -> FigureSection:
    """Returns the bill, the machines and the traffic of each step, for the `plans` of one `setting`."""
    key = f"steps-{setting.machine}-{number(setting.capacity_s)}".replace(".", "-").replace(",", "")
    marks = _marks(study, setting, plans) if _is_of_thesis(study, setting) else []
    bounds = [Series(f"best bound at {threshold:,}", _bound(plans, threshold), style, "thin") for style, threshold in _thresholds(plans)]
    what, whole = Axis("way to provision", names=_SHORT), Axis("machines", least=0, is_whole=True)
    plots = (
        chart(f"{key}-usd", f"Cost, {setting}", what, Axis("USD", least=0), [*_steps(plans, lambda plan: plan.usd), *bounds, *marks]),
        chart(f"{key}-machines", f"Machines, {setting}", what, whole, _steps(plans, lambda plan: plan.machines)),
        chart(f"{key}-traffic", f"Traffic, {setting}", what, Axis("GB in and out", least=0), _steps(plans, _traffic_gb)),
    )
    found = FigureSection(key, f"Step by step on {setting}", "", plots, "", bills(study, setting))
    if _is_of_thesis(study, setting):
        return found._replace(source=_SOURCES[study.profile or ""], published=_known(study, setting))
    return found


def times(study: ProvisionStudy) -> FigureSection:
    """Returns the seconds of both stages."""
    setting, plans = next(iter(by_setting(study).items()))
    ticks = tuple(float(threshold) for _, threshold in _thresholds(plans))
    x = Axis("threshold, events", True, ticks)
    selecting = [_times(plans, BASELINE, "selecting_s", "RSP", 1), _times(plans, WHOLE, "selecting_s", "GSP", 0)]
    placing = [_times(plans, GREEDY, "placing_s", "FFBP", 1), _times(plans, WHOLE, "placing_s", "CBP", 0)]
    plots = (
        chart("selecting", "Running time of stage 1", x, _seconds(selecting), selecting),
        chart("placing", f"Running time of stage 2, {setting}", x, _seconds(placing), placing),
    )
    known = (
        "Spotify below 30 s and Twitter below 25 minutes in all; GSP at most 2 s slower than RSP (Spotify), 1471 s and 986 s (Twitter); "
        "CBP 10 times (Spotify) and about 1000 times (Twitter) as fast as FFBP"
    )
    found = FigureSection("times", "Running time: selecting and placing", "", plots)
    return found._replace(source="7.6 to 7.9", published=known) if _is_of_thesis(study, setting) else found


def _is_of_thesis(study: ProvisionStudy, setting: Setting) -> bool:
    """Returns whether anything was published of such a trace on that machine."""
    return setting.capacity_s == PUBLISHED_S and published.saving(study.profile, setting.machine, published.THRESHOLDS[0]) is not None


def _steps(plans: list[ProvisionPlan], value: Callable[[ProvisionPlan], float]) -> list[Series]:
    return [
        Series(f"threshold {threshold:,}", [(_at(plan.step), value(plan)) for plan in plans if plan.threshold == threshold], style)
        for style, threshold in _thresholds(plans)
    ]


def _bound(plans: list[ProvisionPlan], threshold: int) -> list[tuple[float, float]]:
    """Returns the best bound, across the whole plot."""
    height = next(plan.best_bound_usd for plan in plans if plan.threshold == threshold)
    return [(_at(step), height) for step in (STEPS[0], STEPS[-1])]


def _at(step: str) -> float:
    return float(STEPS.index(step))


def _marks(study: ProvisionStudy, setting: Setting, plans: list[ProvisionPlan]) -> list[Series]:
    """Returns the published savings, subtracted from our own baseline."""
    whole = published.whole(study.profile)
    series = []
    for style, threshold in _thresholds(plans):
        base = baseline(plans, threshold)
        saved = published.saving(study.profile, setting.machine, threshold)
        if base is None or saved is None:
            continue
        found = [(_at(GREEDY), base.usd * (1 - saved))]
        if whole and threshold == published.THRESHOLDS[0]:
            found.append((_at(WHOLE), base.usd * (1 - whole.saved)))
        series.append(Series(f"published saving at {threshold:,}", found, style, "published"))
    return series


def _known(study: ProvisionStudy, setting: Setting) -> str:
    saved = [published.saving(study.profile, setting.machine, threshold) for threshold in published.THRESHOLDS]
    whole = published.whole(study.profile)
    told = ", ".join(_percent(each) for each in saved if each is not None)
    at = ", ".join(map(str, published.THRESHOLDS))
    all_steps = f"; all steps at {published.THRESHOLDS[0]}: {_percent(whole.saved)}, about {whole.usd:,.0f} USD" if whole else ""
    return f"(a) saves {told} of RSP+FFBP at thresholds {at}{all_steps}; often only 15 % above the bound"


def _percent(share: float) -> str:
    return f"{number(100 * share)} %"


def _times(plans: list[ProvisionPlan], step: str, what: str, name: str, style: int) -> Series:
    return Series(name, [(plan.threshold, getattr(plan, what)) for plan in plans if plan.step == step], style)


def _seconds(series: list[Series]) -> Axis:
    """Returns an axis of seconds: logarithmic where there is a whole decade to label."""
    values = [value for each in series for _, value in each.points]
    steep = max(values) > 10 * min(values)
    return Axis("seconds", steep, least=None if steep else 0)


def _thresholds(plans: list[ProvisionPlan]) -> list[tuple[int, int]]:
    """Returns each threshold with the number of its style."""
    return list(enumerate(dict.fromkeys(plan.threshold for plan in plans)))


def _traffic_gb(plan: ProvisionPlan) -> float:
    return (plan.incoming_bytes + plan.outgoing_bytes) / GB
