"""The short answer of a provisioning study: the cheapest plans that it found."""

from collections.abc import Iterator
from math import inf

from analytics.numbers import number

from ..provisioning.steps import WHOLE
from ..provisioning.study import Offer, ProvisionPlan, ProvisionStudy
from .provision_tables import Setting, by_setting, change, over
from .sheet import Sheet, usd


def short(study: ProvisionStudy) -> Sheet:
    """Returns the cheapest plan for each capacity and threshold, on any machine of the book and by any way."""
    head = ("capacity, s", "threshold", "machine", "way", "machines", "USD", "change", "to the best bound")
    cases = sorted({(plan.capacity_s, plan.threshold) for plan in study.plans})
    notes = (
        f"The cheapest plans that are known: {WHOLE} was tried on all machines of the book, other ways on those that were asked for. "
        "What costs the same has a row of its own.",
        "Change: of the bill, against RSP+FFBP on that machine. To the best bound: at most so many times the least possible bill there.",
    )
    return Sheet("In short: the cheapest", head, [row for case in cases for row in _rows(study, *case)], 4, notes)


def _rows(study: ProvisionStudy, capacity_s: float, threshold: int) -> Iterator[tuple[str, ...]]:
    """Returns the cheapest plan of each machine, if its bill looks the same as the least."""
    every: list[ProvisionPlan | Offer] = [*study.plans, *study.offers]
    found = sorted((each for each in every if (each.capacity_s, each.threshold) == (capacity_s, threshold)), key=_bill)
    best: dict[str, ProvisionPlan | Offer] = {}
    for each in found:
        best.setdefault(each.machine, each)
    least = usd(_bill(found[0]))
    for each in best.values():
        if usd(_bill(each)) == least:
            way, against = (each.step, _against(each, study)) if isinstance(each, ProvisionPlan) else (WHOLE, ("", ""))
            yield number(capacity_s), f"{threshold:,}", each.machine, way, f"{each.machines:,}", least, *against


def _against(plan: ProvisionPlan, study: ProvisionStudy) -> tuple[str, str]:
    """Returns the saving of the plan, and its distance from the least possible."""
    return change(plan, by_setting(study)[Setting(plan.machine, plan.capacity_s)]), over(plan.best_ratio)


def _bill(each: ProvisionPlan | Offer) -> float:
    return inf if each.usd is None else each.usd
