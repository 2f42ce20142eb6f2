"""Machines that carry a few events, plans by all algorithms, and the cheapest plan of a tiny instance, found by trying all."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations, product
from typing import Final, Literal

import numpy as np
from hypothesis import strategies as st

from analytics.planning.instance import Instance, instance
from analytics.planning.provisioning.cbp import PlacementOptions, cbp
from analytics.planning.provisioning.ffbp import ffbp
from analytics.planning.provisioning.gsp import gsp
from analytics.planning.provisioning.placement import PairPlacement
from analytics.planning.provisioning.rsp import rsp
from analytics.planning.provisioning.selection import Selection
from analytics.planning.provisioning.terms import Machine, Terms

# The example of thesis 7.2.2 with spec D3's order of pairs: t1 (20 events) is topic 1, and t2 (10 events) is topic 2. Only subscriber 0
# has topic 0. It takes 40 of the first machine's 100, so that 60 are free there as in the example, and 100 on the next one.
EXAMPLE: Final = instance(np.array([0, 1, 1, 2, 2, 3]), np.array([0, 1, 2, 2, 1, 2]), np.array([20, 20, 10]))
EXAMPLE_PAIRS: Final = [(1, 1), (2, 1), (2, 2), (1, 2), (2, 3)]
_BOTH: Final = (True, False)
_BY: Final[tuple[Literal["volume", "rate"], ...]] = ("volume", "rate")
SWITCHES: Final = [PlacementOptions(c, d, e, b, by) for b, c, d, e, by in product(_BOTH, _BOTH, _BOTH, _BOTH, _BY)]


def tiny(capacity: int, rent_usd: float = 1.0, event_usd: float = 0.0) -> Terms:
    """Returns terms of a machine that carries `capacity` events of a megabit each. It costs `rent_usd`, and each event `event_usd`."""
    return Terms(Machine("tiny", rent_usd, 1.0), event_usd * 8000, message_bytes=125_000, hours=1.0, capacity_s=float(capacity))


def scaled(terms: Terms, scale: float) -> Terms:
    """Returns terms for a workload of `scale` of the published size: a machine carries less by it, and traffic costs more by it.

    A plan then has as many machines as at full size and costs as much. Both parts of a bill keep their proportion.
    """
    return replace(terms, capacity_s=terms.capacity_s * scale, usd_per_gb=terms.usd_per_gb / scale)


@st.composite
def tiny_terms(draw: st.DrawFn, loudest: int) -> Terms:
    """Draws machines that can take the loudest topic, some of them only just."""
    capacity = draw(st.integers(2 * loudest, 6 * loudest + 10))
    return tiny(capacity, draw(st.sampled_from((0.0, 0.5, 1.0, 30.0))), draw(st.sampled_from((0.0, 0.1, 1.0))))


def plans(found: Instance, threshold: int, terms: Terms) -> Iterator[tuple[Selection, PairPlacement]]:
    """Yields a selection and a placement by each algorithm of both stages, with all options.

    - `found`: the workload.
    - `threshold`: events that satisfy a subscriber.
    - `terms`: machine and prices.
    """
    for selection in (gsp(found, threshold), rsp(found, threshold, seed=threshold)):
        yield selection, ffbp(found, selection, terms)
        for options in SWITCHES:
            yield selection, cbp(found, selection, terms, options)


def cheapest_usd(found: Instance, threshold: int, terms: Terms) -> float:
    """Returns the cost of the best plan. It tries all selections, and all ways to divide the pairs among machines.

    The arguments are those of `plans`: `found`, `threshold` and `terms`.
    """
    pairs = [(topic, subscriber) for subscriber, topics in enumerate(found.topics_of.lists()) for topic in topics]
    selections = chain.from_iterable(combinations(pairs, size) for size in range(1, len(pairs) + 1))
    return min(
        _usd(found, machines, terms)
        for chosen in selections
        if _satisfies(found, threshold, chosen)
        for machines in _divisions(chosen)
        if all(_events(found, each) <= terms.capacity for each in machines)
    )


Pairs = tuple[tuple[int, int], ...]


def _satisfies(found: Instance, threshold: int, chosen: Pairs) -> bool:
    got = [0] * len(found.topics_of)
    for topic, subscriber in chosen:
        got[subscriber] += int(found.events[topic])
    return all(each >= needed for each, needed in zip(got, found.thresholds(threshold).tolist(), strict=True))


def _divisions(pairs: Pairs) -> Iterator[list[Pairs]]:
    if not pairs:
        yield []
        return
    first, *rest = pairs
    for machines in _divisions(tuple(rest)):
        yield [(first,), *machines]
        for at, machine in enumerate(machines):
            yield [*machines[:at], (first, *machine), *machines[at + 1 :]]


def _events(found: Instance, machine: Pairs) -> int:
    return int(sum(found.events[topic] for topic, _ in machine) + sum(found.events[topic] for topic in {topic for topic, _ in machine}))


def _usd(found: Instance, machines: list[Pairs], terms: Terms) -> float:
    return terms.usd(len(machines), sum(_events(found, each) for each in machines))
