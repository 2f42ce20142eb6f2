"""The ways to provision: the thesis adds its steps one by one (7.3.3, 7.3.4), and ours comes last."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from ..instance import Instance
from ..stopwatch import timed
from .bill import Bill, bill
from .bound import LowerBound, lower_bounds
from .cbp import PlacementOptions, cbp
from .ffbp import ffbp
from .gsp import gsp
from .improved import improved
from .placement import PairPlacement
from .relaxed import relaxed_bound
from .rsp import rsp
from .selection import Selection
from .terms import Terms

BASELINE: Final = "RSP+FFBP"
GREEDY: Final = "GSP+FFBP (a)"
WHOLE: Final = "GSP+CBP (e)"
IMPROVED: Final = "improved"
LADDER: Final = {
    "(b) grouped": PlacementOptions(expensive_first=False, most_free=False, decide=False),
    "(c) expensive first": PlacementOptions(most_free=False, decide=False),
    "(d) most free first": PlacementOptions(decide=False),
    WHOLE: PlacementOptions(),
}
STEPS: Final = (BASELINE, GREEDY, *LADDER, IMPROVED)
# First fit takes a step for each pair and machine: so many take about a quarter of a minute.
MOST_STEPS: Final = 10**10


class CostLimits(NamedTuple):
    """The bound of the thesis, and the largest bound that is known."""

    published: LowerBound
    best: LowerBound


class ProvisionOutcome(NamedTuple):
    """The result of one way; `bill` has checked it. `selecting_s` is 0 where both stages are one."""

    step: str
    bill: Bill
    selecting_s: float
    placing_s: float


class Selected(NamedTuple):
    """A selection, and the seconds that it took."""

    selection: Selection
    seconds: float


class Selections(NamedTuple):
    """The outcomes of stage 1. It knows no machines, so it is done once for each threshold."""

    random: Selected
    greedy: Selected


def selections(instance: Instance, threshold: int) -> Selections:
    """Returns both selections."""
    return Selections(Selected(*timed(rsp, instance, threshold)), Selected(*timed(gsp, instance, threshold)))


@dataclass(frozen=True, slots=True)
class ProvisionCase:
    """One problem: a threshold and a machine."""

    instance: Instance
    threshold: int
    terms: Terms

    def limits(self) -> CostLimits:
        """Returns bounds that no plan can undercut."""
        found = lower_bounds(self.instance, self.threshold, self.terms)
        relaxed = relaxed_bound(self.instance, self.threshold, self.terms)
        return CostLimits(found.published, max(*found, relaxed, key=lambda bound: bound.usd))

    def first_fit(self, step: str, selected: Selected) -> ProvisionOutcome:
        """Places the `selected` pairs one by one."""
        return self._outcome(step, selected, *timed(ffbp, self.instance, selected.selection, self.terms))

    def by_topic(self, step: str, selected: Selected) -> ProvisionOutcome:
        """Places the `selected` pairs topic by topic, with the options of that step."""
        return self._outcome(step, selected, *timed(cbp, self.instance, selected.selection, self.terms, LADDER[step]))

    def improved(self) -> ProvisionOutcome:
        """Selects and places with our own algorithm."""
        (selection, placement), seconds = timed(improved, self.instance, self.threshold, self.terms)
        return self._outcome(IMPROVED, Selected(selection, 0.0), placement, seconds)

    def first_fit_steps(self, selection: Selection) -> int:
        """Returns roughly how many steps first fit would take."""
        return len(selection) * lower_bounds(self.instance, self.threshold, self.terms).published.machines

    def _outcome(self, step: str, selected: Selected, placement: PairPlacement, placing_s: float) -> ProvisionOutcome:
        checked = bill(self.instance, self.threshold, selected.selection, placement, self.terms)
        return ProvisionOutcome(step, checked, selected.seconds, placing_s)
