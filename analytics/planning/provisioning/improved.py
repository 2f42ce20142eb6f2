"""Both stages together, nearer to the least cost than the thesis comes (spec D; beyond the papers)."""

from ..instance import Instance
from .bill import bill
from .cbp import cbp
from .choice import choose
from .filling import fill
from .gsp import gsp
from .placement import PairPlacement
from .selection import Selection
from .terms import Terms

Plan = tuple[Selection, PairPlacement]


def improved(instance: Instance, threshold: int, terms: Terms) -> Plan:
    """Returns the cheapest of three plans: the pairs of `choose` placed by `fill`, the same placed by CBP, and GSP with CBP.

    So it never costs more than the plan of the thesis. Raises PlanError for a threshold that makes no sense, and if a machine cannot take
    the served topic with most events.
    """
    greedy, chosen = gsp(instance, threshold), choose(instance, threshold)
    plans = [(greedy, cbp(instance, greedy, terms)), (chosen, cbp(instance, chosen, terms))]
    filled = fill(instance, chosen, terms)
    if filled is not None:
        plans.append((chosen, filled))
    return min(plans, key=lambda plan: bill(instance, threshold, plan[0], plan[1], terms).usd)
