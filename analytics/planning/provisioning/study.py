"""The questions of `segue plan provision`: how many machines, of which type, and how far that is from the least possible."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from ..errors import PlanError
from ..instance import Instance
from ..published import THRESHOLDS
from ..stopwatch import WARMING, trial
from ..subject import StudySubject, facts
from ..workload import Workload
from .cbp import cbp
from .gsp import gsp
from .moved import Placed, moved
from .prices import PriceBook, check_room
from .steps import BASELINE, GREEDY, LADDER, MOST_STEPS, WHOLE, CostLimits, ProvisionCase, ProvisionOutcome, Selections, selections
from .terms import Terms


@dataclass(frozen=True, slots=True)
class ProvisionQuestions:
    """The questions about one workload.

    - `machines`: names of the book; by default its first two.
    - `capacities_s`: see Terms; by default the one that reproduces the thesis, and the whole period.
    - `hours`: the length of the period, where the trace has no times.
    - `always_baseline`: first fit is done at any size.
    """

    book: PriceBook
    thresholds: tuple[int, ...] = THRESHOLDS
    machines: tuple[str, ...] = ()
    capacities_s: tuple[float, ...] = ()
    message_bytes: int = 200
    hours: float | None = None
    always_baseline: bool = False

    def check(self) -> None:
        """Raises PlanError for a machine that the book does not have."""
        for name in self.machines:
            self.book.terms(name)

    def period(self, workload: Workload) -> float:
        """Returns how many hours are paid for. Raises PlanError if nobody knows."""
        hours = self.hours or workload.hours
        if hours is None:
            raise PlanError("the trace has no times, so rent cannot be told: say how long its period is (--hours)")
        return hours

    def terms(self, machines: tuple[str, ...], hours: float) -> list[Terms]:
        """Returns the terms of these machines at each capacity, each once."""
        capacities_s = dict.fromkeys(self.capacities_s or (3600.0, 3600.0 * hours))
        settings = {"message_bytes": self.message_bytes, "hours": hours}
        return [self.book.terms(name, **settings, capacity_s=each) for each in capacities_s for name in dict.fromkeys(machines)]


class ProvisionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One way to provision, with the bytes in and out of all machines.

    - `bound_usd`: the bound of the thesis.
    - `best_bound_usd`: the largest bound that is known.
    """

    threshold: int
    machine: str
    capacity_s: float
    step: str
    machines: int
    incoming_bytes: int
    outgoing_bytes: int
    usd: float
    bound_usd: float
    ratio: float
    best_bound_usd: float
    best_ratio: float
    selecting_s: float
    placing_s: float


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """The price of GSP+CBP on one machine type. `usd` is None where a topic does not fit onto it; `reason` says so."""

    threshold: int
    machine: str
    capacity_s: float
    machines: int = 0
    usd: float | None = None
    reason: str = ""


class MovedPairs(msgspec.Struct, frozen=True, kw_only=True):
    """The change from GSP+CBP on the earlier workload to GSP+CBP on this one: of `pairs` in both, `moved` go to another machine."""

    threshold: int
    machine: str
    capacity_s: float
    pairs: int
    moved: int


class ProvisionStudy(StudySubject, frozen=True, kw_only=True):
    """All answers, and their subject."""

    hours: float
    message_bytes: int
    book: str
    book_source: str
    plans: list[ProvisionPlan]
    offers: list[Offer]
    moves: list[MovedPairs]


def study(workload: Workload, asked: ProvisionQuestions, begun: Callable[[str], None], before: Workload | None = None) -> ProvisionStudy:
    """Answers what is `asked` about a workload.

    - `begun`: is called with the name of the next step.
    - `before`: an earlier workload. With it, the pairs that move from its plans are counted, too (WA-43).

    Raises PlanError for questions that make no sense.
    """
    hours = asked.period(workload)
    every = tuple(machine.name for machine in asked.book.machines)
    chosen, offered = asked.terms(asked.machines or every[:2], hours), asked.terms(every, hours)
    begun(WARMING)
    _warm(chosen[0])
    plans, offers, moves, notes = list[ProvisionPlan](), list[Offer](), list[MovedPairs](), list(workload.notes)
    for threshold in dict.fromkeys(asked.thresholds):
        begun(f"threshold {threshold:,}: selecting")
        selected = selections(workload.instance, threshold)
        for case in (ProvisionCase(workload.instance, threshold, terms) for terms in chosen):
            begun(f"threshold {threshold:,}: {case.terms.machine.name}, {case.terms.capacity_s:,g} s")
            plans += _plans(case, selected, asked, notes)
        begun(f"threshold {threshold:,}: all machines")
        offers += [_offer(ProvisionCase(workload.instance, threshold, terms), selected) for terms in offered]
        if before is not None:
            begun(f"threshold {threshold:,}: plans of before")
            moves += _moves(before.instance, workload.instance, threshold, chosen)
    return ProvisionStudy(
        **facts(workload),
        notes=list(dict.fromkeys(notes)),
        hours=hours,
        message_bytes=asked.message_bytes,
        book=asked.book.name,
        book_source=asked.book.source,
        plans=plans,
        offers=offers,
        moves=moves,
    )


def _moves(before: Instance, now: Instance, threshold: int, chosen: list[Terms]) -> list[MovedPairs]:
    """Returns the moves of GSP+CBP between both workloads, for each machine."""
    old, new = gsp(before, threshold), gsp(now, threshold)
    return [
        MovedPairs(
            threshold=threshold,
            machine=terms.machine.name,
            capacity_s=terms.capacity_s,
            pairs=len(new),
            moved=moved(Placed(before, old, cbp(before, old, terms)), Placed(now, new, cbp(now, new, terms))),
        )
        for terms in chosen
    ]


def _plans(case: ProvisionCase, selected: Selections, asked: ProvisionQuestions, notes: list[str]) -> list[ProvisionPlan]:
    """Returns all ways, each beside both bounds. `notes` gets the reason why first fit is left out."""
    limits = case.limits()
    found = []
    steps = case.first_fit_steps(selected.random.selection)
    if steps <= MOST_STEPS or asked.always_baseline:
        found += [case.first_fit(BASELINE, selected.random), case.first_fit(GREEDY, selected.greedy)]
    else:
        notes.append(f"first fit is left out where it takes more than {MOST_STEPS:,} steps, as here {steps:,}; --baseline has it done")
    found += [case.by_topic(step, selected.greedy) for step in LADDER]
    found.append(case.improved())
    return [_plan(case, each, limits) for each in found]


def _plan(case: ProvisionCase, outcome: ProvisionOutcome, limits: CostLimits) -> ProvisionPlan:
    terms, bill = case.terms, outcome.bill
    return ProvisionPlan(
        threshold=case.threshold,
        machine=terms.machine.name,
        capacity_s=terms.capacity_s,
        step=outcome.step,
        machines=bill.machines,
        incoming_bytes=bill.incoming * terms.message_bytes,
        outgoing_bytes=bill.outgoing * terms.message_bytes,
        usd=bill.usd,
        bound_usd=limits.published.usd,
        ratio=bill.usd / limits.published.usd,
        best_bound_usd=limits.best.usd,
        best_ratio=bill.usd / limits.best.usd,
        selecting_s=outcome.selecting_s,
        placing_s=outcome.placing_s,
    )


def _offer(case: ProvisionCase, selected: Selections) -> Offer:
    offer = Offer(threshold=case.threshold, machine=case.terms.machine.name, capacity_s=case.terms.capacity_s)
    loudest = int(case.instance.events[selected.greedy.selection.served()].max())
    try:
        check_room(case.terms, loudest)
    except PlanError as error:
        return msgspec.structs.replace(offer, reason=str(error))
    bill = case.by_topic(WHOLE, selected.greedy).bill
    return msgspec.structs.replace(offer, machines=bill.machines, usd=bill.usd)


def _warm(terms: Terms) -> None:
    """Has the kernels compiled and loaded, so that no reported time contains it."""
    one = trial()
    case, selected = ProvisionCase(one, 2, terms), selections(one, 2)
    cbp(one, selected.greedy.selection, terms)
    case.first_fit(BASELINE, selected.random)
    case.improved()
