"""The tables of a provisioning study, and its answers in words."""

from collections import defaultdict
from typing import Final, NamedTuple

from analytics.numbers import number

from .. import published
from ..provisioning.steps import BASELINE, GREEDY, IMPROVED, WHOLE
from ..provisioning.study import Offer, ProvisionPlan, ProvisionStudy
from .sheet import Sheet, percent, ratio, seconds, signed, usd

GB: Final = 10**9
PUBLISHED_S: Final = 3600.0
_HEAD: Final = (
    "threshold",
    "way",
    "machines",
    "in, GB",
    "out, GB",
    "USD",
    "change",
    "bound",
    "ratio",
    "best bound",
    "ratio to it",
    "seconds",
)
_SHORT: Final = (BASELINE, WHOLE, IMPROVED)
_FEW: Final = 20
_MEANING: Final = (
    "Change: of the bill, against RSP+FFBP. Bound: that of the thesis. Best bound: the largest known; the least possible bill lies between "
    "it and the least here."
)


class Setting(NamedTuple):
    """A machine type, and for how many seconds of the period it may carry its rate."""

    machine: str
    capacity_s: float

    def __str__(self) -> str:
        return f"{self.machine}, capacity of {number(self.capacity_s)} s"


def sheets(study: ProvisionStudy) -> list[Sheet]:
    """Returns all tables that there are."""
    return [*(bills(study, setting) for setting in by_setting(study)), compared(study), offers(study), moves(study)]


def is_first(study: ProvisionStudy, setting: Setting) -> bool:
    """Returns whether the setting is shown step by step, as those of the first capacity are."""
    return setting.capacity_s == study.plans[0].capacity_s


def by_setting(study: ProvisionStudy) -> dict[Setting, list[ProvisionPlan]]:
    """Returns the plans of each machine type and capacity."""
    found: dict[Setting, list[ProvisionPlan]] = defaultdict(list)
    for plan in study.plans:
        found[Setting(plan.machine, plan.capacity_s)].append(plan)
    return found


def bills(study: ProvisionStudy, setting: Setting) -> Sheet:
    """Returns plans beside both lower bounds (WA-39, WA-45): all steps at the first capacity, the baseline and the whole at others."""
    plans = by_setting(study)[setting]
    every_step = is_first(study, setting)
    rows = [
        (
            f"{plan.threshold:,}",
            plan.step,
            f"{plan.machines:,}",
            f"{plan.incoming_bytes / GB:,.1f}",
            f"{plan.outgoing_bytes / GB:,.1f}",
            usd(plan.usd),
            change(plan, plans),
            usd(plan.bound_usd),
            over(plan.ratio),
            usd(plan.best_bound_usd),
            over(plan.best_ratio),
            seconds(plan.selecting_s + plan.placing_s),
        )
        for plan in plans
        if every_step or plan.step in _SHORT
    ]
    return Sheet(str(setting), _HEAD, rows, 2, (_MEANING,))


def compared(study: ProvisionStudy) -> Sheet:
    """Returns the savings as published, and ours with the capacity that reproduces the thesis."""
    rows = []
    for (machine, capacity_s), plans in by_setting(study).items():
        for plan in plans if capacity_s == PUBLISHED_S else ():
            known = _published(study, machine, plan)
            if known is not None and baseline(plans, plan.threshold):
                rows.append((machine, f"{plan.threshold:,}", plan.step, signed(-known), change(plan, plans)))
    notes = [f"The published trace of {study.profile} was never released; this one is generated to have its published shapes."]
    if min((plan.machines for plan in study.plans if plan.capacity_s == PUBLISHED_S), default=0) < _FEW:
        notes.append("With few machines rent goes up and down in large steps, so savings say little: a larger scale says more.")
    return Sheet(
        "Savings against RSP+FFBP: published and here", ("machine", "threshold", "way", "published", "here"), rows, 3, tuple(notes)
    )


def offers(study: ProvisionStudy) -> Sheet:
    """Returns GSP+CBP on every machine of the price book, the cheapest of each threshold first."""
    rows = [
        (
            number(offer.capacity_s),
            f"{offer.threshold:,}",
            offer.machine,
            "too small" if offer.usd is None else f"{offer.machines:,}",
            "" if offer.usd is None else usd(offer.usd),
        )
        for offer in sorted(study.offers, key=_order)
    ]
    notes = (f"{study.book}: {study.book_source}.", f"For {number(study.hours)} hours, messages of {study.message_bytes} bytes.")
    return Sheet("All machines of the price book", ("capacity, s", "threshold", "machine", "machines", "USD"), rows, 3, notes)


def moves(study: ProvisionStudy) -> Sheet:
    """Returns how much of the earlier plan has to move (WA-43); None where there was none."""
    rows = [
        (
            number(each.capacity_s),
            f"{each.threshold:,}",
            each.machine,
            f"{each.pairs:,}",
            f"{each.moved:,}",
            percent(each.moved / each.pairs),
        )
        for each in study.moves
    ]
    head = ("capacity, s", "threshold", "machine", "pairs", "moved", "share")
    return Sheet("From the plan of before (GSP+CBP): pairs that move to another machine", head, rows, 3)


def told(study: ProvisionStudy) -> str:
    """Returns a sentence that says what was planned on."""
    return (
        f"{study.name}, {study.service}: {study.topics:,} topics, {study.subscribers:,} subscribers, {study.pairs:,} pairs, "
        f"{study.events:,} events in {number(study.hours)} hours; prices of {study.book}, messages of {study.message_bytes} bytes."
    )


def change(plan: ProvisionPlan, plans: list[ProvisionPlan]) -> str:
    """Returns the difference between the bill of `plan` and the baseline's; an empty text where there is no baseline."""
    base = baseline(plans, plan.threshold)
    return signed(plan.usd / base.usd - 1) if base and plan is not base else ""


def baseline(plans: list[ProvisionPlan], threshold: int) -> ProvisionPlan | None:
    """Returns random selection with first fit at that threshold; None where it was left out."""
    return next((plan for plan in plans if (plan.threshold, plan.step) == (threshold, BASELINE)), None)


def _published(study: ProvisionStudy, machine: str, plan: ProvisionPlan) -> float | None:
    if plan.step == GREEDY:
        return published.saving(study.profile, machine, plan.threshold)
    whole = published.whole(study.profile)
    is_known = plan.step == WHOLE and plan.threshold == published.THRESHOLDS[0]
    return whole.saved if whole and is_known and published.saving(study.profile, machine, plan.threshold) is not None else None


def over(value: float) -> str:
    """Returns a cost as text, rounded up."""
    return ratio(value + 0.000999)


def _order(offer: Offer) -> tuple[float, int, bool, float]:
    return offer.capacity_s, offer.threshold, offer.usd is None, offer.usd or 0.0
